import type { z } from 'zod'
import {
  type Message as ChatMessage,
  type ContentPart,
  imageUrlOf,
  type JsonObject,
  mediaBytes,
  objectOf,
  textOf,
} from '../../../chat/chat.ts'
import { counted, dataUrl } from '../../../formats/formats.ts'
import { type compactSession, showSession } from '../../../operations/operations.ts'
import { printAnswer } from '../../markdown/printer.ts'
import type { Cli } from '../../terminal/cli.ts'
import { coloured, rendersMarkdown } from '../../terminal/colour.ts'
import { stripControls } from '../../terminal/io.ts'
import { note } from '../../terminal/output.ts'
import { fullTime, momentText } from '../../terminal/times.ts'

/** What a compaction did, in a sentence. */
export function compactionText(done: z.output<typeof compactSession.output>): string {
  const { replaces, length, cost_usd: cost, warnings = [] } = done
  if (!length) return 'aichat: the original messages are sent again'
  const price = cost === undefined ? '' : `; it cost $${cost}`
  return `aichat: the summary stands for the first ${counted(replaces, 'message')}, ${length.after} characters for ${length.before}${price}; they stay saved${warnings.map((warning) => `\naichat: ${warning}`).join('')}`
}

type Session = z.output<typeof showSession.output>
type Message = Session['messages'][number]

/** A conversation in Markdown: each message under its role and time, and under an answer its source. */
export function transcript(messages: readonly Message[]): string {
  return messages
    .map((message) => {
      const about = aboutLine(message)
      const parts = [`**${message.role}** (${fullTime(message.timestamp)})`, ...callsIn(message), textIn(message)]
      return [...parts, ...(about === '' ? [] : [`*${about}*`])].join('\n\n')
    })
    .join('\n\n')
}

/** Prints a conversation: at a terminal as it was held there, elsewhere in Markdown. */
export async function printSession(cli: Cli, { messages }: Session): Promise<void> {
  if (!rendersMarkdown(cli)) return printAnswer(cli, transcript(messages))
  for (const message of messages) {
    if (message.role === 'user') await printQuestion(cli, message)
    else await printAnswer(cli, [...callsIn(message), textIn(message)].join('\n\n'))
    const about = aboutLine(message)
    await cli.io.out(about === '' ? '\n' : `${coloured(cli, 'stdout', 'dim', stripControls(about))}\n\n`)
    if (cli.io.outClosed) return
  }
}

/** The messages at the end among which the last question is looked for: tools may have answered since. */
const mostLooked = 20

/** Prints the last question of a conversation and its answer, for who goes on with it at a terminal. */
export async function printLastExchange(cli: Cli, id: string): Promise<void> {
  if (!rendersMarkdown(cli) || cli.globals().quiet) return
  const session = await cli.ask(showSession, { id, last: mostLooked })
  const messages = session.messages.slice(session.messages.findLastIndex(({ role }) => role === 'user'))
  if (messages[0]?.role !== 'user') return
  const earlier = session.message_count - messages.length
  if (earlier > 0) note(cli, `aichat: ${counted(earlier, 'earlier message')}: aichat session show "${session.name}"`)
  await printSession(cli, { ...session, messages })
}

async function printQuestion(cli: Cli, message: Message): Promise<void> {
  const time = coloured(cli, 'stdout', 'dim', `(${momentText(cli, message.timestamp)})`)
  const text = stripControls(folded(textIn(message))).trimEnd()
  await cli.io.out(`${coloured(cli, 'stdout', 'bold', `> ${text}`)} ${time}\n`)
}

/** A question with the text of its files left out, which `session export` has. */
export function folded(text: string): string {
  return text.replace(/^(<file (?:path|url)="[^"\n]*">)\n(?:(?!<file )[\s\S])*?\n<\/file>$/gm, '$1 … </file>')
}

/** The calls of tools in an answer as blocks of code, in which nothing is markup. */
function callsIn({ answer: { calls = [] } = {} }: Message): readonly string[] {
  return calls.map(({ server, tool, state, arguments: given, result = '' }) =>
    `${tool} of ${server} (${state})\n${given}\n${result}`.trimEnd().replace(/^/gm, '    '),
  )
}

function textIn(message: Message): string {
  const { content = null, images = [] } = message as unknown as Pick<ChatMessage, 'content'> & {
    readonly images?: readonly ContentPart[]
  }
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : [...(content ?? [])]
  return [...parts, ...images].map(partText).join('\n')
}

/** A part in Markdown: a picture or file with its bytes in the address, so that the document is whole. */
function partText(part: ContentPart): string {
  if (part.type === 'text') return textOf([part])
  const url = imageUrlOf(part)
  if (url !== undefined) return `![picture](${url})`
  const { mediaType, data } = mediaBytes(part) ?? {}
  const { filename } = objectOf((part as JsonObject)['file'])
  const name = typeof filename === 'string' ? filename.replace(/[[\]\\]/g, '') : 'file'
  return data === undefined ? `[${part.type}]` : `[${name}](${dataUrl(mediaType!, data)})`
}

/** The finish reason of an answer that is shown, unlike the others. */
const usual = 'stop'

/**
 * The source and cost of an answer, and the request's fields beside its messages: `gpt-4.1 · openai · 120 + 45 tokens ·
 * $0.0012 · 2.3 s`.
 */
function aboutLine({ answer, cut }: Message): string {
  const { model, plugin, runner, input_tokens, output_tokens, cost_usd, duration_ms, finish_reason, sent } =
    answer ?? {}
  const { options = {}, tools, files, prompt } = sent ?? {}
  return [
    model,
    plugin ?? (runner === undefined ? undefined : `local ${runner}`),
    input_tokens === undefined ? undefined : `${input_tokens} + ${output_tokens ?? 0} tokens`,
    cost_usd === undefined || Number(cost_usd) === 0 ? undefined : `$${cost_usd}`,
    duration_ms === undefined ? undefined : `${(duration_ms / 1000).toFixed(1)} s`,
    finish_reason === usual ? undefined : finish_reason,
    cut ? 'cut' : undefined,
    ...Object.entries(options).map(
      ([name, value]) => `${name}=${shortened(typeof value === 'string' ? value : JSON.stringify(value))}`,
    ),
    tools && `tools: ${tools.join(', ')}`,
    files && `files: ${files.map(({ name }) => name).join(', ')}`,
    prompt === undefined ? undefined : `prompt: ${shortened(prompt)}`,
  ]
    .filter((part) => part !== undefined)
    .join(' · ')
    .replace(/\s+/g, ' ')
}

/** Characters of a prompt or parameter in a line: a schema would fill the window. */
const longestPart = 60

function shortened(text: string): string {
  return text.length <= longestPart ? text : `${text.slice(0, longestPart)}…`
}
