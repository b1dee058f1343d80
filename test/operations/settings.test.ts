import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { withDaemon } from '../helpers/program/daemon.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('settings over the API')

test('a live setting is written, in force at once and recorded; what the API may not change says why and stays', () =>
  withDaemon(
    async ({ home, call, register }) => {
      const { token } = await register('ada')
      const set = (name: string, value: unknown) => call('PUT', `/api/settings/${name}`, { token, body: { value } })
      const isOpen = async () => (await call('GET', '/api/auth/system-info')).body.registration_enabled
      const stored = () => JSON.parse(readFileSync(join(home, 'config.json'), 'utf8'))

      const off = await set('accounts.allow_registration', 'false')
      assert.equal([off.status, off.body.value, off.body.origin, off.body.fixed], [200, 'false', 'file', null])
      assert.is(await isOpen(), false)
      assert.is((await set('accounts.allow_registration', null)).body.origin, 'default')
      assert.is(await isOpen(), true)
      const { entries } = (await call('GET', '/api/audit?action=settings', { token })).body
      assert.equal(
        entries.map(({ action, subject }: Record<string, string>) => `${action} ${subject}`),
        ['settings.unset accounts.allow_registration', 'settings.set accounts.allow_registration'],
      )

      await set('backup.keep', '3')
      for (const [name, value, status, reason] of [
        ['backup.keep', 'many', 400, 'must be a whole number from 1'],
        ['backup.keep', 'sk-proj-0123456789abcdefghijABCDEFGHIJ', 400, 'looks like a secret'],
        ['api.port', '4000', 400, 'Needs a restart'],
        ['plugins.key_hosts', 'OPENAI_API_KEY=example.org', 400, 'Only on the machine of the service'],
        ['chat.titles', 'model', 400, 'For commands at a terminal'],
        ['log.level', 'debug', 400, 'The variable AICHAT_LOG_LEVEL of the service sets it'],
        ['no.such', '1', 404, 'Setting not found'],
      ] as const) {
        const answer = await set(name, value)
        assert.is(answer.status, status, name)
        assert.match(JSON.stringify(answer.body), reason)
      }
      assert.equal(stored(), { 'backup.keep': '3' })

      writeFileSync(join(home, 'config.json'), '{"backup.keep":"3","audit.keep_days":"soon"}')
      const refused = await set('backup.keep', '4')
      assert.is(refused.status, 503)
      assert.match(JSON.stringify(refused.body), /audit\.keep_days/)
      assert.is(stored()['backup.keep'], '3')
    },
    { AICHAT_LOG_LEVEL: 'error' },
  ))

test.run()
