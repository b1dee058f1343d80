import type { Toolbox } from '../../chat/tools/toolbox.ts'
import { AppError } from '../../errors.ts'
import { previewChat } from '../../operations/chat.ts'
import { offerModel } from '../models/pull.ts'
import type { Cli } from '../terminal/cli.ts'
import { isLocalOnly, requireLocalServer } from '../terminal/local-only.ts'
import { note, printJson } from '../terminal/output.ts'
import { canAsk } from '../terminal/prompts.ts'
import { emptyAnswer, finishAnswer } from './answer.ts'
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

/** Asks one question; without text and files, opens a conversation on a terminal. */
export async function runChat(cli: Cli, words: readonly string[], options: ChatOptions): Promise<void> {
  if (await isLocalOnly(cli)) await requireLocalServer(cli)
  const given = words.join(' ')
  const { text, attached } = await readQuestion(cli, given, options.file ?? [])
  if (text === '' && attached.files.length === 0) {
    if (given === '' && !options.dryRun && (await canAsk(cli))) {
      const { converse } = await import('./conversation.ts')
      return converse(cli, options)
    }
    throw new AppError('usage', 'Nothing to ask: give a text, pipe one in, or name a file with -f')
  }
  const messages = [...systemMessage(options), userMessage(text, attached)]
  const { session: _name, ...rest } = options
  const resolved = { ...rest, ...(await chatSession(cli, options)) }
  const question = questionOf(messages, resolved, await cli.settings())
  if (options.file) await tell(cli, attached, options)
  await withTools(cli, options, async (toolbox) => {
    if (options.dryRun) return preview(cli, question, toolbox, attached)
    if (!(await ask(cli, question, toolbox))) cli.exit = 1
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
