import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { storageIn } from '../test-storage.ts'
import type { StorageUnderTest } from './rule.ts'

/** PostgreSQL in a new database of a server, given by the URL of one of its databases. */
export function postgresAt(serverUrl: string): StorageUnderTest {
  let count = 0
  return {
    name: 'PostgreSQL',
    async create(limits) {
      const folder = mkdtempSync(join(tmpdir(), 'aichat-contract-'))
      const name = `contract_${process.pid}_${count++}`
      const on = async <R>(work: (client: pg.Client) => Promise<R>, url = serverUrl): Promise<R> => {
        const client = new pg.Client({ connectionString: url })
        await client.connect()
        try {
          return await work(client)
        } finally {
          await client.end()
        }
      }
      await on((client) => client.query(`CREATE DATABASE ${name}`))
      const url = new URL(serverUrl)
      url.pathname = `/${name}`
      return {
        settings: { ...storageIn(folder), limits, url: String(url) },
        async isIdle() {
          const { rows } = await on((client) =>
            client.query(
              `SELECT 1 FROM pg_stat_activity WHERE datname = $1 AND (backend_xid IS NOT NULL OR backend_xmin IS NOT NULL)`,
              [name],
            ),
          )
          return rows.length === 0
        },
        async remove() {
          await on((client) => client.query(`DROP DATABASE ${name} WITH (FORCE)`))
          rmSync(folder, { recursive: true, force: true })
        },
      }
    },
  }
}
