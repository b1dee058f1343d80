// With --all only: a whole sample.
// In a process of its own: it needs the real bcrypt.
import { join } from 'node:path'
import bcrypt from 'bcrypt'
import Database from 'better-sqlite3'
import * as assert from 'uvu/assert'
import { realCompare } from '../helpers/cheap-bcrypt.ts'
import { goodPassword, spawnDaemon } from '../helpers/program/daemon.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the cost of a password')

test('a registered password is stored as bcrypt of cost 12, and the daemon compares it for real', async () => {
  await using daemon = await spawnDaemon({ NODE_OPTIONS: '' })
  const credentials = { username: 'ada', password: goodPassword }
  assert.is((await daemon.call('POST', '/api/auth/register', { body: credentials })).status, 201)
  assert.is((await daemon.call('POST', '/api/auth/login', { body: credentials })).status, 200)
  const wrong = { ...credentials, password: 'Wr0ngpassword' }
  assert.is((await daemon.call('POST', '/api/auth/login', { body: wrong })).status, 401)
  const db = new Database(join(daemon.home, 'aichat.db'), { readonly: true })
  const hash = db.prepare('SELECT password_hash FROM user').pluck().get() as string
  db.close()
  assert.is(bcrypt.getRounds(hash), 12)
  assert.ok(await realCompare(goodPassword, hash))
})

test.run()
