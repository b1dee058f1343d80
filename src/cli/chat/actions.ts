import type { Toolbox } from '../../chat/tools/toolbox.ts'
import { AppError } from '../../errors.ts'
import { previewChat } from '../../operations/chat.ts'
import { offerModel } from '../models/pull.ts'
import type { Cli } from '../terminal/cli.ts'
import { note, printJson } from '../terminal/output.ts'
import { canAsk } from '../terminal/prompts.ts'
import { emptyAnswer, finishAnswer } from './answer.ts'
import { askWith, withTools } from './asking.ts'
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
  await withTools(cli, options, async (toolbox) => {
    if (options.dryRun) return preview(cli, question, toolbox)
    if (!(await ask(cli, question, toolbox))) cli.exit = 1
  })
}

/** Prints the request that would be sent first. */
async function preview(cli: Cli, question: ChatQuestion, toolbox: Toolbox | undefined): Promise<void> {
  if (!toolbox) return printJson(cli, await cli.ask(previewChat, question))
  const { offering } = await import('./tool-rounds.ts')
  const { tools, warnings } = await toolbox.offer()
  for (const warning of warnings) note(cli, `aichat: ${warning}`)
  await printJson(cli, await cli.ask(previewChat, offering(question, tools, [])))
}

/** Asks and prints; asks again after a model was pulled. False without an answer. */
async function ask(cli: Cli, question: ChatQuestion, toolbox: Toolbox | undefined): Promise<boolean> {
  const answer = emptyAnswer()
  try {
    await askWith(cli, question, answer, cli.signal(), toolbox)
  } catch (reason) {
    if (!(await offerModel(cli, reason))) throw reason
    await askWith(cli, question, answer, cli.signal(), toolbox)
  }
  return cli.io.outClosed || finishAnswer(cli, answer)
}
