import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { localRunner, openStandIn } from '../../helpers/providers/fake-provider.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat status and doctor')

type Check = { readonly check: string; readonly status: string; readonly detail: string; readonly fix?: string }

test('status names the model that would answer', async () => {
  const runner = await openStandIn(localRunner())
  const home = openFastHome({ OLLAMA_HOST: runner.url, GROQ_API_KEY: 'gsk_0123456789' })
  await home.aichat(['plugin', 'activate', 'groq'])
  const status = JSON.parse((await home.aichat(['status', '--json'])).stdout)
  assert.is(status.mode, 'local')
  assert.equal(status.active_plugin, { id: 'groq', state: 'ready', model: 'llama-3.3-70b-versatile' })
  assert.equal(status.local_runner, { url: runner.url, reachable: true, models: ['llama3:latest'] })
  home.remove()
  await runner.close()
})

test('status names the next step where no model would answer, beside the result', async () => {
  const home = openFastHome()
  const { code, stdout, stderr } = await home.aichat(['status', '--json'])
  assert.is(code, 0)
  assert.is(JSON.parse(stdout).active_plugin, null)
  assert.match(stderr, /`aichat setup` chooses one/)
  assert.is((await home.aichat(['status', '--quiet'])).stderr, '')
  home.remove()
})

test('status names the first budgets near their ends, and says how many more there are', async () => {
  const home = openFastHome()
  for (const plugin of ['anthropic', 'groq', 'mistral', 'openai'])
    await home.aichat(['limit', 'set', `plugin:${plugin}`, '--budget', '0/day', '--budget', '0/month'])
  const { stderr } = await home.aichat(['status'])
  assert.is(stderr.match(/the budget of plugin:/g)?.length, 5)
  assert.match(stderr, /aichat: and 3 more budgets; `aichat limit list` shows all/)
  home.remove()
})

test('doctor finds nothing wrong with a fresh installation', async () => {
  const home = openFastHome()
  const { code, stdout } = await home.aichat(['doctor', '--json'])
  const { checks, next } = JSON.parse(stdout) as { checks: Check[]; next: string }
  assert.is(code, 0, stdout)
  assert.not.ok(checks.some(({ status }) => status === 'failed'))
  assert.is(next, 'no model answers: aichat setup')
  home.remove()
})

test('doctor names a missing key, a broken plugin, a damaged database and an open folder, each with its fix', async () => {
  const home = openFastHome()
  await home.aichat(['plugin', 'activate', 'groq'])
  writeFileSync(join(home.folder, 'plugins', 'broken.json'), '{')
  writeFileSync(join(home.folder, 'aichat.db'), 'this is no database, whatever its name says')
  chmodSync(home.folder, 0o755)
  const { code, stdout } = await home.aichat(['doctor', '--json'])
  const { checks, next } = JSON.parse(stdout) as { checks: Check[]; next: string }
  assert.is(code, 1)
  assert.match(next, /aichat\.db is damaged/)
  const wrong = checks.filter(({ status }) => status !== 'ok')
  for (const part of [
    /GROQ_API_KEY is not set/,
    /invalid plugin "broken"/,
    /aichat\.db is damaged/,
    /can be read by others/,
  ]) {
    const found = wrong.find(({ detail }) => part.test(detail))
    assert.ok(found?.fix, String(part))
  }
  home.remove()
})

test.run()
