import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { withDaemon } from '../helpers/program/daemon.ts'
import { openUsers } from '../helpers/program/user-daemon.ts'
import { completion, json } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('what is wiped is on the disk no more')

const said = 'The zyzzyva sleeps under the xylophone.'

test('a wiped memory, an evicted one, a removed conversation and a removed persona', async () => {
  await using users = await openUsers({ provider: (_request, response) => json(response, 200, completion('Hm.')) })
  const {
    ada,
    persona,
    installation: { home },
  } = users
  const path = await persona({ memory_settings: { enabled: true, max_memories: 2 } })
  const store = async () => {
    await ada('POST', `${path}/memory`, { content: said, importance_score: 0, metadata: { category: 'zyzzyva' } })
    assert.ok(traces(home).length > 0)
  }
  await store()
  await ada('DELETE', `${path}/memory?category=zyzzyva`)
  assert.equal(traces(home), [], 'wiped by category')
  await store()
  await ada('DELETE', `${path}/memory`)
  assert.equal(traces(home), [], 'wiped whole')
  await store()
  for (const content of ['tea', 'coffee']) await ada('POST', `${path}/memory`, { content })
  assert.equal(traces(home), [], 'evicted')
  await ada('POST', '/api/sessions', { name: 'Talk' })
  await ada('POST', '/api/chat', { session: 'Talk', messages: [{ role: 'user', content: said }] })
  assert.ok(traces(home).length > 0)
  await ada('DELETE', '/api/sessions/Talk')
  assert.equal(traces(home), [], 'a conversation')
  await store()
  await ada('POST', `${path}/backup`)
  await ada('PUT', path, { description: said, system_prompt: said })
  await ada('DELETE', path)
  assert.equal(traces(home), [], 'a persona with its backup')
})

test('everything of a removed user', () =>
  withDaemon(async ({ home, call, register }) => {
    const [ada, bob] = [await register('ada'), await register('bob')]
    const { body } = await call('POST', '/api/personas', { token: bob.token, body: { name: 'His', model: 'm' } })
    await call('POST', `/api/personas/${body.id}/memory`, { token: bob.token, body: { content: said } })
    assert.ok(traces(home).length > 0)
    assert.is((await call('DELETE', `/api/users/${bob.user.id}`, { token: ada.token })).status, 200)
    assert.equal(traces(home), [])
  }))

test.run()

/** The files below a folder in which one of the telling words stands, as text or as a term of the index. */
function traces(home: string): string[] {
  return readdirSync(home, { recursive: true, encoding: 'utf8' })
    .map((name) => join(home, name))
    .filter((path) => statSync(path).isFile())
    .filter((path) => {
      const text = readFileSync(path, 'latin1').toLowerCase()
      return text.includes('zyzzyva') || text.includes('xylophon')
    })
}
