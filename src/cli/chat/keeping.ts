import { AppError } from '../../errors.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Attached } from './files/attachment.ts'
import type { ChatOptions } from './question.ts'

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
