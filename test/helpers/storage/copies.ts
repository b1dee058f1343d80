import { join } from 'node:path'
import { openStorageCopies } from '../../../src/storage/open-storage.ts'
import { storageIn } from './test-storage.ts'

/** Fills an empty PostgreSQL database with all of a data folder, as a restored backup does. */
export async function copyToPostgres(folder: string, url: string): Promise<void> {
  const copies = await openStorageCopies({ ...storageIn(folder), url })
  await copies.fill!(join(folder, 'aichat.db'), filesOf(folder))
}

/** Writes all of a PostgreSQL database into a data folder, as a backup does. */
export async function copyFromPostgres(
  url: string,
  folder: string,
  onProgress = (_share: number) => {},
): Promise<void> {
  const copies = await openStorageCopies({ ...storageIn(folder), url })
  await copies.take(join(folder, 'aichat.db'), onProgress, filesOf(folder))
}

function filesOf(folder: string) {
  return { plugins: join(folder, 'plugins'), personaBackups: join(folder, 'backups') }
}
