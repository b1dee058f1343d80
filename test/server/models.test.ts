import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import OpenAI from 'openai'
import * as assert from 'uvu/assert'
import { knownModels } from '../../src/model-hub/known-models.ts'
import { closing } from '../helpers/disposal.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { pluck } from '../helpers/pluck.ts'
import { openInstallation, pluginAt } from '../helpers/program/installation.ts'
import { openFastHome } from '../helpers/program/terminal.ts'
import { json, openStandIn } from '../helpers/providers/fake-provider.ts'
import { onnxOf, openLoopbackHub } from '../helpers/providers/loopback-hub.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('models over HTTP')

const ask = async (url: string, path: string, body?: unknown) => {
  const response = await fetch(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape are looked into
  return { status: response.status, body: (await response.json()) as any }
}

test('a running daemon sees a list that another process refreshed, and never half of one', async () => {
  let round = 0
  const names = () => Array.from({ length: 200 }, (_, index) => ({ id: `model-${round}-${index}` }))
  await using provider = await openStandIn((_, response) => json(response, 200, { data: names() }))
  await using installation = openInstallation({ CUSTOM_API_KEY: 'k' })
  using home = openFastHome({ AICHAT_HOME: installation.home, CUSTOM_API_KEY: 'k' })
  await installation.app.plugins.install(pluginAt(provider.url, { models_source: { url: `${provider.url}/models` } }))
  const url = await installation.serve()
  for (round = 1; round <= 3; round++) {
    const running = home.aichat(['models', 'refresh', 'custom', '--force', '--quiet'])
    let done = false
    void running.then(() => {
      done = true
    })
    while (!done) {
      const { status, body } = await ask(url, '/api/models?plugin=custom')
      assert.is(status, 200)
      // The old list or the new one, whole.
      assert.ok(body.models.length === 1 || body.models.length === 200, String(body.models.length))
      assert.is(new Set(body.models.map(({ id }: { id: string }) => id.split('-')[1])).size, 1)
    }
    assert.is((await running).code, 0)
    const { body } = await ask(url, '/api/models?plugin=custom')
    assert.is(body.models[0].id, `model-${round}-0`)
  }
})

test('the refresh route answers one row for each plugin, and refuses what makes no sense', async () => {
  await using provider = await openStandIn((_, response) =>
    json(response, 200, { data: [{ id: 'custom-model' }, { id: 'b' }] }),
  )
  await using installation = openInstallation({ CUSTOM_API_KEY: 'k' })
  await installation.app.plugins.install(pluginAt(provider.url, { models_source: { url: `${provider.url}/models` } }))
  const url = await installation.serve()
  const refreshed = await ask(url, '/api/models/refresh', { plugins: ['custom'] })
  assert.is(refreshed.status, 200)
  const [row] = refreshed.body.plugins
  assert.equal([row.plugin, row.before, row.after, row.added, row.removed], ['custom', 1, 2, ['b'], []])
  const all = await ask(url, '/api/models/refresh', { dry_run: true })
  assert.ok(all.body.plugins.some(({ skipped }: { skipped: string | null }) => skipped === 'OPENAI_API_KEY is not set'))
  assert.is((await ask(url, '/api/models/refresh', { plugins: [] })).status, 400)
  assert.is((await ask(url, '/api/models/refresh', { plugins: ['nobody'] })).status, 404)
  assert.is((await ask(url, '/api/models/refresh', { plugins: ['openai'] })).status, 503)
  const restored = await ask(url, '/api/models/restore', { plugin: 'custom' })
  assert.equal([restored.status, restored.body.after], [200, 1])
})

test('a followed pull tells its progress and ends with what became of it', async () => {
  await using hub = closing(await openLoopbackHub())
  await using installation = openInstallation({ HF_ENDPOINT: hub.endpoint })
  for (const { repository, revision, path } of knownModels.get('smollm2-360m')!.editions[0]!.files)
    hub.files.set(`${repository}@${revision}/${path}`, {
      content: path.endsWith('.json') ? Buffer.from(JSON.stringify({ path })) : onnxOf(300_000),
    })
  const url = await installation.serve()
  const response = await fetch(`${url}/api/models/pull`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'smollm2-360m', stream: true }),
  })
  const events = (await response.text())
    .split('\n\n')
    .flatMap((event) => (event.startsWith('data: {') ? [JSON.parse(event.slice(6))] : []))
  assert.ok(events.some(({ progress }) => progress?.total > 0))
  assert.is(events.at(-1).pulled.name, 'smollm2-360m')
  assert.equal(events.at(-1).pulled.unpinned.length, 5, 'no digest of it is published')
  assert.match(events.at(-1).pulled.notes[0], /^nothing of smollm2-360m was checked against a published SHA-256/)
  const { body } = await ask(url, '/api/models?installed=true')
  assert.ok(
    body.models.some(
      ({ id, runner }: { id: string; runner: string }) => id === 'smollm2-360m' && runner === 'embedded',
    ),
  )
  const { models } = (await ask(url, '/api/models/known')).body
  assert.equal(
    models.filter(({ installed }: { installed: boolean }) => installed).map(({ name }: { name: string }) => name),
    ['smollm2-360m'],
  )
  assert.is((await ask(url, '/api/models/pull', { name: 'nothing' })).status, 404)
})

/** Answers like a provider of embeddings or a model runner: the vector of a text is its length. */
const embedding = (text: string) => [text.length, 1, 0]

test('embeddings come from the active embedding plugin, with its key and its count of tokens', async () => {
  await using provider = await openStandIn((request, response) => {
    const { input, model } = JSON.parse(request.body) as { input: string[]; model: string }
    const data = input.map((text, index) => ({ object: 'embedding', index, embedding: embedding(text) })).reverse()
    json(response, 200, { object: 'list', data, model, usage: { prompt_tokens: 7, total_tokens: 7 } })
  })
  await using installation = openInstallation({ CUSTOM_API_KEY: 'secret' })
  const plugin = {
    type: 'embedding',
    endpoint: `${provider.url}/v1/embeddings`,
    model_map: ['embed-small', 'embed-large'],
  }
  await installation.app.plugins.install(pluginAt(provider.url, plugin))
  await installation.app.plugins.activate('custom')
  const client = new OpenAI({ baseURL: `${await installation.serve()}/v1`, apiKey: 'ours' })
  // OpenAI's own client asks for base64 and unpacks it.
  const made = await client.embeddings.create({ model: 'embed-large', input: ['a', 'four'] })
  assert.equal(pluck(made.data, 'embedding'), [embedding('a'), embedding('four')])
  assert.equal([made.model, made.usage.total_tokens], ['embed-large', 7])
  assert.is(provider.received[0]!.headers.authorization, 'Bearer secret')
  const prefixed = await client.embeddings.create({ model: 'custom:embed-small', input: 'abc' })
  assert.equal(prefixed.data[0]!.embedding, embedding('abc'))
  assert.is(JSON.parse(provider.received[1]!.body).model, 'embed-small')
})

test('a plugin that refuses, or sends what is no list of vectors, is told in OpenAI’s words', async () => {
  let answer: [number, unknown] = [401, { error: { message: 'bad key' } }]
  await using provider = await openStandIn((_, response) => json(response, ...answer))
  await using installation = openInstallation({ CUSTOM_API_KEY: 'secret' })
  await installation.app.plugins.install(pluginAt(provider.url, { type: 'embedding', model_map: ['e'] }))
  await installation.app.plugins.activate('custom')
  const url = await installation.serve()
  const refused = await ask(url, '/v1/embeddings', { model: 'e', input: 'x' })
  assert.equal([refused.status, refused.body.error.type], [503, 'api_error'])
  assert.match(refused.body.error.message, /refused the key: bad key/)
  for (const body of [
    {},
    { data: [] },
    { data: [{ embedding: [] }] },
    { data: [{ index: 5, embedding: [1] }] },
    '<html>',
  ]) {
    answer = [200, body]
    assert.is((await ask(url, '/v1/embeddings', { model: 'e', input: 'x' })).status, 502, JSON.stringify(body))
  }
})

test('the model runner’s embedding models answer by name', async () => {
  await using runner = await openStandIn((request, response) => {
    if (request.url === '/api/tags')
      return json(response, 200, { models: [{ name: 'all-minilm:latest', digest: 'abc' }] })
    if (request.url === '/api/show') return json(response, 200, { capabilities: ['embedding'] })
    const { input } = JSON.parse(request.body) as { input: string[] }
    json(response, 200, { embeddings: input.map(embedding) })
  })
  await using installation = openInstallation({ OLLAMA_HOST: runner.url })
  const url = await installation.serve()
  const { status, body } = await ask(url, '/v1/embeddings', { model: 'all-minilm', input: ['abc'] })
  assert.is(status, 200)
  assert.is(body.model, 'all-minilm:latest')
  assert.ok(Math.abs(body.data[0].embedding[0] - 3 / Math.hypot(3, 1)) < 1e-6)
})

test('requests that make no sense are refused, and an unknown model lists what there is', async () => {
  await using installation = openInstallation()
  const url = await installation.serve()
  for (const body of [
    {},
    { input: [] },
    { input: [[1, 2, 3]] },
    { input: 'x', encoding_format: 'hex' },
    { input: 'x', dimensions: 0 },
  ])
    assert.is((await ask(url, '/v1/embeddings', { model: 'builtin', ...body })).status, 400, JSON.stringify(body))
  const unknown = await ask(url, '/v1/embeddings', { model: 'nobody', input: 'x' })
  assert.is(unknown.status, 404)
  assert.match(unknown.body.error.message, /Available: builtin/)
})

const vectors = fileURLToPath(new URL('./dist/data/word-vectors.bin', import.meta.resolve('#package')))
const builtinTest = existsSync(vectors) ? test : test.skip
builtinTest('the built-in model is served by its name, and where no model is named and none was pulled', async () => {
  await using installation = openInstallation()
  const url = await installation.serve()
  const named = await ask(url, '/v1/embeddings', {
    model: 'builtin',
    input: ['my car is red', 'the vehicle', 'a sonata'],
  })
  assert.is(named.status, 200)
  const [car, vehicle, music] = named.body.data.map(({ embedding }: { embedding: number[] }) => embedding)
  const nearness = (a: number[], b: number[]) => a.reduce((sum, value, index) => sum + value * b[index]!, 0)
  assert.ok(nearness(car, vehicle) > nearness(car, music))
  const plain = await ask(url, '/v1/embeddings', { input: 'my car is red', encoding_format: 'base64' })
  assert.is(plain.body.model, 'builtin')
  assert.ok(Math.abs(Buffer.from(plain.body.data[0].embedding, 'base64').readFloatLE(0) - car[0]) < 1e-7)
})

test('files of the pulled model make it the one that answers when no model is named', async () => {
  const folder = temporaryFolder()
  const [edition] = knownModels.get('minilm')!.editions
  await using installation = openInstallation({ AICHAT_MODELS_DIR: folder })
  for (const { as, bytes } of edition!.files) {
    mkdirSync(join(folder, edition!.folder, as, '..'), { recursive: true })
    writeFileSync(join(folder, edition!.folder, as), Buffer.alloc(bytes!))
  }
  assert.is(readFileSync(join(folder, edition!.folder, 'config.json')).length, 650)
  const url = await installation.serve()
  const { body } = await ask(url, '/api/embeddings/models')
  assert.ok(
    body.models.some(
      ({ name, provider }: { name: string; provider: string }) => name === 'minilm' && provider === 'pulled',
    ),
  )
  // Zeros are no model: the message names the file and the remedy.
  const broken = await ask(url, '/v1/embeddings', { input: 'x' })
  assert.is(broken.status, 400)
  assert.match(broken.body.error.message, /tokenizer of minilm.*pull the model again/)
})

test.run()
