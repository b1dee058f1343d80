import type { Message } from '../../chat/protocol/messages.ts'
import { AppError } from '../../errors.ts'
import { type Cli, note, parseDuration } from '../terminal/cli.ts'
import { stripControls } from '../terminal/io.ts'
import { firstOf } from '../terminal/stop-signal.ts'
import { type Answer, answerQuestion, finishAnswer, noAnswer } from './answer.ts'
import type { ChatOptions } from './options.ts'
import { openPromptLine, type PromptLine } from './prompt-line.ts'
import { questionOf, systemMessage, userMessage } from './question.ts'
import { terminalSession } from './saved-session.ts'

/** What the model is told, in the next request, of an answer that the user stopped. */
const cutOff = '[The user stopped the answer here.]'

/**
 * A conversation at the terminal, saved: the questions on stderr, the answers on stdout. Ctrl-C stops an answer; what came
 * of it goes with the next question and is saved with it. Ctrl-D ends the conversation.
 */
export async function converse(cli: Cli, options: ChatOptions): Promise<void> {
  const { session, answered, end } = await terminalSession(cli, options)
  note(cli, 'Ask something; Ctrl-C stops an answer, Ctrl-D ends the conversation.')
  const talk = openPromptLine(cli.io)
  let stopped: readonly Message[] = []
  try {
    for (let text = await talk.next(); text !== undefined; text = await talk.next()) {
      if (text.trim() === '') continue
      const question = userMessage(text)
      // What was said before is in the saved conversation, and the core puts it in front.
      const messages = [...systemMessage(options), ...stopped, question]
      const answer = noAnswer()
      const outcome = await turn(cli, talk, { ...options, session }, messages, answer)
      if (outcome === 'stopped') stopped = [...stopped, ...(await stoppedTurn(cli, question, answer))]
      if (outcome !== 'answered') continue
      stopped = []
      answered()
    }
  } finally {
    talk.close()
    cli.io.err('')
    if (stopped.length > 0) note(cli, 'aichat: the answer that was stopped last is not saved')
    // Also after a signal: an empty conversation is of no use to anybody.
    await end()
  }
}

type Outcome = 'answered' | 'stopped' | 'failed'

/** Asks one question; a failure is said, and the conversation goes on. */
async function turn(
  cli: Cli,
  talk: PromptLine,
  options: ChatOptions,
  messages: readonly Message[],
  answer: Answer,
): Promise<Outcome> {
  const question = questionOf(messages, options, await cli.settings())
  const { timeout } = cli.globals()
  const ask = () =>
    talk.during(async (stop) => {
      // A conversation may take long; --timeout is for each answer.
      const { signal, release } = firstOf(
        [cli.io.signal, stop],
        timeout === undefined ? undefined : parseDuration(timeout),
      )
      try {
        await answerQuestion(cli, question, answer, signal)
        return 'answered' as const
      } catch (reason) {
        if (cli.io.signal.aborted) throw reason
        if (stop.aborted) return 'stopped' as const
        if (signal.aborted) throw new AppError('timeout', `No answer within ${timeout}`, { cause: reason })
        throw reason
      } finally {
        release()
      }
    })
  try {
    const outcome = await ask().catch(async (reason: unknown) => {
      const { offerModel } = await import('../models/pull.ts')
      if (await talk.lend(() => offerModel(cli, reason))) return ask()
      throw reason
    })
    if (outcome === 'answered') finishAnswer(cli, answer)
    return outcome
  } catch (reason) {
    if (!(reason instanceof AppError) || cli.io.signal.aborted) throw reason
    if (answer.text !== '' && !answer.text.endsWith('\n')) await cli.io.out('\n')
    // A failed question is not part of the conversation; the user may ask again.
    cli.io.err(stripControls(`aichat: ${[reason.message, ...reason.details].join('\n  ')}`))
    return 'failed'
  }
}

/** A question with the beginning of its answer; a question without one was never asked. */
async function stoppedTurn(cli: Cli, question: Message, { text }: Answer): Promise<readonly Message[]> {
  if (text.trim() === '') {
    cli.io.err('aichat: stopped before the answer began; the question is not part of the conversation')
    return []
  }
  if (!text.endsWith('\n')) await cli.io.out('\n')
  cli.io.err('aichat: stopped; what came so far stays part of the conversation')
  return [question, { role: 'assistant', content: `${text.trimEnd()}\n\n${cutOff}` }]
}
