import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
import * as assert from 'uvu/assert'
import type { Home } from '../../helpers/program/command.ts'
import { openInstallation, pluginAt } from '../../helpers/program/installation.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import {
  type Answer,
  completion,
  json,
  localRunner,
  openStandIn,
  type StandIn,
} from '../../helpers/providers/fake-provider.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('chats that may not leave this machine')

/** Every name looks as if it led to another machine, and leads to a stand-in on this one; lookups are noted. */
const lookedUp: string[] = []
const systemLookup = dns.lookup
test.before(() => {
  dns.lookup = ((...given: unknown[]) => {
    const [name] = given as string[]
    // The servers of the test itself bind to 127.0.0.1 through the same function.
    if (!name!.endsWith('.example')) return systemLookup(...(given as Parameters<typeof systemLookup>))
    lookedUp.push(name!)
    const done = given.at(-1) as (...found: unknown[]) => void
    process.nextTick(() => done(null, [{ address: '127.0.0.1', family: 4 }]))
  }) as typeof dns.lookup
  syncBuiltinESMExports()
})
test.after(() => {
  dns.lookup = systemLookup
  syncBuiltinESMExports()
})
test.before.each(() => {
  lookedUp.length = 0
})

const provider: Answer = (_request, response) => json(response, 200, completion('from elsewhere'))

test('an active provider elsewhere is passed over for the local runner, and the report says so', () =>
  withProvider(async ({ home, stand, runner }) => {
    const remote = await home.aichat(['chat', '-S', 'Hi'])
    assert.equal([remote.stdout, stand.received.length], ['from elsewhere\n', 1], remote.stderr)
    assert.equal(lookedUp, ['provider.example'], 'the name is what a chat without the option looks up')

    const { code, stdout, stderr } = await home.aichat(['chat', '-v', '--local-only', 'Hi'])
    assert.equal([code, stdout], [0, 'local answer\n'])
    assert.match(
      stderr,
      /answered by the local runner \(llama3:latest\)(?:, \d+ tokens in and \d+ out)?; nothing left this machine\n/,
    )
    const whole = JSON.parse((await home.aichat(['chat', '--json', '--local-only', 'Hi'])).stdout)
    assert.equal([whole.aichat.local_only, whole.aichat.fallback, whole.aichat.attempts.length], [true, false, 1])
    assert.is(runner.received.filter(({ url }) => url === '/api/chat').length, 2)
    assert.equal([stand.received.length, lookedUp], [1, ['provider.example']], 'nothing more went there')
  }))

test('where nothing local can answer the error says what to do, and nothing is sent or looked up', () =>
  withProvider(async ({ home, stand }) => {
    for (const words of [
      ['chat', '--local-only', 'Hi'],
      ['--local-only', 'Hi'],
      ['chat', '--local-only', '--dry-run', 'Hi'],
    ]) {
      const { code, stdout, stderr } = await home.aichat(words, { environment: { OLLAMA_HOST: 'gpu.example:11434' } })
      assert.equal([code, stdout], [69, ''], stderr)
      assert.match(stderr, 'No model on this machine can answer, and nothing was sent to another one')
      assert.match(stderr, 'custom was not tried: its host provider.example')
      assert.match(stderr, 'OLLAMA_HOST is gpu.example:11434, another machine')
      assert.match(stderr, 'aichat models pull smollm2-360m')
    }
    assert.equal([stand.received.length, lookedUp], [0, []])
  }))

test('a provider elsewhere that is named, or a model that Ollama forwards, is refused and replaced by none', () =>
  withProvider(async ({ home, stand, runner }) => {
    const cases: readonly (readonly [string, RegExp])[] = [
      ['custom:custom-model', /custom was not tried, since only this machine may be asked: its host provider\.example/],
      ['local:big:cloud', /big:cloud was not tried, .*: Ollama forwards big:cloud to its cloud/],
      ['renamed', /renamed was not tried, .*: Ollama forwards renamed to ollama\.com/],
    ]
    for (const [model, expected] of cases) {
      const { code, stderr } = await home.aichat(['chat', '--local-only', '-m', model, 'Hi'])
      assert.is(code, 69)
      assert.match(stderr, expected)
    }
    assert.not(runner.received.some(({ url }) => url === '/api/chat'))
    assert.equal([stand.received.length, lookedUp], [0, []])
    // Each is answered where it may be.
    assert.is((await home.aichat(['chat', '-m', 'local:renamed', 'Hi'])).code, 0)
  }, forwarding))

test('a plugin on this machine answers, and its fallbacks elsewhere are passed over', () =>
  withProvider(async ({ home, stand }) => {
    const near = await openStandIn((_request, response) => json(response, 200, completion('near')))
    try {
      const document = {
        ...farPlugin(near),
        ...pluginAt(near.url, { id: 'near', fallback: ['custom'] }),
        auth: { header: '', key_env: '' },
      }
      await home.aichat(['plugin', 'install', '-'], { input: JSON.stringify(document) })
      const { stdout } = await home.aichat(['chat', '-S', '--local-only', '-m', 'near:custom-model', 'Hi'])
      assert.is(stdout, 'near\n')
    } finally {
      await near.close()
    }
    const failed = await home.aichat(['chat', '-S', '--local-only', '-m', 'near:custom-model', 'Hi'])
    assert.is(failed.stdout, 'local answer\n', 'the plugin is gone, so the local runner answers')
    assert.equal([stand.received.length, lookedUp], [0, []])
  }))

test('the setting holds for every chat, and no request can lift it', () =>
  withProvider(async ({ home, stand }) => {
    await home.aichat(['config', 'set', 'chat.local_only', 'true'])
    assert.is((await home.aichat(['chat', '-S', 'Hi'])).stdout, 'local answer\n')
    assert.is((await home.aichat(['chat', '-m', 'custom:custom-model', 'Hi'])).code, 69)
    assert.equal([stand.received.length, lookedUp], [0, []])
    const lifted = await home.aichat(['chat', '-S', 'Hi'], { environment: { AICHAT_LOCAL_ONLY: 'false' } })
    assert.is(lifted.stdout, 'from elsewhere\n')
  }))

test('pages, daemons and tool servers elsewhere are refused', () =>
  withProvider(async ({ home, stand }) => {
    await home.aichat(['mcp', 'add', 'far', '--url', 'https://tools.example/mcp'])
    const cases: readonly (readonly [readonly string[], RegExp])[] = [
      [['chat', '--local-only', '-f', 'https://page.example/', 'Hi'], /page\.example was not asked/],
      [['chat', '--local-only', '--mcp', 'far', 'Hi'], /The tool server far was not tried/],
      [['chat', '--local-only', '--server', 'https://daemon.example', 'Hi'], /The daemon at https:\/\/daemon\.example/],
    ]
    for (const [words, expected] of cases) {
      const { code, stderr } = await home.aichat(words)
      assert.equal([code, expected.test(stderr)], [69, true], stderr)
    }
    assert.equal([stand.received.length, lookedUp], [0, []])
  }))

test('a persona whose memories are embedded elsewhere is refused, and answers without her memory', () =>
  withProvider(async ({ home, stand }) => {
    await home.aichat('persona create --name Ada --model llama3 --memory --embedding-model embedder'.split(' '))
    lookedUp.length = 0
    const environment = { OLLAMA_HOST: 'gpu.example:11434' }
    const refused = await home.aichat(['chat', '--local-only', '-p', 'Ada', 'Hi'], { environment })
    assert.is(refused.code, 69)
    assert.match(refused.stderr, 'The memories of Ada are embedded by embedder, and its host gpu.example:11434')
    assert.match(refused.stderr, '--no-memory')
    assert.equal([stand.received.length, lookedUp], [0, []])
    const { stdout } = await home.aichat(['chat', '--local-only', '--no-memory', '-p', 'Ada', 'Hi'])
    assert.is(stdout, 'local answer\n')
  }, embedding))

test('over HTTP `local_only` does the same, tells so in body and headers, and takes no addresses of pictures', async () => {
  const runner = await openStandIn(localRunner())
  const stand = await openStandIn(provider)
  const { app, serve, close } = openInstallation({ OLLAMA_HOST: runner.url })
  try {
    await app.plugins.install(farPlugin(stand))
    const url = await serve()
    const post = (path: string, body: object) =>
      fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ messages: [{ role: 'user', content: 'Hi' }], local_only: true, ...body }),
      })
    const answer = await post('/v1/chat/completions', { model: 'llama3' })
    assert.equal([answer.status, answer.headers.get('x-aichat-local-only')], [200, 'true'])
    const native = (await (await post('/api/chat', {})).json()) as { aichat: { local_only?: boolean } }
    assert.is(native.aichat.local_only, true)
    const named = await post('/api/chat', { model: 'custom:custom-model' })
    assert.equal([named.status, named.headers.get('x-should-retry')], [503, 'false'])
    const content = [{ type: 'image_url', image_url: { url: 'https://pictures.example/cat.png' } }]
    const picture = await post('/api/chat', { messages: [{ role: 'user', content }] })
    assert.is(picture.status, 400)
    assert.match(await picture.text(), 'pictures.example is not on this machine')
    const vectors = await post('/v1/embeddings', { model: 'custom:embed', input: 'secret' })
    assert.is(vectors.status, 404)
    assert.equal([stand.received.length, lookedUp], [0, []])
  } finally {
    await close()
    await runner.close()
    await stand.close()
  }
})

test.run()

/** A plugin with a host that looks like another machine's; without a key, which would need an encrypted connection. */
function farPlugin({ url }: StandIn): Record<string, unknown> {
  const auth = { header: '', key_env: '' }
  return pluginAt(url.replace('127.0.0.1', 'provider.example'), { auth, retry: { attempts: 1 } })
}

/** A runner with a model of its own, and two that it forwards. */
const forwarding: Answer = (request, response) => {
  if (request.url !== '/api/tags') return localRunner('forwarded', 'renamed:latest')(request, response)
  const rows = [{ name: 'llama3:latest' }, { name: 'big:cloud' }]
  json(response, 200, { models: [...rows, { name: 'renamed:latest', remote_host: 'https://ollama.com:443' }] })
}

/** A runner with a model that makes embeddings beside one that chats. */
const embedding: Answer = (request, response) => {
  if (request.url === '/api/tags')
    return json(response, 200, {
      models: [{ name: 'llama3:latest' }, { name: 'embedder:latest', capabilities: ['embedding'] }],
    })
  return localRunner()(request, response)
}

async function withProvider(
  run: (parts: { home: Home; stand: StandIn; runner: StandIn }) => Promise<void>,
  local: Answer = localRunner(),
): Promise<void> {
  await using stand = await openStandIn(provider)
  await using runner = await openStandIn(local)
  using home = openFastHome({ OLLAMA_HOST: runner.url })
  await home.aichat(['plugin', 'install', '-', '--activate'], { input: JSON.stringify(farPlugin(stand)) })
  await run({ home, stand, runner })
}
