import * as assert from 'uvu/assert'
import { readWireError } from '../../../src/chat/dialects/shared/wire-error.ts'
import { DialectError } from '../../../src/chat/protocol/dialect.ts'
import { classifyFailure, type FailureClass, type FailureSignal } from '../../../src/chat/protocol/failure.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('the classes of failures')
const now = Date.parse('2026-11-21T10:00:00Z')

const openai = (code: string | null, message = 'x', type = 'invalid_request_error') => ({
  error: { message, type, param: null, code },
})
const anthropic = (type: string, message = 'x', details?: object) => ({
  type: 'error',
  error: { type, message, details },
})
const gemini = (code: number, status: string, message = 'x', details: object[] = []) => ({
  error: { code, status, message, details },
})

interface Case {
  readonly name: string
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly class: FailureClass
  readonly retryable?: boolean
  readonly waitMs?: number
}

const answers: readonly Case[] = [
  { name: 'a bad key', status: 401, body: openai('invalid_api_key'), class: 'auth' },
  { name: "a bad key in Mistral's words", status: 401, body: { detail: 'Invalid API Key' }, class: 'auth' },
  {
    name: "Gemini's bad key",
    status: 400,
    body: gemini(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
      { reason: 'API_KEY_INVALID' },
    ]),
    class: 'auth',
  },
  { name: 'a key without the right', status: 403, body: anthropic('permission_error'), class: 'auth' },
  {
    name: 'moderated input',
    status: 403,
    body: { error: { code: 403, message: 'Your input was flagged by the moderation' } },
    class: 'policy',
  },
  { name: 'no credits', status: 402, body: { error: { code: 402, message: 'Insufficient credits' } }, class: 'quota' },
  {
    name: 'credits held by running requests',
    status: 402,
    headers: { 'retry-after': '5' },
    class: 'rate',
    retryable: true,
    waitMs: 5000,
  },
  {
    name: "OpenAI's spent quota",
    status: 429,
    body: openai('insufficient_quota', 'You exceeded your current quota', 'insufficient_quota'),
    class: 'quota',
  },
  {
    name: "Anthropic's spending limit",
    status: 429,
    body: anthropic('rate_limit_error', 'Limit', { error_code: 'enforced_spend_limit_reached' }),
    class: 'quota',
  },
  {
    name: "Anthropic's empty balance",
    status: 400,
    body: anthropic('invalid_request_error', 'Your credit balance is too low to access the Anthropic API.'),
    class: 'quota',
  },
  {
    name: "Anthropic's usage limit",
    status: 400,
    body: anthropic('invalid_request_error', 'You have reached your specified API usage limits.'),
    class: 'quota',
  },
  {
    name: "Gemini's quota a minute",
    status: 429,
    body: gemini(
      429,
      'RESOURCE_EXHAUSTED',
      'You exceeded your current quota, please check your plan and billing details.',
      [{ retryDelay: '34.4s' }],
    ),
    class: 'rate',
    retryable: true,
    waitMs: 34_400,
  },
  { name: 'a model that is not there', status: 404, body: openai('model_not_found'), class: 'model_gone' },
  {
    name: "a model that is not there, in Ollama's words",
    status: 404,
    body: { error: "model 'x' not found" },
    class: 'model_gone',
  },
  {
    name: "a model that is not there, in Mistral's words",
    status: 400,
    body: { object: 'error', message: 'Invalid model: x', type: 'invalid_model', code: '1500' },
    class: 'model_gone',
  },
  {
    name: "a model that is not there, in OpenRouter's words",
    status: 400,
    body: { error: { code: 400, message: 'x/y is not a valid model ID' } },
    class: 'model_gone',
  },
  {
    name: 'a model taken out of service',
    status: 400,
    body: openai('model_decommissioned', 'The model `x` has been decommissioned'),
    class: 'model_gone',
  },
  {
    name: 'a service taken out of service',
    status: 410,
    body: { error: { code: 'gone', message: 'Gone' } },
    class: 'retired',
  },
  { name: 'a bad request', status: 400, body: openai('unsupported_value'), class: 'request' },
  {
    name: 'a missing field',
    status: 422,
    body: { detail: [{ loc: ['body', 'messages'], msg: 'Field required', type: 'missing' }] },
    class: 'request',
  },
  { name: "a body too large, in a proxy's page", status: 413, class: 'request' },
  {
    name: "OpenAI's too long conversation",
    status: 400,
    body: openai('context_length_exceeded'),
    class: 'context_length',
  },
  {
    name: "Anthropic's too long conversation",
    status: 400,
    body: anthropic('invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum'),
    class: 'context_length',
  },
  {
    name: "Gemini's too long conversation",
    status: 400,
    body: gemini(
      400,
      'INVALID_ARGUMENT',
      'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
    ),
    class: 'context_length',
  },
  {
    name: "Groq's too long conversation",
    status: 413,
    body: openai('rate_limit_exceeded', 'Request too large for model `x` on tokens per minute', 'tokens'),
    class: 'context_length',
  },
  {
    name: "Azure's filter",
    status: 400,
    body: { error: { code: 'content_filter', message: 'x', innererror: { code: 'ResponsibleAIPolicyViolation' } } },
    class: 'policy',
  },
  {
    name: 'a call that did not fit its tool',
    status: 400,
    body: openai('tool_use_failed'),
    class: 'model_output',
    retryable: true,
  },
  { name: 'a timeout of theirs', status: 408, class: 'rate', retryable: true },
  { name: 'a conflict', status: 409, class: 'rate', retryable: true },
  { name: 'too early', status: 425, class: 'rate', retryable: true },
  { name: "Groq's flex tier", status: 498, class: 'rate', retryable: true },
  {
    name: 'too many requests',
    status: 429,
    headers: { 'retry-after': '2' },
    class: 'rate',
    retryable: true,
    waitMs: 2000,
  },
  { name: 'an error of theirs', status: 500, body: anthropic('api_error'), class: 'down', retryable: true },
  { name: 'a proxy without its server', status: 502, class: 'down', retryable: true },
  { name: 'a rest', status: 503, headers: { 'retry-after': '1' }, class: 'down', retryable: true, waitMs: 1000 },
  { name: "Cloudflare's timeout", status: 524, class: 'down', retryable: true },
  { name: 'overload', status: 529, body: anthropic('overloaded_error'), class: 'down', retryable: true },
  { name: 'a redirect', status: 302, class: 'protocol' },
  {
    name: 'the word of the provider not to ask again',
    status: 500,
    headers: { 'x-should-retry': 'false' },
    class: 'down',
  },
  {
    name: 'the word of the provider to ask again',
    status: 400,
    headers: { 'x-should-retry': 'true' },
    class: 'request',
    retryable: true,
  },
  {
    name: 'an overload inside a 200',
    status: 200,
    body: anthropic('overloaded_error'),
    class: 'down',
    retryable: true,
  },
  {
    name: 'a rate limit inside a 200',
    status: 200,
    body: { error: { code: 429, message: 'slow down' } },
    class: 'rate',
    retryable: true,
  },
  {
    name: 'a failed call inside a 200',
    status: 200,
    body: {
      error: {
        message: 'Failed to call a function',
        type: 'invalid_request_error',
        code: 'tool_use_failed',
        status_code: 400,
      },
    },
    class: 'model_output',
    retryable: true,
  },
  { name: 'a bad request inside a 200', status: 200, body: anthropic('invalid_request_error'), class: 'request' },
  { name: 'a spent quota inside a 200', status: 200, body: openai('insufficient_quota'), class: 'quota' },
  {
    name: 'an error of no known kind inside a 200',
    status: 200,
    body: { error: 'an error was encountered while running the model' },
    class: 'down',
    retryable: true,
  },
]

for (const { name, status, body, headers, class: expected, retryable = false, waitMs } of answers)
  test(`${name} (${status}) is ${expected}`, () => {
    const failure = classifyFailure({ status, headers, error: readWireError(body), now })
    assert.is(failure.class, expected)
    assert.is(failure.retryable, retryable)
    assert.is(failure.waitMs, waitMs)
  })

const coded = (code: string) => Object.assign(new Error(`it failed: ${code}`), { code })

const thrown: readonly { name: string; signal: Omit<FailureSignal, 'now'>; class: FailureClass; retryable: boolean }[] =
  [
    { name: 'a reset', signal: { thrown: coded('ECONNRESET') }, class: 'down', retryable: true },
    { name: 'a name that is not known', signal: { thrown: coded('ENOTFOUND') }, class: 'down', retryable: true },
    {
      name: 'a bad certificate',
      signal: { thrown: coded('DEPTH_ZERO_SELF_SIGNED_CERT') },
      class: 'down',
      retryable: true,
    },
    {
      name: 'a connection that took too long',
      signal: { thrown: coded('UND_ERR_CONNECT_TIMEOUT') },
      class: 'down',
      retryable: true,
    },
    {
      name: 'silence before the headers',
      signal: { thrown: coded('UND_ERR_HEADERS_TIMEOUT') },
      class: 'down',
      retryable: false,
    },
    { name: 'silence in the body', signal: { thrown: coded('UND_ERR_BODY_TIMEOUT') }, class: 'down', retryable: false },
    {
      name: 'a caller gone away',
      signal: { thrown: new DOMException('gone', 'AbortError') },
      class: 'cancelled',
      retryable: false,
    },
    {
      name: 'bytes that are no HTTP',
      signal: { thrown: coded('HPE_INVALID_CONSTANT') },
      class: 'protocol',
      retryable: false,
    },
    {
      name: 'a reason behind a reason',
      signal: { thrown: new TypeError('fetch failed', { cause: coded('ECONNREFUSED') }) },
      class: 'down',
      retryable: true,
    },
    {
      name: 'a stream cut off',
      signal: { thrown: new DialectError('cut', { message: 'cut' }), status: 200 },
      class: 'protocol',
      retryable: true,
    },
    {
      name: 'a page under a good status',
      signal: { thrown: new DialectError('broken', { message: 'page' }), status: 200 },
      class: 'protocol',
      retryable: false,
    },
    {
      name: 'a page under a bad status',
      signal: { thrown: new DialectError('broken', { message: 'page' }), status: 503 },
      class: 'down',
      retryable: true,
    },
    {
      name: 'an error event',
      signal: { thrown: new DialectError('reported', { message: 'x', code: 'overloaded_error' }), status: 200 },
      class: 'down',
      retryable: true,
    },
  ]

for (const { name, signal, class: expected, retryable } of thrown)
  test(`${name} is ${expected}`, () => {
    const failure = classifyFailure({ ...signal, now })
    assert.equal([failure.class, failure.retryable], [expected, retryable])
  })

test('a failure carries the code and the words of the provider, in one line', () => {
  const failure = classifyFailure({
    status: 500,
    error: { message: `two\n  lines ${'x'.repeat(1000)}`, code: 'oops' },
    now,
  })
  assert.is(failure.code, 'oops')
  assert.ok(failure.message.startsWith('two lines x'))
  assert.is(failure.message.length, 500)
})

test('a failure without words has its status or its transport code', () => {
  assert.is(classifyFailure({ status: 503, now }).message, 'HTTP status 503')
  assert.is(classifyFailure({ thrown: Object.assign(new Error(''), { code: 'EPIPE' }), now }).message, 'EPIPE')
  assert.is(classifyFailure({ thrown: coded('EPIPE'), now }).code, 'EPIPE')
})

test('long words of a provider are classified in linear time', () => {
  const message = `model ${'model '.repeat(200_000)}`
  assert.is(classifyFailure({ status: 400, error: { message }, now }).class, 'request')
})

test.run()
