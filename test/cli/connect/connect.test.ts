import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { shellLines, shellOf } from '../../../src/cli/connect/actions.ts'
import { clients } from '../../../src/cli/connect/clients.ts'
import { pluck } from '../../helpers/pluck.ts'
import { suite } from '../../helpers/suite.ts'
import { scene } from './scene.ts'

const test = suite('aichat connect')

test('without a client it lists them, installed or not', () =>
  scene(async ({ run }) => {
    const { clients: rows } = JSON.parse((await run(['connect', '--json'])).stdout)
    assert.equal(pluck(rows, 'client'), Object.keys(clients))
    assert.ok(rows.every(({ program }: { program: null }) => program === null))
    assert.match((await run(['connect'])).stdout, /codex +Codex +responses +not found\n/)
    assert.is((await run(['connect', '--model', 'm'])).code, 64)
    const wrong = await run(['connect', 'codx'])
    assert.is(wrong.code, 64)
    assert.match(wrong.stderr, /Client "codx" not found; did you mean codex\?/)
  }))

test('every client gets a key of its own that works, the same each time, and is pointed at the daemon and the model', () =>
  scene(async ({ run, daemon, home }) => {
    for (const [name, { speaks }] of Object.entries(clients)) {
      const first = await run(['connect', name, '--json'])
      assert.is(first.code, 0, first.stderr)
      const { client, server, model, models, environment, args } = JSON.parse(first.stdout)
      assert.equal([client, server, model, models], [name, daemon.url, 'custom-model', ['custom-model', 'other-model']])
      assert.ok(JSON.stringify([environment, args]).includes(daemon.url), name)
      const file = join(home, 'client-keys', name)
      const key = readFileSync(file, 'utf8').trim()
      assert.is(statSync(file).mode & 0o777, 0o600)
      assert.ok(Object.values(environment).includes(key), name)
      assert.not(JSON.stringify(args).includes(key), 'arguments are seen by other users')
      assert.is(await statusOf(daemon.url, key), 200, speaks)
      assert.is((await run(['connect', name, '--json'])).stdout, first.stdout)
    }
    assert.is((await run(['key', 'revoke', 'codex', '--yes'])).code, 0)
    assert.is((await run(['connect', 'codex'])).code, 0)
    assert.is(await statusOf(daemon.url, readFileSync(join(home, 'client-keys', 'codex'), 'utf8').trim()), 200)
    assert.equal(readdirSync(join(home, 'client-keys')).sort(), Object.keys(clients).sort())
  }))

test('the lines start the program with its settings, in a script too', () =>
  scene(async ({ run, home, daemon }) => {
    const folder = join(home, 'programs')
    mkdirSync(folder)
    writeFileSync(join(folder, 'codex'), '#!/bin/sh\nprintf "%s\\n" "$@"\necho "key $AICHAT_CLIENT_KEY"\n')
    chmodSync(join(folder, 'codex'), 0o755)
    const { stdout } = await run(['connect', 'codex', '--model', 'openai:gpt-4o', '--model', 'custom-model'])
    const script = `${stdout}\ncodex exec "a prompt"`
    const ran = spawnSync('/bin/bash', ['-c', script], { env: { PATH: `${folder}:/bin:/usr/bin` }, encoding: 'utf8' })
    const words = ran.stdout.split('\n')
    assert.equal(words.slice(0, 4), ['-c', 'model="openai:gpt-4o"', '-c', 'model_provider="aichat"'])
    assert.ok(words.includes(`model_providers.aichat.base_url="${daemon.url}/v1"`))
    assert.equal(words.slice(-4, -2), ['exec', 'a prompt'])
    assert.match(words.at(-2)!, /^key aic_/)
  }))

test('values are quoted for the shell', () => {
  const none = { program: undefined, args: [] }
  const variables = { A: `it's $x \\`, B: undefined }
  assert.is(shellLines(variables, none, 'bash'), `export A='it'\\''s $x \\'\nunset B`)
  assert.is(shellLines(variables, none, 'fish'), `set -gx A 'it\\'s $x \\\\'\nset -e B`)
  const program = { program: 'p', args: ['-c', 'a b'] }
  assert.is(shellLines({}, program, 'zsh'), `p() { command p '-c' 'a b' "$@"; }`)
  assert.is(shellLines({}, program, 'fish'), `function p; command p '-c' 'a b' $argv; end`)
  assert.equal(
    [shellOf({ SHELL: '/usr/bin/fish' }), shellOf({ SHELL: '/bin/dash' }), shellOf({})],
    ['fish', 'bash', 'bash'],
  )
})

test('a persona is the model, and the key reaches her alone', () =>
  scene(async ({ run, daemon }) => {
    await run(['persona', 'create', '--name', 'Ada', '--model', 'custom-model'])
    const answer = JSON.parse((await run(['connect', 'opencode', '--persona', 'Ada', '--json'])).stdout)
    assert.is(answer.model, 'persona:Ada')
    const { provider, model } = JSON.parse(answer.environment.OPENCODE_CONFIG_CONTENT)
    assert.is(model, 'aichat/persona:Ada')
    assert.equal(provider.aichat.models, { 'persona:Ada': { name: 'Ada', limit: { context: 100_000, output: 8_000 } } })
    const token = answer.environment.AICHAT_CLIENT_KEY
    const ask = (wanted: string) =>
      daemon.call('POST', '/v1/chat/completions', {
        token,
        body: { model: wanted, messages: [{ role: 'user', content: 'hi' }] },
      })
    assert.is((await ask('persona:Ada')).status, 200)
    assert.is((await ask('custom-model')).status, 403)
    const other = JSON.parse((await run(['connect', 'opencode', '--model', 'other-model', '--json'])).stdout)
    assert.is.not(other.environment.AICHAT_CLIENT_KEY, token)
    const nobody = await run(['connect', 'opencode', '--persona', 'Bob'])
    assert.is(nobody.code, 67)
    assert.match(nobody.stderr, /No persona is named "Bob"\n {2}There are: Ada/)
    assert.is((await run(['connect', 'codex', '--persona', 'Ada', '--model', 'm'])).code, 64)
  }))

test('a given key is used and tried first; none is made or kept', () =>
  scene(async ({ run, home }) => {
    const key = (await run(['key', 'create', 'own'])).stdout.trim()
    const { stdout } = await run(['connect', 'openai', '--key', '-'], `${key}\n`)
    assert.match(stdout, `export OPENAI_API_KEY='${key}'\n`)
    const { code, stderr } = await run(['connect', 'openai', '--key', 'aic_wrong'])
    assert.is(code, 77)
    assert.match(stderr, /does not take the key/)
    assert.not(existsSync(join(home, 'client-keys')))
    assert.is(JSON.parse((await run(['key', 'list', '--json'])).stdout).keys.length, 1)
  }))

test('a model of the active plugin may be named with the plugin; one that is not listed is used with a remark', () =>
  scene(async ({ run }) => {
    const named = ['custom:custom-model', 'persona:Ada'].flatMap((model) => ['--model', model])
    const { code, stderr } = await run(['connect', 'codex', ...named])
    assert.is(code, 0, stderr)
    assert.not.match(stderr, /is not in the list/)
    assert.match((await run(['connect', 'codex', '--model', 'm'])).stderr, /m is not in the list of models/)
  }))

test('without a daemon, or beside one on another folder, it says what to start', () =>
  scene(async ({ run, daemon }) => {
    await run(['config', 'set', 'api.port', '9'])
    const none = await run(['connect', 'codex'])
    assert.is(none.code, 69)
    assert.match(none.stderr, /No aichat answers at http:\/\/127\.0\.0\.1:9\n {2}Start it: aichat serve\n/)
    await scene(async (other) => {
      await other.run(['config', 'set', 'api.port', new URL(daemon.url).port])
      const { code, stderr } = await other.run(['connect', 'codex'])
      assert.is(code, 64)
      assert.match(stderr, /works on another data folder[\s\S]*To use it: --server/)
    })
  }))

test.run()

async function statusOf(url: string, key: string): Promise<number> {
  const response = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
  await response.text()
  return response.status
}
