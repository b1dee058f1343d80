import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { placeEmptyDatabase } from '../../helpers/storage/empty-database.ts'
import { storageIn } from '../../helpers/storage/test-storage.ts'
import type { StorageUnderTest } from './rule.ts'

/** SQLite in a data folder with an empty database. */
export const sqlite: StorageUnderTest = {
  name: 'SQLite',
  async create(limits) {
    const folder = mkdtempSync(join(tmpdir(), 'aichat-contract-'))
    placeEmptyDatabase(folder)
    return {
      settings: { ...storageIn(folder), limits },
      async isIdle() {
        const db = new BetterSqlite3(join(folder, 'aichat.db'), { timeout: 0 })
        // Every reader has to be done with the write-ahead log before it is emptied.
        const [{ busy }] = db.pragma('wal_checkpoint(TRUNCATE)') as [{ busy: number }]
        db.close()
        return busy === 0
      },
      remove: async () => rmSync(folder, { recursive: true, force: true }),
    }
  },
}
