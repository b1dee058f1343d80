import { InvalidArgumentError } from 'commander'
import type { Message } from '../../chat/chat.ts'
import { AppError } from '../../errors.ts'
import { previewChat, showSession, titleSession } from '../../operations/operations.ts'
import type { Settings } from '../../settings/settings.ts'
import { withoutFence } from '../line/multi-line.ts'
import { openPromptLine } from '../line/prompt-line.ts'
import { printAnswer } from '../markdown/printer.ts'
import type { Cli } from '../terminal/cli.ts'
import { editText } from '../terminal/editor.ts'
import { note } from '../terminal/output.ts'
import { parseParameter } from '../terminal/parameters.ts'
import { given } from '../terminal/parsers.ts'
import { Interrupted } from '../terminal/prompts.ts'
import { firstOf } from '../terminal/stop-signal.ts'
import { type Answer, emptyAnswer, recallText } from './answer.ts'
import { type ChatTools, withTools } from './asking.ts'
import { commandOf } from './conversation/commands/all.ts'
import { completer } from './conversation/commands/complete.ts'
import { type KeptMessage, savedRecord } from './conversation/record.ts'
import type { Outcome, Talk, TalkOptions } from './conversation/talk.ts'
import { addTo, noTotals, sayGoodbye } from './conversation/totals.ts'
import { typedHistory } from './conversation/typed-history.ts'
import { nothingAttached } from './files/attachment.ts'
import { isToBeSummarised } from './fullness.ts'
import { type ChatOptions, personaOf, questionOf, systemMessage, userMessage } from './question.ts'
import { printLastExchange } from './saved/transcript.ts'
import { type TerminalSession, terminalSession } from './saved-session.ts'
import { askTurn, keepUnfinished, tellFailure } from './turn.ts'

/**
 * A saved conversation on a terminal: prompts on stderr, answers on stdout. A text that begins with a slash is a
 * command. Ctrl-C stops an answer and keeps its beginning. Ctrl-D ends the conversation.
 */
export function converse(cli: Cli, options: ChatOptions): Promise<void> {
  return withTools(cli, options, (tools) => talk(cli, options, tools))
}

async function talk(outer: Cli, started: ChatOptions, tools: ChatTools | undefined): Promise<void> {
  const settings = await outer.settings()
  const { role: _role, persona: _persona, ...fixed } = started
  let saved: TerminalSession
  /** The signal of the step under way; --timeout applies to opening the session, and to each answer. */
  let signal = outer.signal()
  const cli = conversing(outer, settings, () => signal)
  const persona = personaOf(started, settings)
  saved = await terminalSession(cli, { ...fixed, ...given({ persona }) })
  signal = cli.io.signal
  note(cli, 'Ask something, or /help; Ctrl-C stops an answer, Ctrl-D ends the conversation.')
  await greet()
  const prompt = openPromptLine(cli.io, {
    history: await typedHistory(cli, persona, fixed.log),
    complete: completer(cli),
    edit: (text) => editText(cli, text, undefined, { file: 'question.md' }),
  })
  tools?.lend(prompt.lend)
  const current: Talk = {
    cli,
    get signal() {
      return signal
    },
    options: { ...fixed, persona },
    attached: nothingAttached,
    asked: undefined,
    record: savedRecord(cli, saved.session),
    get isKept() {
      return saved.isKept
    },
    keep: () => saved.keep(),
    totals: noTotals(),
    ended: false,
    ask,
    withParameter: (text) => withParameter(text, current.options),
    preview: (options) => cli.ask(previewChat, requestOf([userMessage('Hello')], options)),
    begin,
    async tools() {
      const offered = (await tools?.offer())?.tools ?? []
      return offered.map(({ function: { name, description = '' } }) => ({ name, description }))
    },
    clearWindow: prompt.clear,
    lend: prompt.lend,
  }
  /** The title that a model is asked for meanwhile, of the session of this id. */
  let titling = { session: '', done: Promise.resolve() }
  try {
    while (!current.ended) {
      const text = await prompt.next()
      if (text === undefined) break
      await take(withoutFence(text))
    }
  } finally {
    prompt.close()
    cli.io.err('')
    const kept = current.isKept ? current.record.session : undefined
    await titling.done
    await sayGoodbye(cli, current.totals, kept)
    await saved.end()
  }

  async function greet(): Promise<void> {
    if (saved.greeting !== undefined) await printAnswer(cli, saved.greeting)
    if (!saved.isNew) await printLastExchange(cli, saved.session)
  }

  /** Asks a text, or runs the command that it is. */
  async function take(text: string): Promise<void> {
    if (text.trim() === '') return
    if (/^\/(?!\/)/.test(text)) return runCommand(text)
    // As in a shell; a space before the word asks it.
    if (/^(?:exit|quit)\s*$/.test(text)) return runCommand('/exit')
    await ask(userMessage(text.replace(/^(?: +(?=\/)|\/(?=\/))/, ''), current.attached))
  }

  async function runCommand(text: string): Promise<void> {
    const [, name = '', rest = ''] = /^\/(\S*)\s*([\s\S]*)$/.exec(text)!
    await prompt.during(async (stop) => {
      const either = firstOf([cli.io.signal, stop])
      signal = either.signal
      try {
        await commandOf(name).run(current, rest)
      } catch (reason) {
        if (cli.io.signal.aborted) throw reason
        if (stop.aborted || reason instanceof Interrupted) cli.io.err('aichat: stopped')
        else if (reason instanceof AppError) tellFailure(cli, reason)
        else throw reason
      } finally {
        either.release()
        signal = cli.io.signal
      }
    })
  }

  async function ask(question: Message, taken?: readonly KeptMessage[]): Promise<void> {
    const answer = {
      ...emptyAnswer(),
      showsThinking: current.options.thinking === true,
      isSpoken: current.options.speak === true,
    }
    const settle = async (outcome: Outcome) => {
      const unfinished = { question, answer, outcome, taken }
      const isKept = outcome === 'answered' || (await keepUnfinished(cli, current.record, unfinished))
      current.asked = { question, isKept }
      if (isKept) saved.answered()
      return isKept
    }
    const messages = [...systemMessage(chatOptions(current.options)), question]
    const outcome = await askTurn({ cli, prompt, tools }, requestOf(messages, current.options), answer).catch(
      async (reason: unknown) => {
        // A signal that ends the command keeps the answer so far, as Ctrl-C does.
        await settle('stopped')
        throw reason
      },
    )
    if (answer.by !== undefined) addTo(current.totals, answer)
    if (outcome === 'answered') await tellRecall(answer)
    if (!(await settle(outcome))) return
    current.attached = nothingAttached
    if (outcome === 'answered') askForTitle()
    if (outcome === 'answered' && (await isToBeSummarised(cli, answer, '/compact'))) await runCommand('/compact')
  }

  /** Asks for the title of a new conversation behind its first answer; a failure leaves the first words, without a word. */
  function askForTitle(): void {
    const { session } = current.record
    if (!settings.asksForTitles || !saved.isNew || !saved.isKept || titling.session === session) return
    const { model } = current.options
    const asked = cli.ask(titleSession, { id: session, ...given({ model }) }, AbortSignal.timeout(titleMs))
    const done = asked.then(
      () => {},
      () => {},
    )
    titling = { session, done }
  }

  /** Says how many memories went into an answer and came of its question, and asks before any is forgotten. */
  async function tellRecall({ recall }: Answer): Promise<void> {
    current.recall = recall
    if (!recall) return
    const text = recallText(recall)
    if (text !== '' && !cli.globals().verbose) note(cli, `aichat: ${text}`)
    if (recall.forget.length === 0) return
    const { offerForgetting } = await import('./forgetting.ts')
    await prompt.lend(() => offerForgetting(cli, recall))
  }

  /** The request for messages, in the saved session. */
  function requestOf(messages: readonly Message[], options: TalkOptions) {
    const session = current.record.session
    return questionOf(messages, { ...chatOptions(options), ...given({ session }) }, { ...settings, persona: undefined })
  }

  function chatOptions(options: TalkOptions): ChatOptions {
    const { session: _session, continue: _continue, ...others } = fixed
    const { model, persona: named, prompt: system, option, memory, fallback, stream } = options
    const { model: _model, prompt: _prompt, option: _option, ...rest } = others
    return { ...rest, ...given({ model, persona: named, prompt: system, option }), memory, fallback, stream }
  }

  async function begin(options: TalkOptions, session?: string): Promise<void> {
    const found = session === undefined ? undefined : await cli.ask(showSession, { id: session, brief: true })
    if (found && found.id === current.record.session) throw new AppError('usage', `"${found.name}" goes on already`)
    const next = await terminalSession(cli, { ...chatOptions(options), ...given({ session: found?.id }) })
    await saved.end()
    saved = next
    if (options.persona !== current.options.persona) prompt.use(await typedHistory(cli, options.persona, fixed.log))
    Object.assign(current, { options, asked: undefined, record: savedRecord(cli, saved.session) })
    const who = options.persona === undefined ? '' : ` with ${options.persona}`
    note(cli, found ? `aichat: going on with "${found.name}"` : `aichat: a new conversation${who}`)
    await greet()
  }
}

/** The longest wait for a title, also at the end of the conversation: milliseconds. */
const titleMs = 8_000

/** The command line as the parts of a conversation see it: its default persona was chosen, and its signal is `signal`. */
function conversing(cli: Cli, settings: Settings, signal: () => AbortSignal): Cli {
  return {
    ...cli,
    settings: async () => ({ ...settings, persona: undefined }),
    signal,
    ask: (operation, input, own = signal(), watch) => cli.ask(operation, input, own, watch),
    askStream: (operation, input, own = signal(), watch) => cli.askStream(operation, input, own, watch),
  }
}

function withParameter(text: string, { option }: TalkOptions) {
  try {
    return parseParameter(text, option)
  } catch (reason) {
    if (reason instanceof InvalidArgumentError) throw new AppError('usage', `${text}: ${reason.message}`)
    throw reason
  }
}
