import type { Message } from '../../chat/protocol/messages.ts'
import { AppError } from '../../errors.ts'
import { previewChat } from '../../operations/chat.ts'
import { type Cli, mayAsk, printJson } from '../terminal/cli.ts'
import { answerQuestion, finishAnswer, noAnswer } from './answer.ts'
import type { ChatOptions } from './options.ts'
import { questionOf, readQuestion, systemMessage, userMessage } from './question.ts'

/** One question when there is something to ask; else a conversation, if somebody sits at the terminal. */
export async function runChat(cli: Cli, words: string, options: ChatOptions): Promise<void> {
  const { text, files } = await readQuestion(cli, words, options.file ?? [])
  if (text === '' && files.length === 0) {
    if (words === '' && !options.dryRun && (await mayAsk(cli))) {
      const { converse } = await import('./conversation.ts')
      return converse(cli, options)
    }
    throw new AppError('usage', 'There is nothing to ask: give a text, pipe one in, or name a file with -f')
  }
  const messages = [...systemMessage(options), userMessage(text, files)]
  const { chatSession } = await import('./saved-session.ts')
  const { session: _name, ...rest } = options
  const chosen = { ...rest, ...(await chatSession(cli, options)) }
  if (options.dryRun) return preview(cli, messages, chosen)
  if (!(await ask(cli, messages, chosen))) cli.exit = 1
}

async function preview(cli: Cli, messages: readonly Message[], options: ChatOptions): Promise<void> {
  await printJson(cli, await cli.ask(previewChat, questionOf(messages, options, await cli.settings())))
}

/** Asks and prints; where nobody could answer, again after a model was pulled. False when there is no answer. */
async function ask(cli: Cli, messages: readonly Message[], options: ChatOptions): Promise<boolean> {
  const question = questionOf(messages, options, await cli.settings())
  const answer = noAnswer()
  try {
    await answerQuestion(cli, question, answer, cli.signal())
  } catch (reason) {
    const { offerModel } = await import('../models/pull.ts')
    if (!(await offerModel(cli, reason))) throw reason
    await answerQuestion(cli, question, answer, cli.signal())
  }
  return cli.io.outClosed || finishAnswer(cli, answer)
}
