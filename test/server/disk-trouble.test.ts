import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import * as assert from 'uvu/assert'
import { temporaryFolder } from '../helpers/folders.ts'
import '../helpers/cheap-bcrypt.ts'
import { type Answered, goodPassword, serveHere } from '../helpers/program/daemon.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('logins while the database is locked or its disk is full')

const ada = { username: 'ada', password: goodPassword }

/** 503 with the seconds to wait: the password was right, and it is not the caller's fault. */
function isLater({ status, headers, body }: Answered, code: string): void {
  assert.equal([status, body.code], [503, code])
  assert.ok(Number(headers.get('retry-after')) > 0)
}

test('a valid login is 503 and never 401 while another process locks the database, and works after', async () => {
  const daemon = await serveHere()
  await daemon.call('POST', '/api/auth/register', { body: ada })
  const { body } = await daemon.call('POST', '/api/auth/login', { body: ada })
  const other = new BetterSqlite3(join(daemon.home, 'aichat.db'))
  other.exec('BEGIN IMMEDIATE')
  try {
    // The second waits no more: the first has waited in vain for both.
    for (let time = 0; time < 2; time++) isLater(await daemon.call('POST', '/api/auth/login', { body: ada }), 'busy')
    assert.is((await daemon.call('GET', '/api/auth/me', { token: body.token })).status, 200)
  } finally {
    other.exec('ROLLBACK')
    other.close()
  }
  assert.is((await daemon.call('POST', '/api/auth/login', { body: ada })).status, 200)
  await daemon.stop()
  rmSync(daemon.home, { recursive: true })
})

const small = mountSmall()
const onSmallDisk = small === undefined ? test.skip : test

onSmallDisk(
  'a valid login is 503 and never 401 on a full disk, while those who are logged in go on, and works with room',
  async () => {
    const home = join(small!, 'home')
    mkdirSync(home)
    const daemon = await serveHere({}, home)
    try {
      await daemon.call('POST', '/api/auth/register', { body: ada })
      const { body } = await daemon.call('POST', '/api/auth/login', { body: ada })
      fill(small!)
      let answer = await daemon.call('POST', '/api/auth/login', { body: ada })
      // Pages that are free in the log take some.
      for (let time = 0; time < 100 && answer.status === 200; time++)
        answer = await daemon.call('POST', '/api/auth/login', { body: ada })
      isLater(answer, 'io')
      assert.is((await daemon.call('GET', '/api/auth/me', { token: body.token })).status, 200)
      rmSync(join(small!, 'ballast'))
      assert.is((await daemon.call('POST', '/api/auth/login', { body: ada })).status, 200)
    } finally {
      await daemon.stop()
      spawnSync('umount', ['-l', small!])
      rmSync(small!, { recursive: true, force: true })
    }
  },
)

test.run()

function fill(folder: string): void {
  const { bavail, bsize } = statfsSync(folder)
  writeFileSync(join(folder, 'ballast'), Buffer.alloc(bavail * bsize))
}

/** A disk of some megabytes; undefined where this user may mount none. */
function mountSmall(): string | undefined {
  const folder = temporaryFolder()
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'aichat', folder], { stdio: 'ignore' })
  if (status === 0) return folder
  rmSync(folder, { recursive: true })
  return undefined
}
