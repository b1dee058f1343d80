import * as assert from 'uvu/assert'
import { readWireError } from '../../../src/chat/dialects/shared/wire-error.ts'
import { DialectError } from '../../../src/chat/protocol/dialect.ts'
import { classifyFailure, type Failure, type FailureClass } from '../../../src/chat/protocol/failure.ts'
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

const retryAfter = (seconds: number) => ({ 'retry-after': String(seconds) })

/** What an answer is, its status and body, its class with `again` where it may be sent again, and its headers. */
type Case = readonly [
  name: string,
  status: number,
  body: unknown,
  expected: FailureClass | `${FailureClass} again`,
  headers?: Readonly<Record<string, string>>,
  waitMs?: number,
]

const retired = openai('model_decommissioned', 'The model `x` has been decommissioned')
const balance = anthropic('invalid_request_error', 'Your credit balance is too low to access the Anthropic API.')
const usageLimit = anthropic('invalid_request_error', 'You have reached your specified API usage limits.')
const tooLong = anthropic('invalid_request_error', 'prompt is too long: 210000 tokens > 200000 maximum')
const tooLarge = openai('rate_limit_exceeded', 'Request too large for model `x` on tokens per minute', 'tokens')
const geminiKey = gemini(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
  { reason: 'API_KEY_INVALID' },
])
const geminiQuota = gemini(
  429,
  'RESOURCE_EXHAUSTED',
  'You exceeded your current quota, please check your plan and billing details.',
  [{ retryDelay: '34.4s' }],
)
const geminiTooLong = gemini(
  400,
  'INVALID_ARGUMENT',
  'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
)
const filtered = { code: 'content_filter', message: 'x', innererror: { code: 'ResponsibleAIPolicyViolation' } }
const missing = [{ loc: ['body', 'messages'], msg: 'Field required', type: 'missing' }]
const failedCall = { message: 'Failed to call a function', type: 'invalid_request_error', code: 'tool_use_failed' }

const answers: readonly Case[] = [
  ['a bad key', 401, openai('invalid_api_key'), 'auth'],
  ["a bad key in Mistral's words", 401, { detail: 'Invalid API Key' }, 'auth'],
  ["Gemini's bad key", 400, geminiKey, 'auth'],
  ['a key without the right', 403, anthropic('permission_error'), 'auth'],
  ['moderated input', 403, { error: { code: 403, message: 'Your input was flagged by the moderation' } }, 'policy'],
  ['no credits', 402, { error: { code: 402, message: 'Insufficient credits' } }, 'quota'],
  ['credits held by running requests', 402, undefined, 'rate again', retryAfter(5), 5000],
  ["OpenAI's spent quota", 429, openai('insufficient_quota', 'You exceeded your quota', 'insufficient_quota'), 'quota'],
  [
    "Anthropic's spending limit",
    429,
    anthropic('rate_limit_error', 'Limit', { error_code: 'enforced_spend_limit_reached' }),
    'quota',
  ],
  ["Anthropic's empty balance", 400, balance, 'quota'],
  ["Anthropic's usage limit", 400, usageLimit, 'quota'],
  ["Gemini's quota a minute", 429, geminiQuota, 'rate again', {}, 34_400],
  ['a model that is not there', 404, openai('model_not_found'), 'model_gone'],
  ["a model that is not there, in Ollama's words", 404, { error: "model 'x' not found" }, 'model_gone'],
  [
    "a model that is not there, in Mistral's words",
    400,
    { object: 'error', message: 'Invalid model: x', type: 'invalid_model', code: '1500' },
    'model_gone',
  ],
  [
    "a model that is not there, in OpenRouter's words",
    400,
    { error: { code: 400, message: 'x/y is not a valid model ID' } },
    'model_gone',
  ],
  ['a model taken out of service', 400, retired, 'model_gone'],
  ['a service taken out of service', 410, { error: { code: 'gone', message: 'Gone' } }, 'retired'],
  ['a bad request', 400, openai('unsupported_value'), 'request'],
  ['a missing field', 422, { detail: missing }, 'request'],
  ["a body too large, in a proxy's page", 413, undefined, 'request'],
  ["OpenAI's too long conversation", 400, openai('context_length_exceeded'), 'context_length'],
  ["Anthropic's too long conversation", 400, tooLong, 'context_length'],
  ["Gemini's too long conversation", 400, geminiTooLong, 'context_length'],
  ["Groq's too long conversation", 413, tooLarge, 'context_length'],
  ["Azure's filter", 400, { error: filtered }, 'policy'],
  ['a call that did not fit its tool', 400, openai('tool_use_failed'), 'model_output again'],
  ['a timeout of theirs', 408, undefined, 'rate again'],
  ['a conflict', 409, undefined, 'rate again'],
  ['too early', 425, undefined, 'rate again'],
  ["Groq's flex tier", 498, undefined, 'rate again'],
  ['too many requests', 429, undefined, 'rate again', retryAfter(2), 2000],
  ['an error of theirs', 500, anthropic('api_error'), 'down again'],
  ['a proxy without its server', 502, undefined, 'down again'],
  ['a rest', 503, undefined, 'down again', retryAfter(1), 1000],
  ["Cloudflare's timeout", 524, undefined, 'down again'],
  ['overload', 529, anthropic('overloaded_error'), 'down again'],
  ['a redirect', 302, undefined, 'protocol'],
  ['the word of the provider not to ask again', 500, undefined, 'down', { 'x-should-retry': 'false' }],
  ['the word of the provider to ask again', 400, undefined, 'request again', { 'x-should-retry': 'true' }],
  ['an overload inside a 200', 200, anthropic('overloaded_error'), 'down again'],
  ['a rate limit inside a 200', 200, { error: { code: 429, message: 'slow down' } }, 'rate again'],
  ['a failed call inside a 200', 200, { error: { ...failedCall, status_code: 400 } }, 'model_output again'],
  ['a bad request inside a 200', 200, anthropic('invalid_request_error'), 'request'],
  ['a spent quota inside a 200', 200, openai('insufficient_quota'), 'quota'],
  ['an error of no known kind inside a 200', 200, { error: 'an error was encountered' }, 'down again'],
]

for (const [name, status, body, expected, headers, waitMs] of answers)
  test(`${name} (${status}) is ${expected}`, () => {
    const failure = classifyFailure({ status, headers, error: readWireError(body), now })
    assert.is(outcomeOf(failure), expected)
    assert.is(failure.waitMs, waitMs)
  })

test('the words of an error are its text, else those of its details, else its name', () => {
  for (const [message, words] of [
    ['no such model', 'no such model'],
    [[{ msg: 'too long' }], 'too long'],
    [undefined, 'a_code'],
  ] as const)
    assert.is(readWireError({ error: { message, code: 'a_code' } })?.message, words)
})

const coded = (code: string) => Object.assign(new Error(`it failed: ${code}`), { code })

const reported = new DialectError('reported', { message: 'x', code: 'overloaded_error' })
const page = new DialectError('broken', { message: 'page' })

for (const [name, reason, expected, status] of [
  ['a reset', coded('ECONNRESET'), 'down again'],
  ['a name that is not known', coded('ENOTFOUND'), 'down again'],
  ['a bad certificate', coded('DEPTH_ZERO_SELF_SIGNED_CERT'), 'down again'],
  ['a connection that took too long', coded('UND_ERR_CONNECT_TIMEOUT'), 'down again'],
  ['silence before the headers', coded('UND_ERR_HEADERS_TIMEOUT'), 'down'],
  ['silence in the body', coded('UND_ERR_BODY_TIMEOUT'), 'down'],
  ['a caller gone away', new DOMException('gone', 'AbortError'), 'cancelled'],
  ['bytes that are no HTTP', coded('HPE_INVALID_CONSTANT'), 'protocol'],
  ['a reason behind a reason', new TypeError('fetch failed', { cause: coded('ECONNREFUSED') }), 'down again'],
  ['a stream cut off', new DialectError('cut', { message: 'cut' }), 'protocol again', 200],
  ['a page under a good status', page, 'protocol', 200],
  ['a page under a bad status', page, 'down again', 503],
  ['an error event', reported, 'down again', 200],
] as const)
  test(`${name} is ${expected}`, () => {
    const failure = classifyFailure({ thrown: reason, now, ...(status !== undefined && { status }) })
    assert.is(outcomeOf(failure), expected)
  })

function outcomeOf(failure: Failure): string {
  return `${failure.class}${failure.retryable ? ' again' : ''}`
}

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
