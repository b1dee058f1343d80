import { generateText } from 'ai'
import * as assert from 'uvu/assert'
import { type DialectId, failureOf, openLibraries, withLibraries } from '../helpers/program/client-libraries.ts'
import { type Answer, json, localRunner, openStandIn } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('a provider that refuses, as client libraries see it when nobody else can answer')

const ask = { model: 'custom-model', messages: [{ role: 'user' as const, content: 'Hi' }] }

/** A provider that answers everything so. */
const refusing =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (_request, response) =>
    json(response, status, body, headers)

const openaiError = (message: string, code: string | null, param: string | null, type = 'invalid_request_error') => ({
  error: { message, type, param, code },
})

const refused: readonly {
  readonly status: number
  readonly body: unknown
  readonly api?: DialectId
  readonly code: string | null
  readonly param?: string
  readonly anthropic: string
}[] = [
  {
    status: 400,
    body: openaiError('This model has a maximum context length of 9 tokens', 'context_length_exceeded', 'messages'),
    code: 'context_length_exceeded',
    param: 'messages',
    anthropic: 'invalid_request_error',
  },
  {
    status: 400,
    body: openaiError("Unsupported value: 'temperature'", null, 'temperature'),
    code: null,
    param: 'temperature',
    anthropic: 'invalid_request_error',
  },
  {
    status: 400,
    body: openaiError('Flagged by our content policy', 'content_policy_violation', null),
    code: 'content_policy_violation',
    anthropic: 'invalid_request_error',
  },
  {
    status: 404,
    body: openaiError('The model does not exist', 'model_not_found', 'model'),
    code: 'model_not_found',
    param: 'model',
    anthropic: 'not_found_error',
  },
  {
    status: 413,
    body: { type: 'error', error: { type: 'request_too_large', message: 'Too many bytes' } },
    api: 'anthropic-messages',
    code: null,
    anthropic: 'request_too_large',
  },
  {
    status: 422,
    body: { detail: [{ loc: ['body', 'messages', 0], msg: 'Field required', type: 'missing' }] },
    code: 'missing',
    param: 'messages.0',
    anthropic: 'invalid_request_error',
  },
  {
    status: 400,
    body: { type: 'error', error: { type: 'invalid_request_error', message: 'prompt is too long: 9 > 8 tokens' } },
    api: 'anthropic-messages',
    code: 'context_length_exceeded',
    anthropic: 'invalid_request_error',
  },
  {
    status: 400,
    body: {
      error: { code: 400, message: 'The input token count (9) exceeds the maximum', status: 'INVALID_ARGUMENT' },
    },
    api: 'gemini',
    code: 'context_length_exceeded',
    anthropic: 'invalid_request_error',
  },
]

for (const { status, body, api = 'openai-chat', code, param, anthropic: type } of refused) {
  const words = /[A-Z][^"]+(?=")|prompt is[^"]+/.exec(JSON.stringify(body).replace(/INVALID_ARGUMENT/, ''))![0]
  test(`${status} "${words}" from ${api} is that for every library, and asked once`, () =>
    withLibraries(
      refusing(status, body),
      async ({ openai, anthropic, ai, provider }) => {
        const theirs = await failureOf(() => openai.chat.completions.create(ask))
        assert.is(theirs['status'], status)
        assert.is(theirs['code'], code)
        assert.is(theirs['param'] ?? undefined, param)
        assert.ok(theirs.message.includes(words.slice(0, 20)), theirs.message)
        assert.is(provider.received.length, 1)
        const streamed = await failureOf(() => openai.chat.completions.create({ ...ask, stream: true }))
        assert.is(streamed['status'], status)
        const claude = await failureOf(() => anthropic.messages.create({ ...ask, max_tokens: 9 }))
        assert.is(claude['status'], status)
        assert.is((claude['error'] as { error: { type: string } }).error.type, type)
        if (code === 'context_length_exceeded') assert.match(claude.message, /prompt is too long/)
        const vercel = await failureOf(() => generateText({ ...ask, model: ai.chat('custom-model') }))
        assert.is(vercel['statusCode'], status)
        // A model known to be gone is not requested again.
        assert.is(provider.received.length, status === 404 ? 1 : 4)
      },
      { plugin: { api } },
    ))
}

test('a provider that asks to wait is 429, with its wait and its names', async () => {
  await using libraries = await openLibraries(
    refusing(429, openaiError('Slow down', 'rate_limit_exceeded', null, 'tokens'), { 'retry-after': '77' }),
    { maxRetries: 0 },
  )
  const { openai, anthropic } = libraries
  const failure = await failureOf(() => openai.chat.completions.create(ask))
  assert.equal([failure['status'], failure['code']], [429, 'rate_limit_exceeded'])
  assert.is(failure['type'], 'tokens')
  assert.is((failure['headers'] as Headers).get('retry-after'), '77')
  const again = await failureOf(() => anthropic.messages.create({ ...ask, max_tokens: 9 }))
  assert.is(again['status'], 429)
  const rest = Number((again['headers'] as Headers).get('retry-after'))
  assert.ok(rest > 0 && rest <= 77, String(rest))
})

test('a spent budget is 429 with its code, and no library asks again', async () => {
  await using libraries = await openLibraries(
    refusing(429, openaiError('You exceeded your current quota', 'insufficient_quota', null, 'insufficient_quota')),
  )
  const { openai, provider } = libraries
  const failure = await failureOf(() => openai.chat.completions.create(ask))
  assert.equal([failure['status'], failure['code']], [429, 'insufficient_quota'])
  assert.is((failure['headers'] as Headers).get('x-should-retry'), 'false')
  assert.is(provider.received.length, 1)
})

test('a key that the provider refuses is 503 provider_auth, and no library asks again', async () => {
  await using libraries = await openLibraries(
    refusing(401, openaiError('Incorrect API key provided: sk-test-123456', 'invalid_api_key', null)),
  )
  const { openai, anthropic, provider } = libraries
  const failure = await failureOf(() => openai.chat.completions.create(ask))
  assert.equal([failure['status'], failure['code']], [503, 'provider_auth'])
  assert.not.match(JSON.stringify(failure), /sk-test-123456/)
  const claude = await failureOf(() => anthropic.messages.create({ ...ask, max_tokens: 9 }))
  assert.is(claude['status'], 503)
  assert.is((claude['headers'] as Headers).get('x-should-retry'), 'false')
  assert.is(provider.received.length, 1)
})

test('without fallback it is the same, and the house’s own route has the names too', () =>
  withLibraries(refusing(400, refused[0]!.body), async ({ url, provider }) => {
    for (const fallback of [true, false]) {
      const { status, body } = await askHouse(url, { ...ask, fallback })
      assert.is(status, 400)
      assert.equal(
        [body['code'], body['type'], body['param']],
        ['context_length_exceeded', 'invalid_request_error', 'messages'],
      )
      assert.match(String(body['error']), /maximum context length/)
    }
    assert.is(provider.received.length, 2)
  }))

test('a provider that is down stays 503: its reason first, each try, and advice that helps', () =>
  withLibraries(refusing(500, openaiError('Oops', null, null, 'server_error')), async ({ url }) => {
    const { status, body } = await askHouse(url, ask)
    assert.is(status, 503)
    assert.is(body['code'], 'unavailable')
    assert.match(String(body['error']), /^custom failed: Oops/)
    assert.match(String((body['details'] as string[])[0]), /^custom custom-model: server error \(status 500\): Oops/)
  }))

test('what the asked provider has no words for is the caller’s 400 when nobody else can answer', async () => {
  await using libraries = await openLibraries(refusing(500, {}), { plugin: { api: 'anthropic-messages' } })
  const { openai, provider } = libraries
  const failure = await failureOf(() => openai.chat.completions.create({ ...ask, n: 2 }))
  assert.is(failure['status'], 400)
  assert.match(failure.message, /n: 1/)
  assert.is(provider.received.length, 0)
})

test('embeddings are refused in the same way', async () => {
  await using libraries = await openLibraries(
    refusing(400, openaiError('Too many dimensions', 'bad_dimensions', 'dimensions')),
  )
  const { openai, app, provider } = libraries
  await app.plugins.install({
    id: 'vectors',
    name: 'Vectors',
    type: 'embedding',
    endpoint: `${provider.url}/v1/embeddings`,
    auth: { header: 'Authorization', prefix: 'Bearer ', key_env: 'CUSTOM_API_KEY' },
    model_map: ['vectors-1'],
  })
  const failure = await failureOf(() => openai.embeddings.create({ model: 'vectors:vectors-1', input: 'Hi' }))
  assert.equal(
    [failure['status'], failure['code'], failure['type'], failure['param']],
    [400, 'bad_dimensions', 'invalid_request_error', 'dimensions'],
  )
  assert.is(provider.received.length, 1)
})

test('the advice names neither what has just failed nor a key that is set', async () => {
  await using runner = await openStandIn((request, response) =>
    request.url === '/api/chat' ? json(response, 500, { error: 'out of memory' }) : localRunner()(request, response),
  )
  const environment = { OPENAI_API_KEY: 'sk-openai-is-set-too', OLLAMA_HOST: runner.host }
  await withLibraries(
    refusing(500, {}),
    async ({ app, url }) => {
      const advice = async () => {
        const { body } = await askHouse(url, ask)
        return (body['details'] as string[]).filter((line) => /^[A-Z]|^or /.test(line)).join('\n')
      }
      const first = await advice()
      assert.match(first, /aichat plugin activate openai/)
      assert.not.match(first, /OPENAI_API_KEY|activate custom|Ollama/)
      for (const { id } of app.plugins.list()) if (id !== 'custom') await app.plugins.remove(id)
      assert.not.match(await advice(), /activate|API_KEY/)
    },
    { environment },
  )
})

test.run()

async function askHouse(url: string, body: unknown): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(`${url}/api/chat`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
