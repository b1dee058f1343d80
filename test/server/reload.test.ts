// Some with --all only: many processes.
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { temporaryFolder } from '../helpers/folders.ts'
import { removeHome, type SpawnedDaemon, spawnDaemon } from '../helpers/program/daemon.ts'
import { pluginAt } from '../helpers/program/installation.ts'
import { runMain } from '../helpers/program/terminal.ts'
import { openStandIn } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('a service that takes over changes')

const secret = (letter: string) => `${letter}k7Jq2vX9mZ4tB8nR5wY1cF6hL3pD0sAa`

/** The service of two tests, of which the last one kills it. */
let shared: Service | undefined
const withShared = async (work: (service: Service) => Promise<void>) => {
  shared ??= await openService({})
  await work(shared)
}
test.after(() => shared?.close())

test('the settings file is in force at once, and what needs a restart is named', () =>
  withShared(async ({ daemon, settings, reload }) => {
    const origin = { origin: 'https://app.example' }
    assert.is(
      (await daemon.call('GET', '/health', { headers: origin })).headers.get('access-control-allow-origin'),
      null,
    )
    settings({ 'api.cors_origin': 'https://app.example', 'accounts.allow_registration': 'false', 'api.port': '4000' })
    const { code, stdout } = await reload()
    assert.is(code, 0)
    assert.match(stdout, /changed: api\.cors_origin, accounts\.allow_registration\n.*by a restart: api\.port/)
    const allowed = await daemon.call('GET', '/health', { headers: origin })
    assert.is(allowed.headers.get('access-control-allow-origin'), 'https://app.example')
    await register(daemon, 'ada', 201)
    await register(daemon, 'bob', 403)
  }))

test('one bad setting leaves all as they were, and its reason goes to the caller and to the log', () =>
  withService({ JWT_SECRET_FILE: 'jwt' }, async ({ daemon, home, settings, reload }) => {
    settings({ 'accounts.allow_registration': 'false', 'log.level': 'loud', 'api.trust_proxy': 'the proxy' })
    const { code, stderr } = await reload()
    assert.is(code, 78)
    assert.match(stderr, /log\.level.*must be error, warn, info or debug/)
    while (!/Nothing was taken over.*must be error, warn/.test(daemon.output.stderr))
      await once(daemon.child.stderr!, 'data')
    settings({ 'accounts.allow_registration': 'false', 'api.trust_proxy': 'the proxy' })
    writeFileSync(join(home, 'jwt'), '')
    const both = await reload()
    assert.is(both.code, 78)
    assert.match(both.stderr, /the proxy[\s\S]*JWT_SECRET is gone or empty/)
    await register(daemon, 'ada', 201)
    await register(daemon, 'bob', 201)
    writeFileSync(join(home, 'config.json'), '{ broken')
    assert.is((await reload()).code, 78)
    assert.is((await service(home, 'status')).code, 0)
    assert.match((await service(home, 'status')).stdout, 'refused')
  }))

test.whole('a rotated secret ends its tokens, unless it is kept as the previous one', () =>
  withService({ JWT_SECRET_FILE: 'jwt', JWT_SECRET_PREVIOUS_FILE: 'jwt-before' }, async ({ daemon, home, reload }) => {
    const { token } = await register(daemon, 'ada', 201)
    const me = async () => (await daemon.call('GET', '/api/auth/me', { token })).status
    writeFileSync(join(home, 'jwt'), secret('b'))
    writeFileSync(join(home, 'jwt-before'), secret('a'))
    assert.match((await reload()).stdout, /other secrets: JWT_SECRET, JWT_SECRET_PREVIOUS/)
    assert.is(await me(), 200)
    writeFileSync(join(home, 'jwt-before'), secret('c'))
    assert.is((await reload()).code, 0)
    assert.is(await me(), 401)
    const login = await daemon.call('POST', '/api/auth/login', { body: { username: 'ada', password: 'Passw0rd' } })
    assert.is(login.status, 200)
    assert.not.match(daemon.output.stderr, secret('').slice(1), 'no secret is logged')
  }),
)

test.whole(
  'a key in a file is another after a reload, over the API too, and a plugin that breaks keeps its version before',
  async () => {
    const keys: unknown[] = []
    await using provider = await openStandIn((request, response) => {
      keys.push(request.headers.authorization)
      response.writeHead(200, { 'content-type': 'application/json' })
      const message = { role: 'assistant', content: 'Hi' }
      response.end(JSON.stringify({ choices: [{ index: 0, message, finish_reason: 'stop' }] }))
    })
    await withService({ CUSTOM_API_KEY_FILE: 'key' }, async ({ daemon, home, reload }) => {
      const { token } = await register(daemon, 'ada', 201)
      const ask = (method: string, path: string, body?: unknown) => daemon.call(method, path, { token, body })
      assert.is((await ask('POST', '/api/plugins/install', pluginAt(provider.url))).status, 201)
      assert.is((await ask('POST', '/api/plugins/activate/custom')).status, 200)
      const chat = async () => {
        const { status } = await ask('POST', '/api/chat', { messages: [{ role: 'user', content: 'x' }] })
        assert.is(status, 200)
        return keys.at(-1)
      }
      assert.is(await chat(), 'Bearer sk-first-123456')
      writeFileSync(join(home, 'key'), 'sk-second-123456')
      assert.is(await chat(), 'Bearer sk-first-123456')
      const reloaded = await ask('POST', '/api/service/reload')
      assert.equal([reloaded.status, reloaded.body.secrets], [200, ['CUSTOM_API_KEY']])
      assert.is(await chat(), 'Bearer sk-second-123456')
      writeFileSync(join(home, 'plugins', 'custom.json'), '{')
      const { code, stdout } = await reload()
      assert.is(code, 1)
      assert.match(stdout, /invalid plugin "custom"/)
      assert.is(await chat(), 'Bearer sk-second-123456')
      writeFileSync(join(home, 'key'), 'two words')
      assert.is((await ask('POST', '/api/service/reload')).status, 503)
      assert.is((await ask('GET', '/api/service')).body.last_reload.outcome, 'refused')
    })
  },
)

test.whole('without a service, status and reload end with 69; a killed one leaves nothing that looks like one', () =>
  withShared(async ({ daemon, home }) => {
    assert.is((await service(home, 'status')).code, 0)
    const ended = once(daemon.child, 'exit')
    daemon.child.kill('SIGKILL')
    await ended
    assert.is((await service(home, 'status')).code, 69)
    assert.is((await service(home, 'reload')).code, 69)
    assert.not.ok(existsSync(join(home, 'services', `${daemon.child.pid}.json`)))
  }),
)

test.whole('a record that another program wrote is no service', () =>
  withService({}, async ({ daemon, home }) => {
    const own = readFileSync(join(home, 'services', `${daemon.child.pid}.json`), 'utf8')
    for (const content of [
      '',
      '{',
      '[]',
      'null',
      '{"pid":1,"mark":"x","servers":[]}',
      own.replace(/"pid": \d+/, '"pid": -1'),
    ])
      writeFileSync(join(home, 'services', '99.json'), content)
    const { code, stdout } = await service(home, 'status', '--json')
    assert.equal([code, (JSON.parse(stdout) as { services: unknown[] }).services.length], [0, 1])
  }),
)

test.run()

interface Service {
  readonly daemon: SpawnedDaemon
  readonly home: string
  /** Writes the settings file. */
  settings(content: Record<string, string>): void
  reload(): ReturnType<typeof service>
  close(): Promise<void>
}

/** Runs work on a daemon of its own, see `openService`. */
async function withService(files: Record<string, string>, work: (service: Service) => Promise<void>): Promise<void> {
  const opened = await openService(files)
  try {
    await work(opened)
  } finally {
    await opened.close()
  }
}

/** Starts a daemon; values of `_FILE` variables are names in its folder. */
async function openService(files: Record<string, string>): Promise<Service> {
  const home = temporaryFolder()
  const contents: Record<string, string> = { jwt: secret('a'), key: 'sk-first-123456', 'jwt-before': secret('z') }
  for (const name of Object.values(files)) writeFileSync(join(home, name), contents[name]!)
  const paths = Object.fromEntries(Object.entries(files).map(([variable, name]) => [variable, join(home, name)]))
  const daemon = await spawnDaemon(paths, home)
  return {
    daemon,
    home,
    settings: (content) => writeFileSync(join(home, 'config.json'), JSON.stringify(content)),
    reload: () => service(home, 'reload'),
    async close() {
      await daemon.stop('SIGKILL')
      removeHome(daemon)
    },
  }
}

function service(home: string, ...words: readonly string[]) {
  return runMain(['service', ...words], { environment: { AICHAT_HOME: home, HOME: home } })
}

async function register(daemon: SpawnedDaemon, username: string, status: number): Promise<{ token: string }> {
  const answer = await daemon.call('POST', '/api/auth/register', { body: { username, password: 'Passw0rd' } })
  assert.is(answer.status, status, JSON.stringify(answer.body))
  return answer.body as { token: string }
}
