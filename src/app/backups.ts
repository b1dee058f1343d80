import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { type Backups, createBackups, folderTarget } from '../backup/backup.ts'
import type { Settings } from '../settings/settings.ts'
import type { StorageSettings } from '../storage/storage.ts'
import { version } from '../version.ts'

/** The variable with the passphrase of backups; no plugin may name it, see `isOwnVariable`. */
export const backupPassphrase = 'AICHAT_BACKUP_PASSPHRASE'

interface BackupAreaParts {
  readonly settings: Pick<Settings, 'paths' | 'backup'>
  readonly storage: StorageSettings
  /** A secret by its name, from the environment, a file, or where `aichat secret set` put it. */
  readonly secret: (name: string) => Promise<string | undefined>
  readonly keyNames: () => readonly string[]
}

/** The part of the composition root that deals with backups of everything. */
export function openBackups({ settings, storage, secret, keyNames }: BackupAreaParts): Backups {
  const { paths, backup } = settings
  const folder = backup.target ?? join(paths.data, 'full-backups')
  return createBackups({
    storage,
    places: { data: paths.data, config: paths.config },
    target: folderTarget(folder, { makeParents: backup.target === undefined }),
    daysBeforeRestore: backup.daysBeforeRestore,
    program: `aichat ${version()}`,
    keyNames,
    passphrase: () => secret(backupPassphrase),
    clock: Date.now,
    newId: randomUUID,
  })
}
