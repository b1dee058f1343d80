import { textOf } from '../../chat/chat.ts'
import { AppError } from '../../errors.ts'
import { listSessions, showSession } from '../../operations/operations.ts'
import { sentMessages } from '../../personas/personas.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Cli } from '../terminal/cli.ts'
import { note } from '../terminal/output.ts'
import type { Attached } from './files/attachment.ts'
import type { ChatOptions, ChatQuestion } from './question.ts'

/** Characters of a question that its session may be named after. */
const longestTitle = 500

/** The title under which a question is kept: its own words, else its piped text, else its files. */
export function titleOf(given: string, text: string, { files }: Attached): string {
  const words = given === '-' ? '' : given
  return (words || text || files.map(({ name }) => name).join(', ')).slice(0, longestTitle)
}

/** The field `keep` of a question: every chat is kept, unless the settings say otherwise and no session is named. */
export function keepOf(
  settings: Pick<Settings, 'keepsChats'>,
  { log, session }: Pick<ChatOptions, 'log' | 'session'>,
  title: string,
  { files }: Attached,
): { keep?: { title: string; files: { name: string; bytes: number }[] } } {
  if (session === undefined && (!log || !settings.keepsChats)) return {}
  const named = files.slice(0, 1_000).map(({ name, bytes }) => ({ name: name.slice(-1_000), bytes }))
  return { keep: { title, files: named } }
}

/** Throws `usage` where a session is to be continued and nothing may be kept. */
export function requireLog({ log, session, continue: goesOn }: ChatOptions): void {
  if (log || (session === undefined && !goesOn)) return
  throw new AppError('usage', '--no-log keeps nothing: leave out --session and --continue, or --no-log')
}

/** The last question of a session, with the messages before it. */
export interface AskedBefore {
  readonly messages: ChatQuestion['messages']
  readonly options: Pick<ChatOptions, 'persona' | 'prompt'>
  /** The question itself. */
  readonly text: string
  readonly title: string
}

/**
 * The last question of the session that -s names, else of the latest, with the messages before it: to be asked again
 * beside its earlier answer. Throws `not_found` without a session, and `invalid` where nothing was asked in it.
 */
export async function askedBefore(cli: Cli, { session, persona, prompt, model }: ChatOptions): Promise<AskedBefore> {
  const id = session ?? (await cli.ask(listSessions, { limit: 1 })).sessions[0]?.id
  if (id === undefined) throw new AppError('not_found', 'No saved conversation found: ask something first')
  const { name, persona_id, messages } = await cli.ask(showSession, { id, files: true })
  const last = messages.findLastIndex(({ role }) => role === 'user')
  if (last < 0) throw new AppError('invalid', `Nothing was asked in the session "${name}" yet`)
  const before = sentMessages(
    messages.slice(0, last + 1).map(({ timestamp, cut, answer: _, ...message }) => ({
      message: message as never,
      timestamp,
      ...(cut && { answer: { cut } }),
    })),
    [],
  )
  const sent = messages.slice(last).find(({ answer }) => answer)?.answer?.sent
  const speaker = persona ?? (model?.startsWith('persona:') ? undefined : persona_id)
  const system = prompt ?? sent?.prompt
  note(cli, `aichat: asking the last question of "${name}" again`)
  return {
    messages: before as ChatQuestion['messages'],
    options: { ...(speaker !== undefined && { persona: speaker }), ...(system !== undefined && { prompt: system }) },
    text: textOf((messages[last] as { content?: string | null }).content),
    title: name,
  }
}
