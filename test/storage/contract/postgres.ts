import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStorage } from '../../../src/storage/storage.ts'
import type { Databases } from '../../helpers/postgres/databases.ts'
import { remember, reset } from '../../helpers/postgres/reset.ts'
import { storageIn } from '../../helpers/storage/test-storage.ts'
import type { StorageUnderTest } from './rule.ts'

/** PostgreSQL in one database of a server, which is reset after each rule. */
export function postgresOn(server: Databases): StorageUnderTest {
  let migrated: Promise<string> | undefined
  return {
    name: 'PostgreSQL',
    async create(limits) {
      const folder = mkdtempSync(join(tmpdir(), 'aichat-contract-'))
      migrated ??= migratedOn(server)
      const url = await migrated
      const name = databaseOf(url)
      return {
        settings: { ...storageIn(folder), limits, url },
        async isIdle() {
          const busy = await server.query(
            `SELECT pid FROM pg_stat_activity
              WHERE datname = '${name}' AND (backend_xid IS NOT NULL OR backend_xmin IS NOT NULL)`,
          )
          return busy.length === 0
        },
        async remove() {
          // In one call of `psql`, which costs as much as the reset itself.
          await server.query(`${terminateOthers}; ${reset}`, name)
          rmSync(folder, { recursive: true, force: true })
        },
      }
    },
  }
}

/** A process that died in a rule may have left a transaction behind. */
const terminateOthers = `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid()`

async function migratedOn(server: Databases): Promise<string> {
  const url = await server.newDatabase()
  const folder = mkdtempSync(join(tmpdir(), 'aichat-contract-'))
  const storage = await openStorage({ ...storageIn(folder), url })
  await storage.close()
  rmSync(folder, { recursive: true, force: true })
  await server.query(remember, databaseOf(url))
  return url
}

function databaseOf(url: string): string {
  return new URL(url).pathname.slice(1)
}
