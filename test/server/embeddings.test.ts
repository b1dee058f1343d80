import * as assert from 'uvu/assert'
import { until } from '../helpers/eventually.ts'
import { pluck } from '../helpers/pluck.ts'
import { type As, openUsers, withUsers } from '../helpers/program/user-daemon.ts'
import { type Answer, json } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('embedding models')

test('without a runner there is the built-in model, its limits, and how to get another', () =>
  withUsers(async ({ ada }) => {
    const { status, body } = await ada('GET', '/api/embeddings/models')
    assert.is(status, 200)
    assert.equal(pluck(body.models, 'name', 'provider'), [['builtin', 'builtin']])
    assert.match(body.models[0].note, /WordNet/)
    assert.ok(body.models[0].dimension > 100)
    for (const command of ['aichat models pull minilm', 'ollama pull nomic-embed-text', 'https://ollama.com/download'])
      assert.ok(body.instructions.join('\n').includes(command), command)
  }))

test('a runner without an embedding model gets instructions, but none to start it', async () => {
  await using users = await openUsers({
    runner: ollama({ models: () => [{ name: 'llama3:latest', capabilities: ['completion'] }] }),
  })
  const { ada } = users
  const { body } = await ada('GET', '/api/embeddings/models')
  assert.is(body.models.length, 1)
  assert.ok(body.instructions.includes('ollama pull nomic-embed-text'))
  assert.not.ok(body.instructions.join().includes('ollama.com'))
})

test('what a model can do is asked of the runner; where it does not say, the name tells', async () => {
  await using users = await openUsers({
    runner: ollama({
      models: () => [
        { name: 'says-so:latest', capabilities: ['embedding'], dimension: 8 },
        { name: 'nomic-embed-text-chat:latest', capabilities: ['completion', 'tools'] },
        { name: 'nomic-embed-text:v1.5' },
        { name: 'bge-m3:latest' },
        { name: 'gte-small' },
        { name: 'jeffh/intfloat-multilingual-e5-large:f16' },
        { name: 'llama3:latest' },
      ],
    }),
  })
  const { ada, runner } = users
  const { body } = await ada('GET', '/api/embeddings/models')
  assert.equal(pluck(body.models.slice(1), 'name', 'provider', 'dimension'), [
    ['says-so:latest', 'ollama', 8],
    ['nomic-embed-text:v1.5', 'ollama', undefined],
    ['bge-m3:latest', 'ollama', undefined],
    ['gte-small', 'ollama', undefined],
    ['jeffh/intfloat-multilingual-e5-large:f16', 'ollama', undefined],
  ])
  assert.not.ok('instructions' in body)
  const asked = runner.received.filter(({ url }) => url === '/api/show').length
  await ada('GET', '/api/embeddings/models')
  assert.is(runner.received.filter(({ url }) => url === '/api/show').length, asked, 'asked once')
})

test('the list refreshes when a model is installed, and then a persona may name it', () => {
  const installed: Installed[] = []
  return withUsers(
    async ({ ada, persona }) => {
      assert.is((await ada('GET', '/api/embeddings/models')).body.models.length, 1)
      const path = await persona()
      const refused = await ada('PUT', path, { embedding_model: 'toy-embed' })
      assert.is(refused.status, 400)
      assert.ok(refused.body.details.includes('Install it: ollama pull toy-embed'))
      installed.push({ name: 'toy-embed:latest', capabilities: ['embedding'] })
      await until(async () => (await ada('GET', '/api/embeddings/models')).body.models.length === 2)
      assert.is((await ada('PUT', path, { embedding_model: 'toy-embed' })).status, 200)
      assert.is((await ada('PUT', path, { embedding_model: 'toy-embed:latest' })).status, 200)
    },
    { runner: ollama({ models: () => installed }), waits: { embedderList: 20 } },
  )
})

const nonsense: readonly (readonly [what: string, body: string, status?: number])[] = [
  ['no JSON', '<html>Gateway</html>'],
  ['nothing', ''],
  ['null', 'null'],
  ['no vectors', '{"embeddings":[]}'],
  ['vectors of text', '{"embeddings":["abc"]}'],
  ['a vector of nothing', '{"embeddings":[[]]}'],
  ['a vector of zeros', '{"embeddings":[[0,0]]}'],
  ['numbers that are none', '{"embeddings":[[1,"x"]]}'],
  ['numbers too large', '{"embeddings":[[1e300,1]]}'],
  ['an error', '{"error":"out of memory"}', 500],
  ['that the model is gone', '{"error":"model not found"}', 404],
]

test('whatever a runner answers, a memory is stored and a search answers', () => {
  const say = { body: '', status: 200 }
  return withUsers(
    async ({ ada, persona }) => {
      const path = await persona({ embedding_model: 'toy-embed' })
      for (const [what, body, status = 200] of nonsense) {
        Object.assign(say, { body, status })
        const added = await ada('POST', `${path}/memory`, { content: `It said ${what}` })
        assert.equal([added.status, added.body.embedding_status], [201, 'pending'], what)
        const found = await search(ada, path, `What did it say: ${what}?`)
        assert.is(found.mode, 'lexical', what)
        assert.ok(found.results.length > 0, what)
      }
    },
    { runner: ollama({ models: () => toys, embed: (response) => json(response, say.status, say.body) }) },
  )
})

test('a runner that takes a text and never answers keeps nobody waiting for long', async () => {
  await using users = await openUsers({
    runner: ollama({ models: () => toys, embed: () => {} }),
    waits: { embedding: 200 },
  })
  const { ada, persona } = users
  const path = await persona({ embedding_model: 'toy-embed' })
  const { status, body } = await ada('POST', `${path}/memory`, { content: 'It hung.' })
  assert.equal([status, body.embedding_status], [201, 'pending'])
  assert.is((await search(ada, path, 'hung')).mode, 'lexical')
})

test('OpenAI’s route embeds with the runner’s models and the built-in one', async () => {
  await using users = await openUsers({ runner: ollama({ models: () => toys }) })
  const { ada } = users
  const ask = (body: object) => ada('POST', '/v1/embeddings', body)
  const { status, body } = await ask({ model: 'toy-embed', input: ['aaa', 'zzz'] })
  assert.is(status, 200)
  assert.equal([body.object, body.model, body.data.length], ['list', 'toy-embed:latest', 2])
  assert.equal(body.data[1].index, 1)
  assert.is(body.data[1].embedding[25], 1)
  const packed = await ask({ model: 'toy-embed', input: 'aaa', encoding_format: 'base64' })
  const bytes = Buffer.from(packed.body.data[0].embedding, 'base64')
  assert.equal([bytes.length, bytes.readFloatLE(0)], [26 * 4, 1])
  assert.is((await ask({ model: 'builtin', input: 'hello' })).body.model, 'builtin')
  assert.is((await ask({ input: 'hello' })).body.model, 'builtin')
  assert.is((await ask({ model: 'nobody', input: 'hello' })).status, 404)
  for (const input of [undefined, [], 7, [1, 2], [[1, 2]], ['x', 7], null])
    assert.is((await ask({ model: 'builtin', input })).status, 400, JSON.stringify(input))
  assert.is((await ask({ model: 'builtin', input: 'x', dimensions: 7 })).status, 400)
})

test.run()

type Installed = { readonly name: string; readonly capabilities?: readonly string[]; readonly dimension?: number }

const toys: readonly Installed[] = [
  { name: 'toy-embed:latest', capabilities: ['embedding'] },
  { name: 'other-embed:latest', capabilities: ['embedding'] },
]

interface OllamaParts {
  readonly models: () => readonly Installed[]
  readonly alive?: () => boolean
  readonly embed?: (response: Parameters<Answer>[1]) => void
}

/** Ollama's API as far as embeddings need it; a text's vector counts its letters. */
function ollama({ models, alive = () => true, embed }: OllamaParts): Answer {
  return (request, response) => {
    if (!alive()) return void response.destroy()
    if (request.url === '/api/tags')
      return json(response, 200, { models: models().map(({ name }) => ({ name, digest: `digest of ${name}` })) })
    const { model, input } = JSON.parse(request.body)
    const known = models().find(({ name }) => name === model)
    if (request.url === '/api/show' && known?.capabilities) {
      const { capabilities, dimension } = known
      return json(response, 200, {
        capabilities,
        ...(dimension && { model_info: { 'bert.embedding_length': dimension } }),
      })
    }
    if (request.url !== '/api/embed' || !known) return json(response, 404, { error: `model '${model}' not found` })
    if (embed) return embed(response)
    const size = model === 'toy-embed:latest' ? 26 : 27
    json(response, 200, { embeddings: [input].flat().map((text: string) => letters(text, size)) })
  }
}

function letters(text: string, size: number): number[] {
  const counts = new Array<number>(size).fill(0)
  for (const letter of text.toLowerCase()) {
    const at = letter.charCodeAt(0) - 97
    if (at >= 0 && at < 26) counts[at]!++
  }
  return counts.some((count) => count > 0) ? counts : counts.fill(1)
}

interface Outcome {
  readonly mode: string
  readonly embedding_model: string
  readonly results: readonly { readonly content: string }[]
}

async function search(as: As, path: string, query: string): Promise<Outcome> {
  const { status, body } = await as('POST', `${path}/memory/search`, { query })
  assert.is(status, 200, JSON.stringify(body))
  return body
}
