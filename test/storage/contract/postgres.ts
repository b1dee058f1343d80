import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStorage } from '../../../src/storage/storage.ts'
import type { PostgresServer } from '../postgres/server.ts'
import { storageIn } from '../test-storage.ts'
import type { StorageUnderTest } from './rule.ts'

/** PostgreSQL in a new database of a server each: a copy of one that was migrated once. */
export function postgresOn(server: PostgresServer): StorageUnderTest {
  let migrated: Promise<string> | undefined
  return {
    name: 'PostgreSQL',
    async create(limits) {
      const folder = mkdtempSync(join(tmpdir(), 'aichat-contract-'))
      migrated ??= migratedIn(server)
      const url = await server.newDatabase(await migrated)
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
          await server.query(`DROP DATABASE ${name} WITH (FORCE)`)
          rmSync(folder, { recursive: true, force: true })
        },
      }
    },
  }
}

async function migratedIn(server: PostgresServer): Promise<string> {
  const url = await server.newDatabase()
  const folder = mkdtempSync(join(tmpdir(), 'aichat-contract-'))
  const storage = await openStorage({ ...storageIn(folder), url })
  await storage.close()
  rmSync(folder, { recursive: true, force: true })
  return databaseOf(url)
}

function databaseOf(url: string): string {
  return new URL(url).pathname.slice(1)
}
