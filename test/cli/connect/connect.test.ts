import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import * as assert from 'uvu/assert'
import { clients } from '../../../src/cli/connect/clients.ts'
import { pluck } from '../../helpers/pluck.ts'
import { runMain } from '../../helpers/program/terminal.ts'
import { suite } from '../../helpers/suite.ts'
import { type Scene, scene } from './scene.ts'

const test = suite('aichat connect')

const codexFile = '# mine\nmodel = "gpt-5" # best\n\n[tui]\ntheme = "x"\n'

test('without a client it lists them: installed, connected', () =>
  scene(async ({ run }) => {
    const { clients: before } = JSON.parse((await run(['connect', '--json'])).stdout)
    assert.equal(pluck(before, 'client'), Object.keys(clients))
    assert.ok(before.every(({ connected, program }: { connected: boolean; program: null }) => !connected && !program))
    await run(['connect', 'codex'])
    assert.match(
      (await run(['connect'])).stdout,
      /codex +Codex +responses +not found +http\S+, custom-model +\S+config\.toml\n/,
    )
    assert.is((await run(['connect', '--model', 'm'])).code, 64)
    const wrong = await run(['connect', 'codx'])
    assert.is(wrong.code, 64)
    assert.match(wrong.stderr, /Client "codx" not found; did you mean codex\?/)
  }))

test('every client with files is connected, stays so a second time, and is as before after --undo', () =>
  scene(async ({ home, run, daemon }) => {
    const before = tree(home)
    for (const [name, { file, speaks }] of Object.entries(clients)) {
      if (!file) continue
      const first = JSON.parse((await run(['connect', name, '--json'])).stdout)
      assert.equal([first.client, first.server, first.model, first.changed], [name, daemon.url, 'custom-model', true])
      assert.equal(first.models, ['custom-model', 'other-model'])
      const key = readFileSync(first.key_file, 'utf8').trim()
      assert.is(statSync(first.key_file).mode & 0o777, 0o600)
      for (const { path, backup } of first.files) {
        assert.is(backup, null)
        const text = readFileSync(path, 'utf8')
        assert.ok(text.includes('custom-model') || text.includes(key), path)
        if (text.includes(key)) assert.is(statSync(path).mode & 0o777, 0o600, path)
      }
      const written = tree(home)
      const second = JSON.parse((await run(['connect', name, '--json'])).stdout)
      assert.equal([second.changed, second.key_id], [false, first.key_id])
      assert.equal(tree(home), written)
      assert.is(await statusOf(daemon.url, key), 200, speaks)
      const undone = JSON.parse((await run(['connect', name, '--undo', '--json'])).stdout)
      assert.equal([undone.key_revoked, undone.files.length], [true, first.files.length])
      assert.is(await statusOf(daemon.url, key), 401)
      assert.equal(tree(home), before, name)
      assert.is((await run(['connect', name, '--undo'])).code, 67)
    }
  }))

test('a file of the user keeps its comments and its mode behind a link, with a copy beside it', () =>
  scene(async ({ home, run }) => {
    const { file, link } = linkedCodex(home)
    chmodSync(file, 0o640)
    const { code, stdout, stderr } = await run(['connect', 'codex', '--model', 'openai:gpt-4o', '--model', 'm'])
    assert.is(code, 0, stderr)
    assert.is(stdout, `${file}\n`)
    assert.match(stderr, /m is not in the list of models/)
    assert.ok(lstatSync(link).isSymbolicLink())
    const text = readFileSync(file, 'utf8')
    assert.match(
      text,
      /^# mine\nmodel = "openai:gpt-4o" # best\nmodel_provider = "aichat"\n\n\[tui\]\ntheme = "x"\n\n\[model_providers\.aichat\]\n/,
    )
    assert.match(text, /args = \[ ".*client-keys\/codex" \]/)
    assert.is(statSync(file).mode & 0o777, 0o640)
    assert.is(readFileSync(`${file}.aichat-backup`, 'utf8'), codexFile)
    assert.is((await run(['connect', 'codex', '--undo'])).code, 0)
    assert.equal([readFileSync(file, 'utf8'), statSync(file).mode & 0o777], [codexFile, 0o640])
    assert.not(existsSync(`${file}.aichat-backup`))
  }))

test('--undo of a file that has changed since takes out its own fields, and keeps the others', () =>
  scene(async ({ home, run }) => {
    const { file } = linkedCodex(home)
    await run(['connect', 'codex'])
    writeFileSync(file, `${readFileSync(file, 'utf8').replace('theme = "x"', 'theme = "y"')}\n[added]\na = 1\n`)
    // Connected anew, its own fields are those of the second time.
    await run(['connect', 'codex', '--model', 'other-model'])
    const { code, stderr } = await run(['connect', 'codex', '--undo'])
    assert.is(code, 0, stderr)
    assert.is(readFileSync(file, 'utf8').trim(), `${codexFile.replace('"x"', '"y"')}\n[added]\na = 1`)
    await run(['connect', 'codex'])
    writeFileSync(file, readFileSync(file, 'utf8').replace('model = "custom-model"', 'model = "gpt-6"'))
    const undone = await run(['connect', 'codex', '--undo'])
    assert.match(undone.stderr, /changed since and left as it is in .*dotfiles\.toml: model\n/)
    assert.match(readFileSync(file, 'utf8'), /model = "gpt-6" # best\n\n\[tui\]/)
    assert.not(readFileSync(file, 'utf8').includes('aichat'))
  }))

test('a file that is broken since is left alone by --undo, which names the copy', () =>
  scene(async ({ home, run }) => {
    const { file } = linkedCodex(home)
    await run(['connect', 'codex'])
    writeFileSync(file, 'a = [')
    const { code, stderr } = await run(['connect', 'codex', '--undo'])
    assert.is(code, 65)
    assert.match(stderr, /was left as it is: it does not parse/)
    assert.match(stderr, /The file as it was is .*dotfiles\.toml\.aichat-backup/)
    assert.is(readFileSync(file, 'utf8'), 'a = [')
    writeFileSync(file, codexFile)
    assert.is((await run(['connect', 'codex', '--undo'])).code, 0)
  }))

const refused: readonly (readonly [title: string, make: (file: string) => void, reason: RegExp])[] = [
  ['broken', (file) => writeFileSync(file, 'model = "a'), /it does not parse/],
  [
    'of another shape',
    (file) => writeFileSync(file, 'model_providers = 3\n'),
    /model_providers holds another kind of value/,
  ],
  ['no UTF-8', (file) => writeFileSync(file, Buffer.from([0x61, 0xff, 0x0a])), /it is no UTF-8 text/],
  ['huge', (file) => writeFileSync(file, '# x\n'.repeat(100_000)), /larger than 256 KiB/],
  ['a folder', (file) => mkdirSync(file), /no regular file/],
  ['read-only', readOnly, /it is read-only/],
  ['a link to nothing', (file) => symlinkSync(`${file}.gone`, file), /a symbolic link to nothing/],
]

for (const [title, make, reason] of refused)
  test(`a file that is ${title} is left as it is, and no key is made`, () =>
    scene(async ({ home, run }) => {
      const file = join(home, '.codex', 'config.toml')
      mkdirSync(dirname(file))
      make(file)
      const before = tree(home)
      const { code, stdout, stderr } = await run(['connect', 'codex'])
      assert.equal([code, stdout], [65, ''])
      assert.match(stderr, reason)
      assert.ok(stderr.includes(file))
      assert.equal(tree(home), before)
      assert.equal(JSON.parse((await run(['key', 'list', '--json'])).stdout).keys, [])
    }))

test('a persona is the model, and the key reaches her alone', () =>
  scene(async ({ home, run, daemon }) => {
    await run(['persona', 'create', '--name', 'Ada', '--model', 'custom-model'])
    const answer = JSON.parse((await run(['connect', 'opencode', '--persona', 'Ada', '--json'])).stdout)
    assert.is(answer.model, 'persona:Ada')
    const { provider, model } = JSON.parse(readFileSync(join(home, '.config', 'opencode', 'opencode.json'), 'utf8'))
    assert.is(model, 'aichat/persona:Ada')
    assert.equal(provider.aichat.models, { 'persona:Ada': { name: 'Ada', limit: { context: 100_000, output: 8_000 } } })
    const token = readFileSync(answer.key_file, 'utf8').trim()
    const ask = (wanted: string) =>
      daemon.call('POST', '/v1/chat/completions', {
        token,
        body: { model: wanted, messages: [{ role: 'user', content: 'hi' }] },
      })
    assert.is((await ask('persona:Ada')).status, 200)
    assert.is((await ask('custom-model')).status, 403)
    // Another model is another key: the old one is dead.
    await run(['connect', 'opencode', '--model', 'other-model'])
    assert.is(await statusOf(daemon.url, token), 401)
    const nobody = await run(['connect', 'opencode', '--persona', 'Bob'])
    assert.is(nobody.code, 67)
    assert.match(nobody.stderr, /No persona is named "Bob"\n {2}There are: Ada/)
    assert.is((await run(['connect', 'codex', '--persona', 'Ada', '--model', 'm'])).code, 64)
  }))

test('a given key is used, tried first, and not revoked by --undo', () =>
  scene(async ({ run, daemon, home }) => {
    const key = (await run(['key', 'create', 'own'])).stdout.trim()
    const connected = JSON.parse((await run(['connect', 'opencode', '--key', '-', '--json'], `${key}\n`)).stdout)
    assert.equal([connected.key_id, readFileSync(connected.key_file, 'utf8')], [null, `${key}\n`])
    await run(['connect', 'opencode', '--undo'])
    assert.is(await statusOf(daemon.url, key), 200)
    const { code, stderr } = await run(['connect', 'opencode', '--key', 'aic_wrong'])
    assert.is(code, 77)
    assert.match(stderr, /does not take the key/)
    assert.not(existsSync(join(home, '.config', 'opencode', 'opencode.json')))
  }))

test('--print changes nothing and makes no key for a file', () =>
  scene(async ({ home, run }) => {
    const { file } = linkedCodex(home)
    const before = tree(home)
    const { code, stdout } = await run(['connect', 'codex', '--print'])
    assert.is(code, 0)
    assert.match(stdout, /^==> .*dotfiles\.toml <==\n# mine\nmodel = "custom-model" # best\n/)
    const [shown] = JSON.parse((await run(['connect', 'opencode', '--print', '--json'])).stdout).files
    assert.match(shown.content, /aichat\/custom-model/)
    assert.equal([tree(home), readFileSync(file, 'utf8')], [before, codexFile])
    assert.equal(JSON.parse((await run(['key', 'list', '--json'])).stdout).keys, [])
  }))

test('a library gets lines for the shell, the same each time, whose key dies with --undo', () =>
  scene(async ({ run, daemon }) => {
    const first = await run(['connect', 'openai'])
    const [, key] =
      /^export OPENAI_BASE_URL='http:\/\/127\.0\.0\.1:\d+\/v1'\nexport OPENAI_API_KEY='(aic_\w+)'\n$/.exec(
        first.stdout,
      ) ?? []
    assert.ok(key, first.stdout)
    assert.is((await run(['connect', 'openai'])).stdout, first.stdout)
    const fish = (await run(['connect', 'anthropic', '--shell', 'fish'])).stdout
    assert.match(
      fish,
      /^set -gx ANTHROPIC_BASE_URL 'http:\/\/127\.0\.0\.1:\d+'\nset -gx ANTHROPIC_API_KEY 'aic_\w+'\nset -e ANTHROPIC_AUTH_TOKEN\n$/,
    )
    assert.match(
      (await run(['connect', 'claude', '--print'])).stdout,
      /^export ANTHROPIC_BASE_URL=[\s\S]*\nunset ANTHROPIC_API_KEY\n$/,
    )
    assert.is(await statusOf(daemon.url, key), 200)
    await run(['connect', 'openai', '--undo'])
    assert.is(await statusOf(daemon.url, key), 401)
  }))

test('another place of a client is refused until the first one is undone', () =>
  scene(async ({ home, environment, run }) => {
    const at = (folder: string, ...words: readonly string[]) =>
      runMain(['connect', 'codex', ...words], { environment: { ...environment, CODEX_HOME: join(home, folder) } })
    assert.is((await at('one')).code, 0)
    const refused = await at('two')
    assert.is(refused.code, 64)
    assert.match(refused.stderr, /connected by .*one\/config\.toml[\s\S]*--undo/)
    // Undoing needs no variable.
    assert.is((await run(['connect', 'codex', '--undo'])).code, 0)
    assert.is((await at('two')).code, 0)
  }))

test('commands at the same moment leave one connection with one key that works', () =>
  scene(async ({ run, home }) => {
    const before = tree(home)
    await Promise.all([1, 2, 3].map(() => run(['connect', 'codex'])))
    const { keys } = JSON.parse((await run(['key', 'list', '--json'])).stdout)
    assert.is(keys.filter(({ state }: { state: string }) => state !== 'revoked').length, 1)
    assert.is((await run(['connect', 'codex', '--undo'])).code, 0)
    assert.equal(tree(home), before)
  }))

test('a model of the active plugin may be named with the plugin', () =>
  scene(async ({ run }) => {
    const named = ['custom:custom-model', 'persona:Ada'].flatMap((model) => ['--model', model])
    const { code, stderr } = await run(['connect', 'codex', ...named])
    assert.is(code, 0, stderr)
    assert.not.match(stderr, /is not in the list/)
  }))

test('printed lines hold one key, and the client does not count as connected', () =>
  scene(async ({ run }) => {
    const lines = (await run(['connect', 'claude', '--print'])).stdout
    assert.is((await run(['connect', 'claude', '--print'])).stdout, lines)
    const { clients: rows } = JSON.parse((await run(['connect', '--json'])).stdout)
    assert.ok(rows.every(({ connected }: { connected: boolean }) => !connected))
    assert.ok(JSON.parse((await run(['connect', 'claude', '--undo', '--json'])).stdout).key_revoked)
  }))

test('options without an effect are refused', () =>
  scene(async ({ run }) => {
    for (const words of [
      ['codex', '--undo', '--model', 'm'],
      ['codex', '--shell', 'fish'],
      ['claude', '--shell', 'fish'],
    ])
      assert.is((await run(['connect', ...words])).code, 64, words.join(' '))
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

/** A file of Codex behind a symbolic link. */
function linkedCodex(home: string): { readonly file: string; readonly link: string } {
  const [file, link] = [join(home, 'dotfiles.toml'), join(home, '.codex', 'config.toml')]
  mkdirSync(dirname(link))
  writeFileSync(file, codexFile)
  symlinkSync(file, link)
  return { file, link }
}

function readOnly(file: string): void {
  writeFileSync(file, codexFile)
  chmodSync(file, 0o444)
}

/** The files of a home, without those of aichat, and their contents. */
function tree(folder: string): Readonly<Record<string, string>> {
  const own = /^(?:aichat\.db|client-keys|connections|token-secret|usage|plugins|config\.json)/
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => !own.test(name))
  return Object.fromEntries(
    names.sort().flatMap((name) => {
      const stat = lstatSync(join(folder, name))
      if (stat.isDirectory()) return []
      return [[name, stat.isFile() ? `${stat.mode.toString(8)} ${readFileSync(join(folder, name), 'utf8')}` : '']]
    }),
  )
}

async function statusOf(url: Scene['home'], key: string): Promise<number> {
  const response = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
  await response.text()
  return response.status
}
