// With --all only: a killed process.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { openDatabase } from '../../src/storage/sqlite/database.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { callApi, goodPassword, spawnDaemon } from '../helpers/program/daemon.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('accounts and a daemon that is killed')

const rounds = 4

test('kill -9 in the middle of writes, several times: every user answered with 201 exists, and no partial one', async () => {
  const home = temporaryFolder()
  const acknowledged = new Map<string, string>()
  let token = ''
  for (let round = 0; round < rounds; round++) {
    const daemon = await spawnDaemon({}, home)
    if (round === 0) {
      const { body } = await daemon.call('POST', '/api/auth/register', {
        body: { username: 'admin', password: goodPassword },
      })
      token = body.token
      acknowledged.set(body.user.id, 'admin')
    }
    const writers = Array.from({ length: 4 }, (_, writer) => write(daemon.url, `r${round}w${writer}`))
    // From the first answer on, at any time in the middle of the next.
    const wanted = acknowledged.size + 1 + (round % 2)
    while (acknowledged.size < wanted) await new Promise((resolve) => setTimeout(resolve, 5))
    // The kills are spread evenly over a fifth of a second, in which some users are created.
    await new Promise((resolve) => setTimeout(resolve, round * 50))
    await daemon.stop('SIGKILL')
    await Promise.all(writers)
  }
  const db = await openDatabase(join(home, 'aichat.db'), { check: true })
  const users = db.prepare('SELECT id, username, password_hash, role FROM user').all() as {
    id: string
    username: string
    password_hash: string
    role: string
  }[]
  const orphans = db.prepare('SELECT count(*) FROM login_session WHERE user_id NOT IN (SELECT id FROM user)').pluck()
  assert.is(orphans.get(), 0)
  db.close()
  const found = new Map(users.map((user) => [user.id, user.username]))
  for (const [id, name] of acknowledged) assert.is(found.get(id), name, `${name} was answered 201 and is lost`)
  for (const user of users) assert.match(user.password_hash, /^\$2b\$12\$.{53}$/)
  assert.is(users.filter(({ role }) => role === 'admin').length, 1)
  // A write in flight may be stored or not: at most one per writer and round.
  assert.ok(users.length <= acknowledged.size + rounds * 4)
  rmSync(home, { recursive: true, force: true })

  /** Creates users one after the other until the service is gone. */
  async function write(url: string, prefix: string): Promise<void> {
    const call = callApi(url)
    for (let index = 0; ; index++) {
      const username = `${prefix}n${index}`
      try {
        const { status, body } = await call('POST', '/api/users', { token, body: { username, password: goodPassword } })
        if (status === 201) acknowledged.set(body.id, username)
        else throw new Error(`${status} ${JSON.stringify(body)}`)
      } catch (reason) {
        // The connection is gone, or cut in the middle of an answer.
        if (reason instanceof TypeError || (reason as Error).name === 'AbortError') return
        throw reason
      }
    }
  }
})

test.run()
