import { AppError } from '../../errors.ts'
import { createSession, listSessions, removeSession, showSession } from '../../operations/sessions.ts'
import { type Cli, note } from '../terminal/cli.ts'
import type { ChatOptions } from './options.ts'

/**
 * The saved conversation that a chat belongs to: the one that -s names (begun if need be), the last one with --continue.
 * A dry run begins none.
 */
export async function chatSession(cli: Cli, options: ChatOptions): Promise<{ session?: string }> {
  const { session: name, dryRun } = options
  if (name !== undefined) {
    const there = await known(cli, name)
    if (there.session !== undefined || dryRun) return there
    return { session: (await cli.ask(createSession, { name, reuse: true, ...(await chosen(cli, options)) })).id }
  }
  if (options.continue) {
    const [last] = (await cli.ask(listSessions, { limit: 1 })).sessions
    if (!last) throw new AppError('not_found', 'There is no conversation to go on with')
    note(cli, `aichat: going on with "${last.name}"`)
    return { session: last.id }
  }
  return {}
}

/** How long a server may take to remove an empty conversation, also after a signal: milliseconds. */
const removalMs = 2_000

/** A conversation that is saved from its beginning. */
export interface TerminalSession {
  readonly session: string
  /** Told after each answer: the first one says where the conversation is saved. */
  answered(): void
  /** One in which nothing was answered is not kept. */
  end(): Promise<void>
}

/** The saved conversation of somebody at a terminal: the one that the flags name, else a new one. */
export async function terminalSession(cli: Cli, options: ChatOptions): Promise<TerminalSession> {
  const { session } = await chatSession(cli, options)
  if (session !== undefined) return { session, answered: () => {}, end: async () => {} }
  const begun = await cli.ask(createSession, await chosen(cli, options))
  let answers = 0
  return {
    session: begun.id,
    answered() {
      if (answers++ === 0) note(cli, `aichat: saved as "${begun.name}"; go on with it later by --continue`)
    },
    async end() {
      if (answers === 0) await cli.ask(removeSession, { id: begun.id }, AbortSignal.timeout(removalMs))
    },
  }
}

async function chosen(cli: Cli, options: ChatOptions): Promise<{ persona?: string }> {
  const persona = options.persona ?? options.role ?? (await cli.settings()).persona
  return persona === undefined ? {} : { persona }
}

async function known(cli: Cli, name: string): Promise<{ session?: string }> {
  try {
    return { session: (await cli.ask(showSession, { id: name })).id }
  } catch (reason) {
    if (reason instanceof AppError && reason.code === 'not_found') return {}
    throw reason
  }
}
