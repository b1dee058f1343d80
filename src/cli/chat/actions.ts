import { AppError } from '../../errors.ts'
import { previewChat } from '../../operations/chat.ts'
import { offerModel } from '../models/pull.ts'
import type { Cli } from '../terminal/cli.ts'
import { printJson } from '../terminal/output.ts'
import { canAsk } from '../terminal/prompts.ts'
import { answerQuestion, emptyAnswer, finishAnswer } from './answer.ts'
import {
  type ChatOptions,
  type ChatQuestion,
  questionOf,
  readQuestion,
  systemMessage,
  userMessage,
} from './question.ts'
import { chatSession } from './saved-session.ts'

/** Asks one question; without text and files, opens a conversation on a terminal. */
export async function runChat(cli: Cli, words: readonly string[], options: ChatOptions): Promise<void> {
  const given = words.join(' ')
  const { text, files } = await readQuestion(cli, given, options.file ?? [])
  if (text === '' && files.length === 0) {
    if (given === '' && !options.dryRun && (await canAsk(cli))) {
      const { converse } = await import('./conversation.ts')
      return converse(cli, options)
    }
    throw new AppError('usage', 'Nothing to ask: give a text, pipe one in, or name a file with -f')
  }
  const messages = [...systemMessage(options), userMessage(text, files)]
  const { session: _name, ...rest } = options
  const resolved = { ...rest, ...(await chatSession(cli, options)) }
  const question = questionOf(messages, resolved, await cli.settings())
  if (options.dryRun) return printJson(cli, await cli.ask(previewChat, question))
  if (!(await ask(cli, question))) cli.exit = 1
}

/** Asks and prints; asks again after a model was pulled. False without an answer. */
async function ask(cli: Cli, question: ChatQuestion): Promise<boolean> {
  const answer = emptyAnswer()
  try {
    await answerQuestion(cli, question, answer, cli.signal())
  } catch (reason) {
    if (!(await offerModel(cli, reason))) throw reason
    await answerQuestion(cli, question, answer, cli.signal())
  }
  return cli.io.outClosed || finishAnswer(cli, answer)
}
