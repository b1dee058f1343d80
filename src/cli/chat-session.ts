import { AppError } from '../errors.ts'
import { createSession, listSessions, showSession } from '../operations/sessions.ts'
import type { ChatOptions } from './chat.ts'
import { type Cli, note } from './cli.ts'

/**
 * The saved conversation that a chat belongs to: the one that -s names (begun if need be), the last one with --continue,
 * a new one when `begin` says that this chat is a conversation. A dry run begins none.
 */
export async function chatSession(cli: Cli, options: ChatOptions, begin?: false): Promise<{ session?: string }>
export async function chatSession(cli: Cli, options: ChatOptions, begin: true): Promise<{ session: string }>
export async function chatSession(cli: Cli, options: ChatOptions, begin = false): Promise<{ session?: string }> {
  const { session: name, dryRun } = options
  const persona = options.persona ?? options.role ?? (await cli.settings()).persona
  const chosen = persona === undefined ? {} : { persona }
  if (name !== undefined) {
    const there = await known(cli, name)
    if (there.session !== undefined || dryRun) return there
    return { session: (await cli.ask(createSession, { name, reuse: true, ...chosen })).id }
  }
  if (options.continue) {
    const [last] = (await cli.ask(listSessions, { limit: 1 })).sessions
    if (!last) throw new AppError('not_found', 'There is no conversation to go on with')
    note(cli, `aichat: going on with "${last.name}"`)
    return { session: last.id }
  }
  if (!begin) return {}
  const begun = await cli.ask(createSession, chosen)
  note(cli, `aichat: saved as "${begun.name}"; go on with it later by --continue`)
  return { session: begun.id }
}

async function known(cli: Cli, name: string): Promise<{ session?: string }> {
  try {
    return { session: (await cli.ask(showSession, { id: name })).id }
  } catch (reason) {
    if (reason instanceof AppError && reason.code === 'not_found') return {}
    throw reason
  }
}
