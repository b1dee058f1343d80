import * as assert from 'uvu/assert'
import { goodPassword, withDaemon } from '../../helpers/program/daemon.ts'
import { openFastHome, type Ran } from '../../helpers/program/terminal.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat key')
const secretText = /^aic_[0-9A-Za-z]{38}\n$/
const dayMs = 86_400_000

type Run = (words: readonly string[], input?: string) => Promise<Ran>

/** The commands in this process on a data folder, and through a daemon. */
const places: readonly (readonly [string, (work: (run: Run) => Promise<void>) => Promise<void>])[] = [
  ['in this process', inProcess],
  ['through a daemon', throughDaemon],
]

for (const [where, within] of places) {
  test(`${where} create prints the key alone, and everything else on stderr`, () =>
    within(async (run) => {
      const made = await run([
        'key',
        'create',
        'ci',
        '--expires',
        '90d',
        '--model',
        'openai:gpt-4o*',
        '--plugin',
        'openai,local',
      ])
      assert.is(made.code, 0, made.stderr)
      assert.match(made.stdout, secretText)
      assert.match(made.stderr, /ci is [0-9a-f-]{36}, valid until \d+ \w{3}.*only time/)
      assert.not(made.stderr.includes(made.stdout.trim()))
      const { keys } = JSON.parse((await run(['key', 'list', '--json'])).stdout)
      assert.equal([keys[0].name, keys[0].models, keys[0].plugins], ['ci', ['openai:gpt-4o*'], ['openai', 'local']])
      assert.ok(Math.abs(keys[0].expires_at - Date.now() - 90 * dayMs) < dayMs)
      const json = JSON.parse((await run(['key', 'create', '--json', '--scope', 'chat', '--scope', 'models'])).stdout)
      assert.equal([json.name, json.scopes, json.secret.length], ['unnamed', ['chat', 'models'], 42])
    }))

  test(`${where} a key is found by its name as well, where one live key has it`, () =>
    within(async (run) => {
      const first = JSON.parse((await run(['key', 'create', 'ci', '--json'])).stdout)
      assert.match((await run(['key', 'show', 'ci'])).stdout, first.id)
      assert.match((await run(['key', 'rotate', 'ci'])).stdout, secretText)
      assert.is((await run(['limit', 'set', 'key:ci', '--rpm', '5'])).code, 0)
      assert.match((await run(['limit', 'list'])).stdout, `key:${first.id}`)
      assert.is((await run(['usage', '--key', 'ci'])).code, 0)
      const second = JSON.parse((await run(['key', 'create', 'ci', '--json'])).stdout)
      const both = await run(['key', 'revoke', 'ci'])
      assert.is(both.code, 64)
      assert.match(both.stderr, /Several API keys are named "ci"/)
      assert.match(both.stderr, `${second.id} (live)`)
      assert.is((await run(['key', 'revoke', second.id])).code, 0)
      assert.is((await run(['key', 'revoke', 'ci'])).stdout, `${first.id}\n`)
      assert.is((await run(['key', 'show', 'nobody'])).code, 67)
    }))

  test(`${where} list, show, update, rotate and revoke go by the id`, () =>
    within(async (run) => {
      const { id, secret } = JSON.parse((await run(['key', 'create', 'ci', '--json'])).stdout)
      assert.match(
        (await run(['key', 'list'])).stdout,
        new RegExp(`${id} +ci +ada +live +…${secret.slice(-4)} +never +never`),
      )
      const shown = await run(['key', 'show', id])
      assert.match(shown.stdout, /scopes +chat, embeddings, speech, models\nmodels +all\n/)
      assert.is(
        (await run(['key', 'update', id, '--name', 'new', '--model', 'gpt*', '--expires', '1h'])).stdout,
        `${id}\n`,
      )
      const changed = JSON.parse((await run(['key', 'show', id, '--json'])).stdout)
      assert.equal([changed.name, changed.models], ['new', ['gpt*']])
      await run(['key', 'update', id, '--model', '', '--expires', 'never'])
      const opened = JSON.parse((await run(['key', 'show', id, '--json'])).stdout)
      assert.equal([opened.models, opened.expires_at], [undefined, null])
      const rotated = await run(['key', 'rotate', id, '--overlap', '1h'])
      assert.match(rotated.stdout, secretText)
      assert.match(rotated.stderr, new RegExp(`old secret …${secret.slice(-4)} works until`))
      assert.match((await run(['key', 'show', id])).stdout, /\nsecret +….*\nold secret +….*until/)
      const revoked = await run(['key', 'revoke', id])
      assert.equal([revoked.code, revoked.stdout], [0, `${id}\n`])
      assert.match((await run(['key', 'list'])).stdout, / revoked /)
      assert.is((await run(['key', 'rotate', id])).code, 65)
    }))

  test(`${where} wrong values are named by their options`, () =>
    within(async (run) => {
      const { id } = JSON.parse((await run(['key', 'create', '--json'])).stdout)
      for (const [words, code, told] of [
        [['key', 'create', '--scope', 'admin'], 65, /--scope/],
        [['key', 'create', '--expires', 'soon'], 65, /--expires: must be a duration such as 90d/],
        [['key', 'create', '--model', 'llama3:8b'], 65, /\*:llama3:8b/],
        [['key', 'create', '--persona', 'Nobody'], 65, /no persona "Nobody"/],
        [['key', 'create', '--user', 'nobody'], 67, /nobody/],
        [['key', 'rotate', id, '--overlap', '8d'], 65, /--overlap/],
        [['key', 'update', id], 64, /Nothing to change/],
        [['key', 'show', 'nope'], 67, /nope/],
        [['key', 'revoke', id, 'nope'], 67, /nope/],
      ] as const) {
        const refused = await run(words)
        assert.is(refused.code, code, `${words.join(' ')}: ${refused.stderr}`)
        assert.match(refused.stderr, told)
      }
      assert.is(JSON.parse((await run(['key', 'show', id, '--json'])).stdout).state, 'live', 'nothing was half done')
    }))

  test(`${where} an administrator makes keys for others and lists all`, () =>
    within(async (run) => {
      await run(['users', 'create', 'bob', '--password-stdin'], goodPassword)
      await run(['key', 'create', 'hers'])
      const made = await run(['key', 'create', 'his', '--user', 'bob', '--json'])
      assert.is(JSON.parse(made.stdout).username, 'bob')
      const names = async (...more: readonly string[]) =>
        JSON.parse((await run(['key', 'list', '--json', ...more])).stdout).keys.map(
          ({ name }: { name: string }) => name,
        )
      assert.equal(
        [await names(), await names('--user', 'bob'), await names('--all')],
        [['hers'], ['his'], ['hers', 'his']],
      )
      const reset = await run(['users', 'reset-password', 'bob'])
      assert.match(reset.stderr, /1 API key of bob still works; --revoke-keys ends them/)
      assert.match((await run(['users', 'reset-password', 'bob', '--revoke-keys'])).stderr, /1 API key of bob revoked/)
      assert.equal(JSON.parse((await run(['key', 'list', '--user', 'bob', '--json'])).stdout).keys[0].state, 'revoked')
    }))
}

test('passwd tells how many keys live, and revokes them on request', () =>
  throughDaemon(async (run) => {
    await run(['key', 'create'])
    await run(['key', 'create'])
    const kept = await run(['passwd', '--password-stdin'], `${goodPassword}\nN3wpassword\n`)
    assert.is(kept.code, 0, kept.stderr)
    assert.match(kept.stderr, /2 API keys of ada still work; --revoke-keys ends them/)
  }))

test('a key stands in for a login where its scopes reach, and is refused with exit 77 beyond them', () =>
  withDaemon(async (daemon) => {
    const { token } = await daemon.register('ada')
    const { body } = await daemon.call('POST', '/api/keys', { token, body: { scopes: ['models'] } })
    const home = openFastHome({ AICHAT_SERVER: daemon.url, AICHAT_TOKEN: body.secret })
    assert.is((await home.aichat(['models', 'list'])).code, 0)
    const refused = await home.aichat(['persona', 'list'])
    assert.is(refused.code, 77)
    assert.match(refused.stderr, /lacks the scope personas/)
    assert.is((await home.aichat(['key', 'list'])).code, 77)
    home.remove()
  }))

test('without a user there is nobody to own a key', async () => {
  const home = openFastHome()
  const refused = await home.aichat(['key', 'create'])
  assert.is(refused.code, 78)
  assert.match(refused.stderr, /No user found to own.*aichat setup/s)
  home.remove()
})

test.run()

async function inProcess(work: (run: Run, folder: string) => Promise<void>): Promise<void> {
  using home = openFastHome()
  const run: Run = (words, input) => home.aichat(words, input === undefined ? {} : { input }) as Promise<Ran>
  assert.is((await run(['setup', '--username', 'ada', '--password-stdin'], goodPassword)).code, 0)
  await work(run, home.folder)
}

function throughDaemon(work: (run: Run) => Promise<void>): Promise<void> {
  return withDaemon(async (daemon) => {
    const { token } = await daemon.register('ada')
    using home = openFastHome({ AICHAT_SERVER: daemon.url, AICHAT_TOKEN: token })
    await work((words, input) => home.aichat(words, input === undefined ? {} : { input }) as Promise<Ran>)
  })
}
