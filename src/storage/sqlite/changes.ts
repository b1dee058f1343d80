import type { Changes } from '../shared/changes.ts'
import type { Database } from './connection.ts'

/** The changes of all processes, and how this one's account store tells of its own. */
export interface OwnChanges extends Changes {
  /** Called after a write that may have changed an account or a login, and after one that changed a limit. */
  wroteAccounts(): void
  wroteLimits(): void
}

/**
 * Exact, and about a microsecond: `PRAGMA data_version` changes with every commit of another connection
 * (https://sqlite.org/pragma.html#pragma_data_version), and this connection counts its own. `plugins` is the mark of the
 * plugins, which lie in files.
 */
export function createChanges(db: Database, plugins: () => string): OwnChanges {
  const version = db.prepare<[], number>('PRAGMA data_version').pluck()
  let own = 0
  const wrote = () => void own++
  return {
    mark: (kind) => (kind === 'plugins' ? plugins() : `${version.get()} ${own}`),
    wroteAccounts: wrote,
    wroteLimits: wrote,
  }
}
