import type { Message } from '../../chat/chat.ts'
import { AppError } from '../../errors.ts'
import type { PromptLine } from '../line/prompt-line.ts'
import { endLine } from '../markdown/printer.ts'
import { offerSetUp } from '../setup/offer.ts'
import type { Cli } from '../terminal/cli.ts'
import { stripControls } from '../terminal/io.ts'
import { note } from '../terminal/output.ts'
import { parseDuration } from '../terminal/parsers.ts'
import { Interrupted } from '../terminal/prompts.ts'
import { firstOf } from '../terminal/stop-signal.ts'
import { type Answer, finishAnswer } from './answer.ts'
import { askWith, type ChatTools } from './asking.ts'
import type { ConversationRecord, KeptMessage } from './conversation/record.ts'
import type { Outcome } from './conversation/talk.ts'
import type { ChatQuestion } from './question.ts'

export interface Turn {
  readonly cli: Cli
  readonly prompt: PromptLine
  readonly tools: ChatTools | undefined
}

/** Asks one question; prints an AppError, and throws other errors and the end of the command. */
export async function askTurn({ cli, prompt, tools }: Turn, question: ChatQuestion, answer: Answer): Promise<Outcome> {
  const { timeout } = cli.globals()
  const ask = (each: ChatQuestion) =>
    prompt.during(async (stop) => {
      // --timeout applies to each answer, not to the conversation.
      const { signal, release } = firstOf(
        [cli.io.signal, stop],
        timeout === undefined ? undefined : parseDuration(timeout),
      )
      try {
        await askWith(cli, each, answer, signal, tools)
        return 'answered' as const
      } catch (reason) {
        if (cli.io.signal.aborted) throw reason
        if (stop.aborted || reason instanceof Interrupted) return 'stopped' as const
        if (signal.aborted) throw new AppError('timeout', `No answer within ${timeout}`, { cause: reason })
        throw reason
      } finally {
        release()
      }
    })
  try {
    const outcome = await ask(question).catch(async (reason: unknown) => {
      const change = await prompt.lend(() => offerSetUp(cli, reason, question))
      if (!change) throw reason
      return ask({ ...question, ...change })
    })
    if (outcome === 'answered') finishAnswer(cli, answer)
    return outcome
  } catch (reason) {
    if (!(reason instanceof AppError) || cli.io.signal.aborted) throw reason
    await endLine(cli, answer)
    // A failed question is not part of the conversation.
    tellFailure(cli, isGone(reason, question) ? gone() : reason)
    return 'failed'
  }
}

/** Whether the session of a question was removed by another command. */
function isGone({ code, message }: AppError, { session }: ChatQuestion): boolean {
  return code === 'not_found' && session !== undefined && message.includes(session)
}

function gone(): AppError {
  return new AppError('not_found', 'This conversation was removed meanwhile', { details: ['/clear begins a new one'] })
}

/** Prints a failure and its next steps on stderr; the command goes on. */
export function tellFailure(cli: Cli, { message, details }: AppError): void {
  cli.io.err(stripControls(`aichat: ${[message, ...details].join('\n  ')}`))
}

interface Unfinished {
  readonly question: Message
  readonly answer: Answer
  readonly outcome: Outcome
  /** The exchange that it was to replace. */
  readonly taken: readonly KeptMessage[] | undefined
}

/**
 * Keeps a stopped question with the beginning of its answer; where that has no word, the exchange that it was to replace, else
 * the question alone. Of a failed question only that exchange. False where nothing is kept.
 */
export async function keepUnfinished(
  cli: Cli,
  record: ConversationRecord,
  { question, answer, outcome, taken }: Unfinished,
): Promise<boolean> {
  const text = outcome === 'stopped' ? answer.text.trimEnd() : ''
  const beginning: KeptMessage = { role: 'assistant', content: text, cut: true }
  const kept = text === '' ? (taken ?? (outcome === 'stopped' ? [question] : [])) : [question, beginning]
  if (kept.length === 0) return false
  const stopped = `stopped${text === '' ? ' before the answer began' : ''}`
  await endLine(cli, answer)
  try {
    await record.add(kept)
  } catch (reason) {
    if (!(reason instanceof AppError)) throw reason
    cli.io.err(stripControls(`aichat: ${stopped}; what was said could not be kept: ${reason.message}`))
    return false
  }
  const rest =
    kept.length === 1 ? 'the question stays without an answer, and /retry asks it again' : 'the answer before stays'
  if (text !== '') cli.io.err('aichat: stopped; the text so far stays part of the conversation')
  else if (outcome === 'stopped') cli.io.err(`aichat: ${stopped}; ${rest}`)
  else note(cli, `aichat: ${rest}`)
  return true
}
