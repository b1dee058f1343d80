// With --all only: PostgreSQL.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { openInstances } from '../../helpers/postgres/instances.ts'
import { postgresSuite } from '../../helpers/postgres/suite.ts'
import { goodPassword } from '../../helpers/program/daemon.ts'
import { storageIn } from '../../helpers/storage/test-storage.ts'
import { assertSharedBudget } from '../../usage/limits/budget-processes.ts'

const { test, server, run } = postgresSuite('what several machines count together')

test('of a hundred wrong passwords at once at each of three instances five are judged, and a right one is told from none', async () => {
  const instances = await openInstances(await server().newMigrated())
  try {
    const token = await instances.setUp()
    const guess = async (at: number, password: string) => {
      const login = await instances.all[at]!.call('POST', '/api/auth/login', { body: { username: 'admin', password } })
      return login.status
    }
    const statuses = await Promise.all(
      [0, 1, 2].flatMap((at) => Array.from({ length: 100 }, (_, nth) => guess(at, `wr0ng-Guess-${nth}`))),
    )
    const count = (status: number) => statuses.filter((each) => each === status).length
    // Where a new connection takes over a second, on a machine at its limits, the answer is 503: nothing was judged.
    assert.equal([count(401), count(429) + count(503)], [5, 295])
    assert.equal(await Promise.all([0, 1, 2].map((at) => guess(at, goodPassword))), [429, 429, 429])
    // An administrator at one of them lets the address in at all.
    const unlocked = await instances.all[1]!.call('POST', '/api/users/unlock', { token, body: { who: 'admin' } })
    assert.equal([unlocked.status, unlocked.body.addresses], [200, ['127.0.0.1']])
    assert.equal(await Promise.all([0, 1, 2].map((at) => guess(at, goodPassword))), [200, 200, 200])
  } finally {
    await instances.close()
  }
})

test('three processes that reserve 25 times each at once get the ten that a budget has', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'aichat-budgets-'))
  try {
    await assertSharedBudget({ ...storageIn(folder), url: await server().newMigrated() }, 3)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

run()
