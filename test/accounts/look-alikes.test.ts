import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { isSpoof, lookOf } from '../../src/accounts/look-alikes.ts'
import { openDatabase } from '../../src/storage/sqlite/database.ts'
import { goodPassword, openDaemon, withDaemon } from '../helpers/program/daemon.ts'
import { lackChanges } from '../helpers/storage/earlier.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('names that look like others')

/** Names that look like `admin` or `coco`: Cyrillic, Greek, IPA, Cherokee and Lisu letters, whole or among Latin ones. */
const spoofs: readonly (readonly [name: string, like: string])[] = [
  ['\u0430dmin', 'admin'],
  ['\u0251dmin', 'admin'],
  ['adm\u0131n', 'admin'],
  ['adm\u0456n', 'admin'],
  ['\u0410dmin', 'Admin'],
  ['A\u{a4d3}min', 'admin'],
  ['adm\u0406n', 'ADMIN'],
  ['\u0441\u043e\u0441\u043e', 'coco'],
  ['\u0421\u041e\u0421\u041e', 'coco'],
  ['\u03bf\u03bd\u03bf', 'ovo'],
  ['c0\u0441o', 'coco'],
]

test('a name has the look of the name that it is taken for', () => {
  for (const [name, like] of spoofs) assert.ok(isSpoof(name, like), `${name} for ${like}`)
  for (const [one, other] of [
    ['user1', 'userl'],
    ['Ada', 'ada'],
    ['modern', 'modem'],
    ['\u0410\u043d\u043d\u0430', 'Anna'],
    ['M\u00fcller', 'Muller'],
    ['\u0438\u0432\u0430\u043d', 'ivan'],
    ['\u5c71\u7530', '\u5c71\u672c'],
  ] as const)
    assert.not.ok(isSpoof(one, other), `${one} for ${other}`)
  assert.is(lookOf('\u0430\u0435\u043e'), 'aeo')
})

test('a name that looks like an existing one in another script is refused on register, create and update', () =>
  withDaemon(async ({ call, register }) => {
    const { token } = await register('admin')
    await register('coco')
    const mine = await register('ovo')
    const said = 'username: looks like one that is taken, in letters of another script'
    for (const [username] of spoofs) {
      const body = { username, password: goodPassword }
      for (const answer of [
        await call('POST', '/api/auth/register', { body }),
        await call('POST', '/api/users', { token, body }),
        ...(/^[\u03bf\u03bd]+$/.test(username)
          ? []
          : [await call('PUT', `/api/users/${mine.user.id}`, { token: mine.token, body: { username } })]),
      ])
        assert.equal([answer.status, answer.body.details], [400, [said]], username)
    }
    for (const username of ['\u0410\u043d\u043d\u0430', 'c0co', 'adrnin', '\u0441\u043e\u0441\u043e\u0441'])
      assert.is((await call('POST', '/api/users', { token, body: { username, password: goodPassword } })).status, 201)
    const cased = { username: 'ADMIN', password: goodPassword }
    assert.equal((await call('POST', '/api/users', { token, body: cased })).body.details, ['username: is taken'])
    const own = await call('PUT', `/api/users/${mine.user.id}`, {
      token: mine.token,
      body: { username: '\u03bf\u03bd\u03bf' },
    })
    assert.is(own.status, 200, 'what looks like the own name alone is free')
  }))

test('accounts from before that look alike go on working, and what they look like is known after the change', async () => {
  const daemon = await openDaemon()
  const { register, call, home } = daemon
  const { token } = await register('admin')
  const other = await register('other')
  // As an aichat before this one would have kept them.
  const db = await openDatabase(join(home, 'aichat.db'), { check: false })
  db.prepare('UPDATE user SET username = ?, username_key = ? WHERE id = ?').run(
    '\u0430dmin',
    '\u0430dmin',
    other.user.id,
  )
  db.exec('DROP INDEX account_look; ALTER TABLE user DROP COLUMN username_look')
  lackChanges(db, 'accounts-2')
  db.close()
  const again = await openDatabase(join(home, 'aichat.db'), { check: false })
  assert.equal(again.prepare('SELECT DISTINCT username_look FROM user').pluck().all(), ['admin'])
  again.close()

  const login = await call('POST', '/api/auth/login', { body: { username: '\u0430dmin', password: goodPassword } })
  assert.is(login.status, 200)
  const path = `/api/users/${other.user.id}`
  const change = { username: '\u0430dmin', email: 'other@example.org' }
  assert.is((await call('PUT', path, { token: login.body.token, body: change })).status, 200)
  const third = await call('POST', '/api/users', { token, body: { username: 'adm\u0456n', password: goodPassword } })
  assert.is(third.status, 400)
  await daemon.close()
})

test.run()
