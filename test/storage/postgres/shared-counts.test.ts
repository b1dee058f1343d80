import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { openStorage } from '../../../src/storage/storage.ts'
import { createDays } from '../../../src/usage/days.ts'
import { rowOfOrphan } from '../../../src/usage/limits/orphans.ts'
import { budget } from '../contract/limits.ts'
import { storageIn } from '../test-storage.ts'
import { openInstances } from './instances.ts'
import { postgresSuite } from './suite.ts'

const { test, server, run } = postgresSuite('what several machines count together')

test('of a hundred wrong passwords at once at each of three instances five are judged in all, and a right one is told from none', async () => {
  const instances = await openInstances(await server().newDatabase())
  try {
    await instances.setUp()
    const guess = async (at: number, username: string, password: string) => {
      const login = await instances.all[at]!.call('POST', '/api/auth/login', { body: { username, password } })
      return login.status
    }
    const statuses = await Promise.all(
      [0, 1, 2].flatMap((at) => Array.from({ length: 100 }, (_, nth) => guess(at, 'admin', `wr0ng-Guess-${nth}`))),
    )
    const count = (status: number) => statuses.filter((each) => each === status).length
    // Attempts beyond a process's queue are answered with 503: they were not judged.
    assert.equal([count(401), count(429) + count(503)], [5, 295])
    assert.equal(await Promise.all([0, 1, 2].map((at) => guess(at, 'admin', 'Passw0rd'))), [429, 429, 429])
  } finally {
    await instances.close()
  }
})

test('of fifty reservations in three processes at once ten pass; those of a killed one are booked as they were reserved', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'aichat-reserving-'))
  const settings = { ...storageIn(folder), url: await server().newDatabase() }
  const storage = await openStorage(settings)
  const children = await Promise.all(
    [17, 17, 16].map((count, at) => reserving(JSON.stringify(settings), `c${at}`, count)),
  )
  try {
    const passed = await Promise.all(children.map(({ go }) => go()))
    assert.is(
      passed.reduce((a, b) => a + b),
      10,
    )
    assert.equal(await storage.limits.orphans(), [])
    for (const { kill } of children) await kill()
    const orphans = await storage.limits.orphans()
    assert.is(orphans.length, 10)
    const days = createDays('UTC')
    assert.is(await storage.ledger.append(orphans.map((orphan) => rowOfOrphan(orphan, days))), 10)
    const [spend] = await storage.limits.spends([budget('user:ada', 30)])
    assert.equal([spend!.spent, spend!.reserved], [30, 0])
    assert.equal(await storage.ledger.check(), [])
  } finally {
    for (const { kill } of children) await kill()
    await storage.close()
    rmSync(folder, { recursive: true, force: true })
  }
})

run()

const isSource = import.meta.url.endsWith('.ts')
const childFile = fileURLToPath(new URL(`./reserving-child.${isSource ? 'ts' : 'js'}`, import.meta.url))

/** A process that is ready to reserve. */
async function reserving(settings: string, name: string, count: number) {
  const words = [...(isSource ? ['--import', 'tsx'] : []), childFile, settings, name, String(count)]
  const child: ChildProcess = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]()
  assert.is((await lines.next()).value, 'ready')
  return {
    /** Resolves with the number of reservations that passed. */
    async go(): Promise<number> {
      child.stdin!.write('go\n')
      return Number((await lines.next()).value)
    },
    async kill(): Promise<void> {
      if (child.signalCode !== null || child.exitCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}
