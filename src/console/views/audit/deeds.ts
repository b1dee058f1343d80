import type { AuditEntry } from '../../wire/types.ts'
import deeds from './deeds.json' with { type: 'json' }

/** The areas by which the audit is filtered. */
export const areas = [
  ['', 'Everything'],
  ['login', 'Logins'],
  ['users', 'Users'],
  ['auth', 'Password resets'],
  ['keys', 'API keys'],
  ['plugins', 'Plugins'],
  ['models', 'Models'],
  ['limits', 'Limits'],
  ['prices', 'Prices'],
  ['settings', 'Settings'],
  ['secrets', 'Provider keys'],
  ['mcp', 'Tool servers'],
  ['personas', 'Personas'],
  ['memories', 'Memories'],
  ['backups', 'Backups'],
] as const

export type Area = (typeof areas)[number][0]

const words: Readonly<Record<string, string>> = deeds

/** What was done, in words; an action without words of its own by its name. */
export function deedOf({ action, outcome }: Pick<AuditEntry, 'action' | 'outcome'>): string {
  const done = words[action] ?? action
  if (outcome === 'ok') return done
  return action === 'login' ? 'Login failed' : `${done}: ${outcome}`
}
