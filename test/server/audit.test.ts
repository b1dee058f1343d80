import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { openApp } from '../../src/app/compose.ts'
import { readSettings } from '../../src/settings/read-settings.ts'
import { openDatabase } from '../../src/storage/sqlite/database.ts'
import { closing } from '../helpers/disposal.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { pluck } from '../helpers/pluck.ts'
import { goodPassword, withDaemon } from '../helpers/program/daemon.ts'
import { pluginAt } from '../helpers/program/installation.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the audit over HTTP')

const credentials = { username: 'ada', password: goodPassword }
const dayMs = 86_400_000

test('administrators read who changed what over HTTP and from where, without contents and without reads', () =>
  withDaemon(async ({ call, register }) => {
    const { token, user } = await register('admin')
    await call('POST', '/api/plugins/install', { token, body: pluginAt('http://127.0.0.1:9') })
    await call('POST', '/api/plugins/activate/custom', { token })
    const made = await call('POST', '/api/users', { token, body: credentials })
    const { id } = made.body
    await call('PUT', `/api/users/${id}`, { token, body: { email: 'ada@example.org' } })
    await call('PUT', `/api/users/${id}`, { token, body: { role: 'admin' } })
    await call('POST', '/api/auth/reset-password', { token, body: { user_id: id, new_password: 'Secr3t-new' } })
    await call('POST', '/api/auth/login', { body: { username: 'ada', password: 'Typed-1nstead' } })
    const key = await call('POST', '/api/keys', { token, body: { name: 'ci', scopes: ['chat'] } })
    const persona = await call('POST', '/api/personas', {
      token,
      body: { name: 'Confidential', model: 'custom-model' },
    })
    await call('DELETE', `/api/personas/${persona.body.id}/memory`, { token })
    await call('POST', `/api/personas/${persona.body.id}/export`, { token, body: {} })
    await call('DELETE', `/api/users/${id}`, { token })
    await call('GET', '/api/users', { token })
    const { status, body } = await call('GET', '/api/audit', { token })
    assert.is(status, 200)
    const { id: personaId } = persona.body
    assert.equal(
      body.entries.map((entry: Record<string, unknown>) => [entry['action'], entry['subject'], entry['subject_name']]),
      [
        ['users.remove', id, 'ada'],
        ['personas.export', personaId, null],
        ['memories.wipe', personaId, null],
        ['keys.create', key.body.id, 'ci'],
        ['login', id, 'ada'],
        ['auth.reset-password', id, 'ada'],
        ['users.role', id, 'ada'],
        ['users.update', id, 'ada'],
        ['users.create', id, 'ada'],
        ['plugins.activate', 'custom', null],
        ['plugins.install', 'custom', null],
        ['register', null, null],
      ],
    )
    const [removed, ...others] = body.entries
    assert.equal(
      { ...removed, at: typeof removed.at },
      {
        ...{
          at: 'number',
          actor: user.id,
          actor_name: 'admin',
          action: 'users.remove',
          subject: id,
          subject_name: 'ada',
        },
        ...{ address: '127.0.0.1', outcome: 'ok' },
      },
    )
    assert.equal(pluck(others, 'outcome'), ['ok', 'ok', 'ok', 'failed', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok', 'ok'])
    for (const secret of ['Confidential', 'Secr3t', 'Typed', key.body.secret, 'example.org'])
      assert.not.ok(JSON.stringify(body).includes(secret), secret)
  }))

test('a service removes entries of the audit that are older than audit.keep_days, and 0 keeps them', async () => {
  for (const [keepDays, kept] of [
    ['30', ['young']],
    ['0', ['old', 'young']],
  ] as const) {
    const home = temporaryFolder()
    await using db = closing(await openDatabase(join(home, 'aichat.db')))
    const add = db.prepare("INSERT INTO audit (at, action, outcome) VALUES (?, ?, 'ok')")
    add.run(Date.now() - 31 * dayMs, 'old')
    add.run(Date.now() - 29 * dayMs, 'young')
    const settings = readSettings({ AICHAT_HOME: home, AICHAT_AUDIT_KEEP_DAYS: keepDays })
    const app = await openApp(settings, { service: true })
    await app.accounts()
    await app.close()
    assert.equal(db.prepare('SELECT action FROM audit ORDER BY at').pluck().all(), kept)
  }
})

test.run()
