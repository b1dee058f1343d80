import { type ChatChunk, type Message, textOf, type Usage } from '../../chat/chat.ts'
import { counted } from '../../formats/formats.ts'
import { chat, type OutputOf } from '../../operations/operations.ts'
import { usdOf } from '../../usage/usage.ts'
import { type AnswerPrinter, endLine, openAnswerPrinter, printAnswer, silentPrinter } from '../markdown/printer.ts'
import type { Cli } from '../terminal/cli.ts'
import { coloured } from '../terminal/colour.ts'
import { stripControls } from '../terminal/io.ts'
import { note, print } from '../terminal/output.ts'
import type { Recall } from './conversation/recall.ts'
import type { Tokens } from './conversation/totals.ts'
import type { ChatQuestion } from './question.ts'
import type { Waiting } from './waiting.ts'

export interface Answer {
  /** The text of the answer, or of the refusal. */
  text: string
  refused: boolean
  readonly calls: unknown[]
  /** The whole message, where tools may be called; undefined before its end. */
  message?: Message | undefined
  /** The finish reason in OpenAI's dialect; undefined where the provider gave none. */
  finish: string | undefined
  /** Nano-USD; undefined where no cost is known. */
  cost: number | undefined
  /** Whether the text is kept back until it is checked. */
  held?: boolean
  /** Whether it is printed as events, one a line. */
  asEvents?: boolean
  /** Whether what the model thinks is shown before its answer. */
  showsThinking?: boolean
  /** Whether it is spoken while it comes, and who speaks it then. */
  isSpoken?: boolean
  speech?: { push(text: string): void } | undefined
  /** Why the exchange is not in its session; undefined where it is. */
  unsaved?: string | undefined
  /** Tokens of the requests and of the answer; undefined where the provider reported none. */
  tokens: Tokens | undefined
  /** Tokens of the last of these requests and its answer: what the conversation takes of the window. */
  size?: number
  /** The plugin or local runner that answered, and its model; undefined before the answer begins. */
  by: string | undefined
  /** Whether stdout stands within a line. */
  lineOpen: boolean
  /** What the persona's memory had to do with it; undefined without a persona. */
  recall?: Recall
}

export function emptyAnswer(): Answer {
  return {
    text: '',
    refused: false,
    calls: [],
    finish: undefined,
    cost: undefined,
    tokens: undefined,
    by: undefined,
    lineOpen: false,
  }
}

/** The `aichat` field of a chat: the target that answered and the attempts before. */
type Report = OutputOf<typeof chat>['aichat']

function recallOf({ persona, memories = [], kept = 0, forget = [] }: Report): Pick<Answer, 'recall'> {
  return persona === undefined ? {} : { recall: { persona, memories, kept, forget } }
}

/** "2 memories used, 1 kept"; '' where none was. */
export function recallText({ memories, kept }: Pick<Recall, 'memories' | 'kept'>): string {
  const parts = [
    ...(memories.length > 0 ? [`${counted(memories.length, 'memory', 'memories')} used`] : []),
    ...(kept > 0 ? [`${memories.length > 0 ? kept : counted(kept, 'memory', 'memories')} kept`] : []),
  ]
  return parts.join(', ')
}

/** How a question is asked: until when, and what tells of it meanwhile. */
export interface Asking {
  readonly signal: AbortSignal
  readonly waiting: Waiting
}

interface WholeChoice {
  readonly message?: Message
  readonly finish_reason?: string | null
}

/**
 * Asks once; prints the answer on stdout and remarks on stderr. `answer` is filled as text arrives, so it also holds the
 * beginning of an answer that fails. With `makesCalls` the caller makes the calls of tools, and none is printed.
 */
export async function answerQuestion(
  cli: Cli,
  question: ChatQuestion,
  answer: Answer,
  asking: Asking,
  makesCalls = false,
): Promise<void> {
  answer.message = undefined
  if (answer.asEvents || (question.stream && !cli.globals().json))
    await streamAnswer(cli, question, answer, asking, makesCalls)
  else await wholeAnswer(cli, question, answer, asking, makesCalls)
}

async function wholeAnswer(
  cli: Cli,
  question: ChatQuestion,
  answer: Answer,
  { signal, waiting }: Asking,
  makesCalls: boolean,
): Promise<void> {
  const reply = await cli.ask(chat, { ...question, stream: false }, signal, waiting.watch)
  waiting.rest()
  tellThought(cli, answer, (reply.choices[0] as WholeChoice | undefined)?.message?.reasoning_content)
  const { message, finish_reason: finish } = (reply.choices[0] ?? {}) as WholeChoice
  const [content, refusal] = [textOf(message?.content), message?.refusal ?? '']
  answer.text = [content, refusal].filter(Boolean).join('\n')
  answer.speech?.push(answer.text)
  answer.refused = refusal !== ''
  answer.calls.push(...(message?.tool_calls ?? []))
  answer.finish = finish ?? undefined
  answer.message = message
  const { text, calls } = answer
  const isRound = calls.length > 0 && makesCalls
  if (text !== '' && !cli.globals().json) {
    if (!answer.held) await printAnswer(cli, text)
  } else if (!isRound) await print(cli, reply, () => (calls.length > 0 ? JSON.stringify(calls, null, 2) : ''))
  const report = reply.aichat
  answer.cost = report.cost?.cost_nano ?? undefined
  answer.unsaved = report.unsaved
  answer.by = addressOf(report)
  Object.assign(answer, recallOf(report))
  countTokens(answer, reply['usage'] as Usage | undefined)
  remark(cli, report, answer)
}

/** Adds the tokens of a request, of which an answer with tools has several. */
function countTokens(answer: Answer, usage: Usage | null | undefined): void {
  if (!usage) return
  const { asked = 0, answered = 0, thought = 0 } = answer.tokens ?? {}
  answer.size = usage.prompt_tokens + usage.completion_tokens
  answer.tokens = {
    asked: asked + usage.prompt_tokens,
    answered: answered + usage.completion_tokens,
    thought: thought + (usage.completion_tokens_details?.reasoning_tokens ?? 0),
  }
}

function addressOf({ plugin, runner, model }: Report): string {
  return plugin === null ? `${runner}: ${model}` : `${plugin}:${model}`
}

async function streamAnswer(
  cli: Cli,
  question: ChatQuestion,
  answer: Answer,
  asking: Asking,
  makesCalls: boolean,
): Promise<void> {
  const printer = answer.asEvents
    ? (await import('./json-events.ts')).eventPrinter(cli)
    : answer.held
      ? silentPrinter
      : await openAnswerPrinter(cli, answer)
  try {
    await streamTo(printer, cli, { question, answer, ...asking, makesCalls })
  } finally {
    await printer.end()
  }
}

interface Asked extends Asking {
  readonly question: ChatQuestion
  readonly answer: Answer
  readonly makesCalls: boolean
}

async function streamTo(
  printer: AnswerPrinter,
  cli: Cli,
  { question, answer, signal, waiting, makesCalls }: Asked,
): Promise<void> {
  let report: Report | undefined
  const chunks: ChatChunk[] = []
  let thought = ''
  for await (const piece of await cli.askStream(chat, { ...question, stream: true }, signal, waiting.watch)) {
    const chunk = piece as {
      choices?: {
        delta?: {
          content?: string | null
          refusal?: string | null
          reasoning_content?: string | null
          tool_calls?: unknown[]
        }
        finish_reason?: string | null
      }[]
      aichat?: Report
      usage?: Usage | null
    }
    if (makesCalls || printer.event) chunks.push(piece as ChatChunk)
    // The first report names the target; a later one only adds warnings.
    const warnings = (report && chunk.aichat?.warnings) ?? []
    if (warnings.length > 0)
      await printer.aside(() => {
        for (const warning of warnings) note(cli, `aichat: ${warning}`)
      })
    if (printer.event)
      for (const message of chunk.aichat?.warnings ?? []) await printer.event({ type: 'warning', message })
    if (!report && chunk.aichat) waiting.step('thinking', addressOf(chunk.aichat))
    report ??= chunk.aichat
    if (report) {
      answer.by = addressOf(report)
      Object.assign(answer, recallOf(report))
    }
    countTokens(answer, chunk.usage)
    answer.cost = chunk.aichat?.cost?.cost_nano ?? answer.cost
    answer.unsaved = chunk.aichat?.unsaved ?? answer.unsaved
    const { delta, finish_reason: finish } = chunk.choices?.[0] ?? {}
    answer.calls.push(...(delta?.tool_calls ?? []))
    answer.finish = finish ?? answer.finish
    const text = (delta?.content ?? '') + (delta?.refusal ?? '')
    answer.refused ||= Boolean(delta?.refusal)
    thought += delta?.reasoning_content ?? ''
    if (delta?.reasoning_content) waiting.thinks(delta.reasoning_content)
    if (delta?.reasoning_content && printer.event)
      await printer.event({ type: 'thinking', text: delta.reasoning_content })
    if (text === '') continue
    if (!answer.held) waiting.rest()
    if (!waiting.watch && !printer.event) tellThought(cli, answer, thought)
    thought = ''
    answer.text += text
    answer.speech?.push(text)
    await printer.write(text)
    if (cli.io.outClosed) return
  }
  if (makesCalls || printer.event) answer.message = await messageOf(chunks)
  if (printer.event)
    for (const { function: called } of answer.message?.tool_calls ?? [])
      await printer.event({ type: 'tool', ...called })
  await printer.end()
  if (answer.text === '' && answer.calls.length > 0 && !makesCalls && !printer.event)
    await cli.io.out(`${onTerminal(cli, JSON.stringify(answer.calls))}\n`)
  await endLine(cli, answer)
  if (report) remark(cli, report, answer)
}

/** Prints on stderr what the model thought, where that is wished and no line has shown it as it came. */
function tellThought(cli: Cli, { showsThinking }: Answer, text: string | undefined): void {
  if (!showsThinking || !text || cli.globals().json || cli.globals().quiet) return
  cli.io.err(coloured(cli, 'stderr', 'dim', stripControls(text.trimEnd())))
}

async function messageOf(chunks: readonly ChatChunk[]): Promise<Message | undefined> {
  const { collectReply } = await import('../../chat/protocol/chunks.ts')
  return collectReply(chunks.filter(({ choices }) => choices)).choices[0]?.message
}

/** What the memory had to do with an answer, behind other remarks. */
function recallRemark(report: Report): string {
  const { recall } = recallOf(report)
  const text = recall ? recallText(recall) : ''
  return text === '' ? '' : `; ${text}`
}

/** stderr names the model that answered after a fallback and the failures before it; with -v always. */
function remark(cli: Cli, report: Report, { tokens, cost }: Answer): void {
  for (const warning of report.warnings) note(cli, `aichat: ${warning}`)
  const target = report.plugin ?? `the local runner (${report.model})`
  if (!report.fallback) {
    if (cli.globals().verbose)
      note(
        cli,
        `aichat: answered by ${report.plugin ? `${target} (${report.model})` : target}${spentText(tokens, cost)}${report.local_only ? '; nothing left this machine' : ''}${recallRemark(report)}`,
      )
    return
  }
  for (const { plugin, runner, outcome, error } of report.attempts) {
    if (outcome === 'failed') note(cli, `aichat: ${plugin ?? runner} failed: ${String(error)}`)
  }
  note(cli, `aichat: answered by ${target} instead`)
}

/** The tokens of an answer as far as they are known, and its cost if it cost anything: `, 12 tokens in and 3 out, $0.002`. */
function spentText(tokens: Answer['tokens'], cost: number | undefined): string {
  return `${tokens ? `, ${tokens.asked} tokens in and ${tokens.answered} out` : ''}${cost ? `, $${usdOf(cost)}` : ''}`
}

/** Finish reasons of a complete answer. */
const complete = new Set(['stop', 'tool_calls', 'function_call'])

/**
 * Reports an incomplete answer on stderr. False without an answer (refused, filtered or empty), which is reported with
 * --quiet too.
 */
export function finishAnswer(cli: Cli, { text, refused, calls, finish }: Answer): boolean {
  const why = finish === undefined ? 'no finish reason was given' : `finish reason: ${stripControls(finish)}`
  if (refused) {
    cli.io.err(`aichat: the model refused to answer (${why})`)
    return false
  }
  if (text.trim() === '' && calls.length === 0) {
    cli.io.err(`aichat: ${withoutText(finish)} (${why})`)
    return false
  }
  if (finish === 'length') note(cli, `aichat: the answer was cut at its token limit (${why}); --max-tokens sets it`)
  else if (finish === 'content_filter') note(cli, `aichat: a filter of the provider cut the answer (${why})`)
  else if (finish !== undefined && !complete.has(finish)) note(cli, `aichat: the answer ended early (${why})`)
  return true
}

function withoutText(finish: string | undefined): string {
  if (finish === 'length') return 'no answer: the token limit was reached before the first word'
  if (finish === 'content_filter') return 'no answer: the provider filtered it'
  return 'the answer is empty'
}

/** Strips control characters on a terminal. */
function onTerminal(cli: Cli, text: string): string {
  return cli.io.stdoutIsTerminal ? stripControls(text) : text
}
