import type { Toolbox } from '../../chat/chat.ts'
import { AppError, exitOf, type FailureCode } from '../../errors.ts'
import { previewChat } from '../../operations/operations.ts'
import { resolveAlias, type Settings } from '../../settings/settings.ts'
import { printAnswer } from '../markdown/printer.ts'
import type { Cli } from '../terminal/cli.ts'
import { isLocalOnly, requireLocalServer } from '../terminal/local-only.ts'
import { note, printJson } from '../terminal/output.ts'
import { given } from '../terminal/parsers.ts'
import { canAsk } from '../terminal/prompts.ts'
import { type Answer, emptyAnswer, finishAnswer } from './answer.ts'
import { askWith, withTools } from './asking.ts'
import type { Attached } from './files/attachment.ts'
import {
  type ChatOptions,
  type ChatQuestion,
  questionOf,
  readQuestion,
  systemMessage,
  userMessage,
} from './question.ts'
import { chatSession } from './saved-session.ts'
import type { AnswerCheck } from './schema/answer-check.ts'
import { answerCheckOf, finishChecked, inWords, templateOf, withFormat } from './shape.ts'

/** Asks one question; without text and files, opens a conversation on a terminal. */
export async function runChat(cli: Cli, words: readonly string[], asked: ChatOptions): Promise<void> {
  requireLog(asked)
  if (await isLocalOnly(cli)) await requireLocalServer(cli)
  const { options: found, compose } = await templateOf(cli, asked)
  // A template may name its model by an alias, as -m does.
  const { model } = found
  const options = model === undefined ? found : { ...found, model: resolveAlias(model, (await cli.settings()).paths) }
  const check = await answerCheckOf(cli, options)
  if (options.jsonStream && (check || cli.globals().json))
    throw new AppError('usage', 'Use --json-stream alone, without --json and --schema')
  try {
    const { text: typed, attached } = await readQuestion(cli, words.join(' '), options.file ?? [])
    const { text, prompt } = compose(typed, (asked.file ?? []).length > 0)
    const chosen = withFormat({ ...options, ...given({ prompt }) }, check, text)
    const title = titleOf(words.join(' '), text, attached)
    if (text.trim() !== '' || attached.files.length > 0)
      return await askOnce(cli, { text, attached, title }, chosen, check)
    const asksOnce = options.dryRun || options.count || options.jsonStream || options.maxCost !== undefined
    if (words.join('') !== '' || check || asksOnce || !(await canAsk(cli)))
      throw new AppError('usage', 'Nothing to ask: give a text, pipe one in, or name a file with -f')
    const [{ setUpConversation }, { converse }] = await Promise.all([
      import('../setup/offer.ts'),
      import('./conversation.ts'),
    ])
    const picked = await withPicked(cli, chosen)
    await converse(cli, { ...picked, ...(await setUpConversation(cli, picked)) })
  } finally {
    check?.close()
  }
}

/** The options with the conversation that the user picks, where -c names none. */
async function withPicked(cli: Cli, options: ChatOptions): Promise<ChatOptions> {
  const { canPick } = await import('../terminal/picker.ts')
  if (!options.continue || options.session !== undefined || !(await canPick(cli))) return options
  const { pickSession } = await import('./saved/pick-session.ts')
  const { continue: _continue, ...others } = options
  return { ...others, session: await pickSession(cli) }
}

async function askOnce(
  cli: Cli,
  { text, attached, title }: { readonly text: string; readonly attached: Attached; readonly title: string },
  options: ChatOptions,
  check: AnswerCheck | undefined,
): Promise<void> {
  const messages = [...systemMessage(options), userMessage(text, attached)]
  const { session: _name, ...rest } = options
  const resolved = { ...rest, ...(await chatSession(cli, options)) }
  const settings = await cli.settings()
  const kept = keepOf(settings, resolved, title, attached)
  const question = { ...questionOf(messages, resolved, settings), ...kept }
  if (options.file) await tell(cli, attached, options)
  await withTools(cli, options, async (toolbox) => {
    if (options.dryRun) return preview(cli, question, toolbox, attached)
    await askOrCount(cli, question, toolbox, { check, options })
  })
}

async function tell(cli: Cli, attached: Attached, { dryRun = false }: ChatOptions): Promise<void> {
  const { tellFiles } = await import('./files/listing.ts')
  tellFiles(cli, attached, dryRun)
}

/** Prints the request that would be sent first, with a list of the files in it. */
async function preview(
  cli: Cli,
  question: ChatQuestion,
  toolbox: Toolbox | undefined,
  attached: Attached,
): Promise<void> {
  const { filesReport } = await import('./files/listing.ts')
  const report = attached.files.length > 0 ? filesReport(attached) : {}
  if (!toolbox) return printJson(cli, { ...(await cli.ask(previewChat, question)), ...report })
  const { offering } = await import('./tool-rounds.ts')
  const { tools, warnings } = await toolbox.offer()
  for (const warning of warnings) note(cli, `aichat: ${warning}`)
  await printJson(cli, { ...(await cli.ask(previewChat, offering(question, tools, []))), ...report })
}

/** The question for another try, after the user chose at a terminal who is to answer. */
async function offered(cli: Cli, reason: unknown, question: ChatQuestion): Promise<ChatQuestion | undefined> {
  if (!(await canAsk(cli))) return undefined
  const { offerSetUp } = await import('../setup/offer.ts')
  const change = await offerSetUp(cli, reason, question)
  return change && { ...question, ...change }
}

async function printEnd(cli: Cli, { tokens, finish, by, cost }: Answer): Promise<void> {
  const { printEvent } = await import('./json-events.ts')
  const { asked, answered, thought } = tokens ?? {}
  if (asked !== undefined && answered !== undefined)
    await printEvent(cli, {
      type: 'usage',
      input_tokens: asked,
      output_tokens: answered,
      thinking_tokens: thought ?? 0,
    })
  await printEvent(cli, { type: 'end', finish_reason: finish ?? null, by: by ?? null, cost_nano: cost ?? null })
}

interface Way {
  readonly check: AnswerCheck | undefined
  readonly options: ChatOptions
}

/** Asks within --max-cost, or with --count tells tokens and price; the exit code is 1 without an answer. */
async function askOrCount(cli: Cli, question: ChatQuestion, toolbox: Toolbox | undefined, way: Way): Promise<void> {
  const { count, maxCost } = way.options
  if (count || maxCost !== undefined) {
    const { printCount, requireAffordable } = await import('./estimate.ts')
    if (count) return printCount(cli, question)
    if (toolbox) throw new AppError('usage', '--max-cost bounds one request: a chat with tools makes several')
    await requireAffordable(cli, question, maxCost!)
  }
  // Another provider may cost more.
  const bounded = maxCost === undefined ? question : { ...question, fallback: false }
  if (!(await ask(cli, bounded, toolbox, way))) cli.exit = 1
}

/** Asks and prints; asks again after a set-up. False without an answer. */
async function ask(
  cli: Cli,
  question: ChatQuestion,
  toolbox: Toolbox | undefined,
  { check, options }: Way,
): Promise<boolean> {
  const { thinking: showsThinking = false, jsonStream: asEvents = false, speak: isSpoken = false } = options
  const answer: Answer = { ...emptyAnswer(), held: check !== undefined, showsThinking, asEvents, isSpoken }
  const asking = (each: ChatQuestion) => askWith(cli, each, answer, cli.signal(), toolbox)
  try {
    await asking(question)
  } catch (reason) {
    const other = check && inWords(question, check, reason)
    if (other) note(cli, 'aichat: the model takes no format of answers; it is asked again with the format in words')
    const next = other ?? (await offered(cli, reason, question))
    if (!next) throw reason
    await asking(next)
  }
  // The failure itself was printed as a remark.
  if (answer.unsaved && question.session !== undefined) cli.exit = exitOf(answer.unsaved as FailureCode)
  if (cli.io.outClosed) return true
  if (asEvents) await printEnd(cli, answer)
  const isThere = finishAnswer(cli, answer)
  if (answer.recall && answer.recall.forget.length > 0) {
    const { offerForgetting } = await import('./forgetting.ts')
    await offerForgetting(cli, answer.recall)
  }
  if (check && isThere) await finishChecked(check, answer)
  else if (check && answer.text !== '' && !cli.globals().json) await printAnswer(cli, answer.text)
  if (isThere && !answer.unsaved && question.session !== undefined) {
    const { watchFullness } = await import('./fullness.ts')
    await watchFullness(cli, question.session, answer)
  }
  return isThere
}

/** Characters of a question that its session may be named after. */
const longestTitle = 500

/** The title under which a question is kept: its own words, else its piped text, else its files. */
function titleOf(given: string, text: string, { files }: Attached): string {
  const words = given === '-' ? '' : given
  return (words || text || files.map(({ name }) => name).join(', ')).slice(0, longestTitle)
}

/** The field `keep` of a question: every chat is kept, unless the settings say otherwise and no session is named. */
function keepOf(
  settings: Pick<Settings, 'keepsChats'>,
  { log, session }: Pick<ChatOptions, 'log' | 'session'>,
  title: string,
  { files }: Attached,
): { keep?: { title: string; files: { name: string; bytes: number }[] } } {
  if (session === undefined && (!log || !settings.keepsChats)) return {}
  const named = files.slice(0, 1_000).map(({ name, bytes }) => ({ name: name.slice(-1_000), bytes }))
  return { keep: { title, files: named } }
}

/** Throws `usage` where a session is to be continued and nothing may be kept. */
function requireLog({ log, session, continue: goesOn }: ChatOptions): void {
  if (log || (session === undefined && !goesOn)) return
  throw new AppError('usage', '--no-log keeps nothing: leave out --session and --continue, or --no-log')
}
