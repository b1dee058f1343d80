import { personaIn } from '../../chat/chat.ts'
import { AppError } from '../../errors.ts'
import { createSession, listSessions, removeSession, showSession } from '../../operations/operations.ts'
import type { Cli } from '../terminal/cli.ts'
import { note } from '../terminal/output.ts'
import { type ChatOptions, personaOf } from './question.ts'

/**
 * The saved conversation of a chat: the one that -s names, created if missing, or the latest with --continue. A dry run
 * creates none. Throws `not_found` for --continue without a conversation.
 */
export async function chatSession(cli: Cli, options: ChatOptions): Promise<{ session?: string }> {
  const { session: name, dryRun } = options
  if (name !== undefined) {
    const known = await findSession(cli, name)
    if (known.session !== undefined || dryRun) return known
    return {
      session: (await cli.ask(createSession, { name, reuse: true, ...(await sessionPersona(cli, options)) })).id,
    }
  }
  if (options.continue) {
    const [last] = (await cli.ask(listSessions, { limit: 1 })).sessions
    if (!last) throw new AppError('not_found', 'No saved conversation found: start one with -s NAME')
    note(cli, `aichat: continuing "${last.name}"`)
    return { session: last.id }
  }
  return {}
}

/** Timeout of removing an empty conversation, also after a signal: milliseconds. */
const removalMs = 2_000

export interface TerminalSession {
  readonly session: string
  /** The persona's first words in a new conversation; undefined for none. */
  readonly greeting?: string
  answered(): void
  /** Whether it began here, without a name of the user's. */
  readonly isNew: boolean
  /** Whether it is there after the conversation. */
  readonly isKept: boolean
  /** Keeps it also where the settings keep none. Throws `usage` with --no-log. */
  keep(): void
  /** Removes a new conversation without an answer, or where nothing is kept. */
  end(): Promise<void>
}

/** Opens the conversation that the options name, else a new one. */
export async function terminalSession(cli: Cli, options: ChatOptions): Promise<TerminalSession> {
  const { session } = await chatSession(cli, options)
  let keeps = options.log && (await cli.settings()).keepsChats
  const removed = async (id: string) => {
    await cli.ask(removeSession, { id }, AbortSignal.timeout(removalMs)).catch((reason: unknown) => {
      // Another command may have been faster.
      if (!(reason instanceof AppError) || reason.code !== 'not_found') throw reason
    })
  }
  if (session !== undefined)
    return { session, isNew: false, answered: () => {}, isKept: true, keep: () => {}, end: async () => {} }
  const created = await cli.ask(createSession, await sessionPersona(cli, options))
  let answers = 0
  const greeting = created.message_count > 0 ? await firstWords(cli, created.id) : undefined
  return {
    session: created.id,
    isNew: true,
    ...(greeting !== undefined && { greeting }),
    answered() {
      answers++
    },
    get isKept() {
      return keeps
    },
    keep() {
      if (!options.log) throw new AppError('usage', '--no-log keeps nothing of this conversation: start it without')
      keeps = true
    },
    async end() {
      if (answers === 0 || !keeps) await removed(created.id)
    },
  }
}

async function firstWords(cli: Cli, id: string): Promise<string | undefined> {
  const [first] = (await cli.ask(showSession, { id })).messages
  return typeof first?.['content'] === 'string' ? first['content'] : undefined
}

/** The persona of a new conversation, also where the model is one. */
async function sessionPersona(cli: Cli, options: ChatOptions): Promise<{ persona?: string }> {
  const settings = await cli.settings()
  const persona = personaOf(options, settings) ?? personaIn(options.model ?? settings.model)
  return persona === undefined ? {} : { persona }
}

async function findSession(cli: Cli, name: string): Promise<{ session?: string }> {
  try {
    return { session: (await cli.ask(showSession, { id: name, brief: true })).id }
  } catch (reason) {
    if (reason instanceof AppError && reason.code === 'not_found') return {}
    throw reason
  }
}
