import * as assert from 'uvu/assert'
import { withUsers } from '../helpers/program/user-daemon.ts'
import { suite } from '../helpers/suite.ts'

const valid = {
  id: 'mine',
  name: 'Mine',
  type: 'chat',
  endpoint: 'https://api.example.com/v1/chat/completions',
  auth: { header: 'Authorization', prefix: 'Bearer ', key_env: 'MINE_API_KEY' },
  model_map: ['m'],
}

const test = suite('the check of a plugin document')

test('each problem has the line that it is about, a missing field that of its object', () =>
  withUsers(async ({ ada }) => {
    const text = JSON.stringify(
      { ...valid, id: 'Wrong Id', auth: { header: 'Authorization' }, model_map: ['m', 7] },
      null,
      2,
    )
    const { body } = await ada('POST', '/api/plugins/validate', { text })
    assert.is(body.valid, false)
    const lineOf = (field: string) =>
      body.problems.find(({ message }: { message: string }) => message.startsWith(`${field}:`))?.line
    const lines = text.split('\n')
    assert.match(lines[lineOf('id') - 1]!, '"id"')
    assert.match(lines[lineOf('auth.key_env') - 1]!, '"auth"')
    assert.is(lines[lineOf('model_map.1') - 1]!.trim(), '7')
  }))

test('a text that is no JSON has the line of its fault', () =>
  withUsers(async ({ ada }) => {
    const { body } = await ada('POST', '/api/plugins/validate', { text: '{\n  "id": "mine",\n  "name" "Mine"\n}' })
    assert.is(body.valid, false)
    assert.ok(
      body.problems.some(({ line }: { line: number | null }) => line === 3),
      JSON.stringify(body.problems),
    )
  }))

test('a valid document is told with its id, and nothing is installed', () =>
  withUsers(async ({ ada }) => {
    const { body } = await ada('POST', '/api/plugins/validate', { text: JSON.stringify({ ...valid, extra: 1 }) })
    assert.equal([body.valid, body.id, body.installed], [true, 'mine', false])
    assert.is(body.warnings.length, 1)
    assert.is((await ada('GET', '/api/plugins/mine')).status, 404)
    assert.is((await ada('POST', '/api/plugins/validate', { text: 'x'.repeat(300_000) })).status, 400)
  }))

test.run()
