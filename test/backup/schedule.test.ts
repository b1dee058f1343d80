// Some with --all only: many processes.
import { copyFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { newName } from '../../src/backup/target.ts'
import { scheduleBackups } from '../../src/server/backup-schedule.ts'
import type { Log, LogEvent } from '../../src/server/log.ts'
import { pluck } from '../helpers/pluck.ts'
import { openDaemon, withDaemon } from '../helpers/program/daemon.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('scheduled backups, and backups over HTTP')

test.whole('an administrator makes, lists, verifies and removes backups; nobody else does', () =>
  withDaemon(async ({ call, register, url }) => {
    const { token } = await register('ada')
    const { token: other } = await register('bob')
    for (const [method, path] of [
      ['POST', '/api/backups'],
      ['GET', '/api/backups'],
      ['GET', '/api/backups/x'],
      ['POST', '/api/backups/x/verify'],
      ['DELETE', '/api/backups/x'],
    ] as const)
      assert.equal([(await call(method, path)).status, (await call(method, path, { token: other })).status], [401, 403])
    const made = await call('POST', '/api/backups', { token, body: {} })
    assert.is(made.status, 201)
    const { name } = made.body
    assert.equal((await call('GET', '/api/backups', { token })).body.backups, [made.body])
    assert.is((await call('POST', `/api/backups/${name}/verify`, { token, body: {} })).body.users, 2)
    for (const path of ['..%2Faichat.db', encodeURIComponent('/etc/passwd'), 'aichat.db', name.replace('2', '1')])
      for (const [method, verb] of [
        ['POST', '/verify'],
        ['GET', ''],
      ] as const)
        assert.is((await call(method, `/api/backups/${path}${verb}`, { token })).status, 404, path)
    const file = await fetch(`${url}/api/backups/${name}`, { headers: { authorization: `Bearer ${token}` } })
    assert.is((await file.arrayBuffer()).byteLength, made.body.bytes)
    assert.is((await call('DELETE', `/api/backups/${name}`, { token })).status, 200)
    assert.is((await call('DELETE', `/api/backups/${name}`, { token })).status, 404)
  }),
)

test('a second backup while one is made is refused with a time to come again', () =>
  withDaemon(async ({ call, register }) => {
    const { token } = await register('ada')
    const answers = await Promise.all([1, 2].map(() => call('POST', '/api/backups', { token, body: {} })))
    assert.equal(answers.map(({ status }) => status).sort(), [201, 503])
    assert.ok(answers.find(({ status }) => status === 503)!.headers.get('retry-after') !== null)
  }))

test.whole('a daemon backs up by its schedule and keeps as many as it is told, of its own alone', async () => {
  await using daemon = await openDaemon({ AICHAT_BACKUP_EVERY: '1h', AICHAT_BACKUP_KEEP: '2' })
  const {
    home,
    installation: { app },
    register,
  } = daemon
  await register('ada')
  const backups = await app.backups()
  const byHand = await backups.create()
  const folder = join(home, 'full-backups')
  const made = await backups.create({ scheduled: true })
  for (const seconds of [1, 2])
    copyFileSync(
      join(folder, made.name),
      join(folder, newName(Date.now() + seconds * 1000, { scheduled: true, encrypted: false })),
    )
  const before = (await backups.list()).filter(({ scheduled }) => scheduled).map(({ name }) => name)
  const removed = await backups.prune(2)
  assert.equal(pluck(removed, 'name'), before.slice(2))
  assert.ok(readdirSync(folder).includes(byHand.name))
})

test.whole('the schedule begins soon after the start, and its end leaves no work', () =>
  withDaemon(
    async ({ installation: { app }, register }) => {
      await register('ada')
      const told: [string, LogEvent | undefined][] = []
      let first = () => {}
      const made = new Promise<void>((resolve) => {
        first = resolve
      })
      const tell = Object.assign(
        (message: string, event?: LogEvent) => {
          told.push([message, event])
          first()
        },
        { isOn: true },
      )
      const log: Pick<Log, 'info' | 'error'> = { error: tell, info: tell }
      const schedule = scheduleBackups(app, log, 1)!
      await made
      await schedule.close()
      assert.is(told[0]![0], 'backed up')
      assert.is((await (await app.backups()).list()).length, 1)
    },
    { AICHAT_BACKUP_EVERY: '1d' },
  ),
)

test('without a schedule in the settings none is kept', () =>
  withDaemon(async ({ installation: { app } }) => {
    const none = Object.assign(() => {}, { isOn: false })
    assert.is(scheduleBackups(app, { error: none, info: none }), undefined)
  }))

test('names sort by time and say who made them', () => {
  const at = Date.UTC(2026, 10, 23, 3, 42, 47)
  assert.match(
    newName(at, { scheduled: true, encrypted: true }),
    /^aichat-20261123T034247Z-[0-9a-f]{4}-auto\.tar\.gz\.age$/,
  )
})

test.run()
