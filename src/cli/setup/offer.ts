import { AppError } from '../../errors.ts'
import type { ChatOptions, ChatQuestion } from '../chat/question.ts'
import { offerModel } from '../models/pull.ts'
import type { Cli } from '../terminal/cli.ts'
import { isLocalOnly } from '../terminal/local-only.ts'
import { note } from '../terminal/output.ts'
import { canAsk } from '../terminal/prompts.ts'
import { chooseSource } from './ask.ts'
import { canAnswer, look, withApp } from './found.ts'

/** The commands that asked once and got no for an answer. */
const declined = new WeakSet<object>()

/**
 * After a question that nothing could answer, at a terminal: has the user choose who is to answer. Returns the question for
 * another try; undefined where the failure stands.
 */
export async function offerSetUp(cli: Cli, reason: unknown, question: ChatQuestion): Promise<ChatQuestion | undefined> {
  if (!(reason instanceof AppError) || !['unavailable', 'configuration'].includes(reason.code)) return undefined
  if (!(await canAsk(cli))) return undefined
  // A key is kept on the machine that uses it, and no provider may be asked where nothing may leave this machine.
  if ((await cli.backend()).server !== undefined || (await isLocalOnly(cli)))
    return (await offerModel(cli, reason)) ? question : undefined
  if (await canAnswer(cli, question.model)) return undefined
  const model = await choose(cli, question.model)
  return model === undefined ? undefined : { ...question, ...(question.persona === undefined && { model }) }
}

/** Before a conversation that nothing could answer: the same. Returns the options of the conversation. */
export async function setUpConversation(cli: Cli, options: ChatOptions): Promise<ChatOptions> {
  if ((await cli.backend()).server !== undefined || (await isLocalOnly(cli))) return options
  const settings = await cli.settings()
  const asked = options.model ?? settings.model
  if (await canAnswer(cli, asked)) return options
  const model = await choose(cli, asked)
  const named = options.persona ?? options.role ?? settings.persona
  return model === undefined || named !== undefined ? options : { ...options, model }
}

async function choose(cli: Cli, wanted: string | undefined): Promise<string | undefined> {
  if (declined.has(cli.io)) return undefined
  note(cli, 'aichat: no model is set up yet.')
  const model = await withApp(cli, async (app) => chooseSource(cli, app, await look(cli, app), wanted))
  if (model === undefined) declined.add(cli.io)
  return model
}
