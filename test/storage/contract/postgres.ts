import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Databases } from '../../helpers/postgres/databases.ts'
import { openQueries, type Queries } from '../../helpers/postgres/queries.ts'
import { remember, reset } from '../../helpers/postgres/reset.ts'
import { postgresSuite } from '../../helpers/postgres/suite.ts'
import { storageIn } from '../../helpers/storage/test-storage.ts'
import { check, partOf, type StorageUnderTest } from './rule.ts'
import { rules } from './rules.ts'

/** PostgreSQL in one database of a server, which is reset after each rule; `close` ends the connection of the resets. */
async function postgresOn(server: Databases): Promise<StorageUnderTest & { close(): Promise<void> }> {
  const url = await server.newMigrated()
  const queries = await openQueries(server.port, new URL(url).pathname.slice(1))
  await queries.query(remember)
  return {
    name: 'PostgreSQL',
    async create(limits) {
      const folder = mkdtempSync(join(tmpdir(), 'aichat-contract-'))
      return {
        settings: { ...storageIn(folder), limits, url },
        isIdle: () => isIdle(queries),
        async remove() {
          await leaveAlone(queries)
          await queries.query(reset)
          rmSync(folder, { recursive: true, force: true })
        },
      }
    },
    close: () => queries.end(),
  }
}

const others = 'FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()'
/** Milliseconds that the end of a transaction takes at most, on a machine at its limits. */
const longestEnd = 5000

const isBusy = 'backend_xid IS NOT NULL OR backend_xmin IS NOT NULL'

/** Whether others have no transaction open; one that was closed a moment ago has time to end at the server. */
async function isIdle(queries: Queries): Promise<boolean> {
  for (const begun = performance.now(); performance.now() - begun < longestEnd; await delay(10))
    if ((await queries.query(`SELECT pid ${others} AND (${isBusy})`)).length === 0) return true
  return false
}

/** Ends the sessions of others: a process that died in a rule may have left a transaction behind. */
async function leaveAlone(queries: Queries): Promise<void> {
  await queries.query(`SELECT pg_terminate_backend(pid, 5000) ${others}`)
}

/** The stores of personas, whose half of the contract is a file of its own: two files are tried at a time. */
const ofPersonas: readonly string[] = ['memories', 'packages', 'personas', 'adaptations', 'backups', 'profiles']

/** Tries the rules of the stores of personas, or those of all others, or those that AICHAT_TEST_STORES names. */
export function keepContract(part: 'personas' | 'others'): void {
  const { test, server, run } = postgresSuite(`the contract of storage, kept by PostgreSQL: ${part}`)
  const chosen = process.env['AICHAT_TEST_STORES']?.split(',')
  let storage: Awaited<ReturnType<typeof postgresOn>> | undefined
  for (const rule of rules)
    if (ofPersonas.includes(rule.store) === (part === 'personas') && (chosen?.includes(rule.store) ?? true))
      test(`${partOf(rule)}: ${rule.says}`, async () => {
        storage ??= await postgresOn(server())
        await check(rule, storage)
      })
  test('the connection of the resets ends', async () => storage?.close())
  run()
}
