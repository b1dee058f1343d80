// With --all only: PostgreSQL.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { openStorage } from '../../../src/storage/open-storage.ts'
import { openDatabase } from '../../../src/storage/postgres/connection.ts'
import { createProcessLease } from '../../../src/storage/postgres/process-lease.ts'
import { postgresSuite } from '../../helpers/postgres/suite.ts'
import { storageIn } from '../../helpers/storage/test-storage.ts'
import { budget, reservation } from '../contract/limits.ts'

const { test, server, run } = postgresSuite('leases of processes')

const elsewhere = 'boot-of-another-machine/4026531836/pid1-1'

test('a process of another machine has ended once its lease ran out, as far as one can tell that kept its own for as long', async () => {
  await using(async (url) => {
    const db = openDatabase(url)
    const clock = { now: 0 }
    const lease = createProcessLease(db, () => clock.now)
    const hasEnded = async () => (await lease.ended([elsewhere, lease.mark]))(elsewhere)
    const lend = (seconds: number) =>
      db.run(
        `INSERT INTO process_lease VALUES ($1, now() + make_interval(secs => $2))
           ON CONFLICT (mark) DO UPDATE SET until = excluded.until`,
        [elsewhere, seconds],
      )
    try {
      await lend(-1)
      assert.is(await hasEnded(), false, 'this process has only just begun')
      for (const at of [10_000, 20_000]) {
        clock.now = at
        await lease.renew(db)
      }
      clock.now = 29_999
      assert.is(await hasEnded(), false)
      clock.now = 30_000
      assert.is(await hasEnded(), true)
      await lend(60)
      assert.is(await hasEnded(), false)
      await lend(-1)
      // The database was away: the other one could renew no lease either.
      clock.now = 90_000
      assert.is(await hasEnded(), false)
      assert.is((await lease.ended([lease.mark]))(lease.mark), false)
    } finally {
      lease.close()
      await db.close()
    }
  })
})

test('a lease that ended more than a day ago is removed by the next process that begins one, and no other', async () => {
  await using(async (url) => {
    const db = openDatabase(url)
    const lease = createProcessLease(db)
    try {
      await db.run(
        `INSERT INTO process_lease VALUES ('old', now() - interval '25 hours'), ('new', now() - interval '23 hours')`,
      )
      await lease.renew(db)
      const left = await db.rows<{ mark: string }>('SELECT mark FROM process_lease')
      assert.equal(left.map(({ mark }) => mark).sort(), [lease.mark, 'new'].sort())
    } finally {
      lease.close()
      await db.close()
    }
  })
})

test('money that a process of another machine reserved stays reserved while its lease lasts', async () => {
  await using(async (url, folder) => {
    const storage = await openStorage({ ...storageIn(folder), url })
    const db = openDatabase(url)
    try {
      await storage.limits.reserve(reservation('there', 10), [budget('all', 100)])
      await db.run('UPDATE limit_reservation SET process = $1', [elsewhere])
      await storage.limits.reserve(reservation('here', 10), [budget('all', 100)])
      assert.equal(await storage.limits.orphans(), [])
      assert.equal(
        (await storage.limits.spends([budget('all', 100)])).map(({ reserved }) => reserved),
        [20],
      )
      const own = await db.row<{ leases: number }>('SELECT count(*) AS leases FROM process_lease WHERE until > now()')
      assert.is(own?.leases, 1)
    } finally {
      await db.close()
      await storage.close()
    }
  })
})

run()

async function using(work: (url: string, folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'aichat-lease-'))
  const url = await server().newMigrated()
  try {
    const storage = await openStorage({ ...storageIn(folder), url })
    await storage.close()
    await work(url, folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
