import { AppError } from '../../errors.ts'
import { offerModel } from '../models/pull.ts'
import type { Cli } from '../terminal/cli.ts'
import { isLocalOnly } from '../terminal/local-only.ts'
import { note } from '../terminal/output.ts'
import { chooseSource } from './ask.ts'
import { canAnswer, look, withApp } from './found.ts'

/** The commands that asked once and got no for an answer. */
const declined = new WeakSet<object>()

/** What a question, or a conversation, names. */
interface Named {
  readonly model?: string | undefined
  readonly persona?: string | undefined
  readonly role?: string | undefined
}

/** What has changed: the model that answers from now on, for a question without a persona, which has its own. */
interface Change {
  readonly model?: string
}

/** At a terminal, has the user choose who is to answer what nothing could. The change for another try, if any. */
export async function offerSetUp(cli: Cli, reason: unknown, question: Named): Promise<Change | undefined> {
  if (!(reason instanceof AppError) || !['unavailable', 'configuration'].includes(reason.code)) return undefined
  if (await canAnswer(cli, question.model)) return undefined
  if (await isDecided(cli)) return (await offerModel(cli, reason)) ? {} : undefined
  return choose(cli, question.model, question.persona)
}

/** Before a conversation that nothing could answer: the same. Returns the change of its options, which may be none. */
export async function setUpConversation(cli: Cli, { model, persona, role }: Named): Promise<Change> {
  if (await isDecided(cli)) return {}
  const settings = await cli.settings()
  const asked = model ?? settings.model
  if (await canAnswer(cli, asked)) return {}
  return (await choose(cli, asked, persona ?? role ?? settings.persona)) ?? {}
}

/** Whether no choice is to be made here: a daemon answers, nothing may leave this machine, or --yes answers every question. */
async function isDecided(cli: Cli): Promise<boolean> {
  return cli.globals().yes === true || (await cli.backend()).server !== undefined || isLocalOnly(cli)
}

async function choose(cli: Cli, wanted: string | undefined, persona: string | undefined): Promise<Change | undefined> {
  if (declined.has(cli.io)) return undefined
  note(cli, 'aichat: no model is set up yet')
  const model = await withApp(cli, async (app) => chooseSource(cli, app, await look(cli, app), wanted))
  if (model === undefined) declined.add(cli.io)
  return model === undefined ? undefined : persona === undefined ? { model } : {}
}
