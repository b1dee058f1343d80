import type { Message } from '../../chat/protocol/messages.ts'
import { AppError } from '../../errors.ts'
import { usdOf } from '../../usage/money.ts'
import { offerModel } from '../models/pull.ts'
import type { Cli } from '../terminal/cli.ts'
import { stripControls } from '../terminal/io.ts'
import { note } from '../terminal/output.ts'
import { parseDuration } from '../terminal/parsers.ts'
import { Interrupted } from '../terminal/prompts.ts'
import { firstOf } from '../terminal/stop-signal.ts'
import { type Answer, emptyAnswer, finishAnswer } from './answer.ts'
import { askWith, type ChatTools, withTools } from './asking.ts'
import { openPromptLine, type PromptLine } from './prompt-line.ts'
import { type ChatOptions, questionOf, systemMessage, userMessage } from './question.ts'
import { terminalSession } from './saved-session.ts'

/** Marks a stopped answer in the next request. */
const cutOff = '[The user stopped the answer here.]'

/**
 * A saved conversation on a terminal: prompts on stderr, answers on stdout. Ctrl-C stops an answer; its beginning is sent
 * and saved with the next question. Ctrl-D ends the conversation.
 */
export function converse(cli: Cli, options: ChatOptions): Promise<void> {
  return withTools(cli, options, (tools) => talk(cli, options, tools))
}

async function talk(cli: Cli, options: ChatOptions, tools: ChatTools | undefined): Promise<void> {
  const { session, greeting, answered, end } = await terminalSession(cli, options)
  note(cli, 'Ask something; Ctrl-C stops an answer, Ctrl-D ends the conversation.')
  if (greeting !== undefined) await cli.io.out(`${stripControls(greeting)}\n`)
  const prompt = openPromptLine(cli.io)
  tools?.lend(prompt.lend)
  let stopped: readonly Message[] = []
  let cost = 0
  try {
    for (let text = await prompt.next(); text !== undefined; text = await prompt.next()) {
      if (text.trim() === '') continue
      const question = userMessage(text)
      // The core adds the earlier messages from the saved conversation.
      const messages = [...systemMessage(options), ...stopped, question]
      const answer = emptyAnswer()
      const outcome = await turn({ cli, prompt, tools }, { ...options, session }, messages, answer)
      cost += answer.cost ?? 0
      if (outcome === 'stopped') stopped = [...stopped, ...(await stoppedTurn(cli, question, answer))]
      if (outcome !== 'answered') continue
      stopped = []
      answered()
    }
  } finally {
    prompt.close()
    cli.io.err('')
    if (stopped.length > 0) note(cli, 'aichat: the last stopped answer is not saved')
    if (cost > 0) note(cli, `aichat: the answers cost $${usdOf(cost)}`)
    await end()
  }
}

type Outcome = 'answered' | 'stopped' | 'failed'

interface Talk {
  readonly cli: Cli
  readonly prompt: PromptLine
  readonly tools: ChatTools | undefined
}

/** Asks one question; prints a failure, and the conversation goes on. */
async function turn(
  { cli, prompt, tools }: Talk,
  options: ChatOptions,
  messages: readonly Message[],
  answer: Answer,
): Promise<Outcome> {
  const question = questionOf(messages, options, await cli.settings())
  const { timeout } = cli.globals()
  const ask = () =>
    prompt.during(async (stop) => {
      // --timeout applies to each answer, not to the conversation.
      const { signal, release } = firstOf(
        [cli.io.signal, stop],
        timeout === undefined ? undefined : parseDuration(timeout),
      )
      try {
        await askWith(cli, question, answer, signal, tools)
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
    const outcome = await ask().catch(async (reason: unknown) => {
      if (await prompt.lend(() => offerModel(cli, reason))) return ask()
      throw reason
    })
    if (outcome === 'answered') finishAnswer(cli, answer)
    return outcome
  } catch (reason) {
    if (!(reason instanceof AppError) || cli.io.signal.aborted) throw reason
    if (answer.text !== '' && !answer.text.endsWith('\n')) await cli.io.out('\n')
    // A failed question is not part of the conversation.
    cli.io.err(stripControls(`aichat: ${[reason.message, ...reason.details].join('\n  ')}`))
    return 'failed'
  }
}

/** The messages of a stopped answer; none when it was stopped before its first word. */
async function stoppedTurn(cli: Cli, question: Message, { text }: Answer): Promise<readonly Message[]> {
  if (text.trim() === '') {
    cli.io.err('aichat: stopped before the answer began; the question is not part of the conversation')
    return []
  }
  if (!text.endsWith('\n')) await cli.io.out('\n')
  cli.io.err('aichat: stopped; the text so far stays part of the conversation')
  return [question, { role: 'assistant', content: `${text.trimEnd()}\n\n${cutOff}` }]
}
