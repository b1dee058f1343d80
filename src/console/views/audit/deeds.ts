import type { AuditEntry } from '../../wire/types.ts'

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
  ['personas', 'Personas'],
  ['memories', 'Memories'],
  ['backups', 'Backups'],
] as const

export type Area = (typeof areas)[number][0]

const words: Readonly<Record<string, string>> = {
  login: 'Logged in',
  logout: 'Logged out',
  register: 'Registered',
  setup: 'Set up the first administrator',
  'password.change': 'Changed the password',
  'auth.reset-password': 'Reset the password',
  'users.create': 'Created the user',
  'users.update': 'Changed the user',
  'users.role': 'Set the role of the user',
  'users.remove': 'Deleted the user',
  'keys.create': 'Made the API key',
  'keys.update': 'Changed the API key',
  'keys.rotate': 'Renewed the secret of the API key',
  'keys.revoke': 'Revoked the API key',
  'plugins.install': 'Installed the plugin',
  'plugins.upload': 'Uploaded the plugin',
  'plugins.update': 'Changed the plugin',
  'plugins.remove': 'Removed the plugin',
  'plugins.activate': 'Activated the plugin',
  'plugins.deactivate': 'Deactivated the plugin',
  'models.refresh': 'Refreshed lists of models',
  'models.restore': 'Restored a list of models',
  'models.pull': 'Pulled the model',
  'models.remove': 'Removed the model',
  'limits.set': 'Set limits',
  'limits.change': 'Changed limits',
  'limits.remove': 'Removed limits',
  'limits.reset': 'Began budgets anew',
  'prices.set': 'Set prices',
  'prices.unset': 'Ended the price',
  'usage.prune': 'Removed old requests from the usage',
  'settings.set': 'Changed the setting',
  'settings.unset': 'Took back the setting',
  'secrets.set': 'Stored the provider key',
  'secrets.remove': 'Removed the provider key',
  'service.reload': 'Reloaded the service',
  'personas.remove': 'Removed the persona',
  'personas.backup': 'Backed up the persona',
  'personas.restore': 'Restored the persona',
  'personas.export': 'Exported the persona',
  'personas.import': 'Imported the persona',
  'memories.wipe': 'Wiped memories of the persona',
  'backups.create': 'Backed up everything',
  'backups.download': 'Saved the backup',
  'backups.remove': 'Removed the backup',
  'backups.restore': 'Restored a backup of everything',
}

/** What was done, in words; an action without words of its own by its name. */
export function deedOf({ action, outcome }: Pick<AuditEntry, 'action' | 'outcome'>): string {
  const done = words[action] ?? action
  if (outcome === 'ok') return done
  return action === 'login' ? 'Login failed' : `${done}: ${outcome}`
}
