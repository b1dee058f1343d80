import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import * as assert from 'uvu/assert'
import { clientDialects, dialects } from '../../../src/chat/dialects/dialects.ts'
import { forPlace } from '../../../src/chat/dialects/responses/placement.ts'
import { harmlessFields } from '../../../src/chat/dialects/shared/harmless-fields.ts'
import { unsupportedFields } from '../../../src/chat/dialects/unsupported.ts'
import type { ClientDialect, Dialect } from '../../../src/chat/protocol/dialect.ts'
import { AppError } from '../../../src/errors.ts'
import { pluck } from '../../helpers/pluck.ts'
import { suite } from '../../helpers/suite.ts'
import { leftOutOf } from '../left-out.ts'

const test = suite('every field that a client library can send')

/** The fields of an interface in a library's declarations. */
function fieldsOf(library: string, path: string, name: string): readonly string[] {
  const folder = dirname(createRequire(import.meta.url).resolve(library))
  const text = readFileSync(join(folder, path), 'utf8')
  const start = text.indexOf(`interface ${name} `)
  const body = text.slice(start, text.indexOf('\n}', start))
  return [...body.matchAll(/^ {4}(\w+)\??:/gm)].map((found) => found[1]!)
}

const format = { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } }
const shape = { type: 'json_schema', schema: { type: 'object' } }
const weather = { type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: {} } } }

/** A value for each that asks for something. */
const openaiSamples: Readonly<Record<string, unknown>> = {
  messages: [{ role: 'user', content: 'Another question' }],
  model: 'another-model',
  audio: { voice: 'alloy', format: 'wav' },
  frequency_penalty: 0.5,
  function_call: { name: 'weather' },
  functions: [{ name: 'time', parameters: { type: 'object', properties: {} } }],
  logit_bias: { 50256: -100 },
  logprobs: true,
  max_completion_tokens: 9,
  max_tokens: 9,
  metadata: { a: 'b' },
  modalities: ['text', 'audio'],
  moderation: { model: 'omni' },
  n: 2,
  parallel_tool_calls: false,
  prediction: { type: 'content', content: 'a guess' },
  presence_penalty: 0.5,
  prompt_cache_key: 'k',
  prompt_cache_options: { ttl: '1h' },
  prompt_cache_retention: '24h',
  reasoning_effort: 'high',
  response_format: format,
  safety_identifier: 's',
  seed: 7,
  service_tier: 'flex',
  stop: ['END'],
  store: true,
  stream: true,
  stream_options: { include_usage: true },
  temperature: 0.5,
  tool_choice: 'required',
  tools: [{ type: 'function', function: { name: 'time', parameters: { type: 'object', properties: {} } } }],
  top_logprobs: 3,
  top_p: 0.5,
  user: 'u',
  verbosity: 'low',
  web_search_options: { search_context_size: 'low' },
  a_field_of_tomorrow: { on: true },
}

const anthropicSamples: Readonly<Record<string, unknown>> = {
  max_tokens: 9,
  messages: [{ role: 'user', content: 'Another question' }],
  model: 'another-model',
  betas: ['beta-of-tomorrow-2027-01-01'],
  billing_policy: { type: 'standard' },
  cache_control: { type: 'ephemeral' },
  compaction: { enabled: true },
  container: 'container_1',
  context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
  diagnostics: { previous_message_id: 'm' },
  fallback_credit_token: 't',
  fallbacks: [{ model: 'claude-haiku-4-5' }],
  inference_geo: 'us',
  mcp_servers: [{ type: 'url', url: 'https://example.org', name: 'm' }],
  metadata: { user_id: 'u' },
  output_config: { effort: 'high', format: shape, task_budget: { type: 'tokens', total: 20000 } },
  output_format: shape,
  service_tier: 'priority',
  speed: 'fast',
  stop_sequences: ['END'],
  stream: true,
  system: 'Be kind.',
  temperature: 0.5,
  thinking: { type: 'enabled', budget_tokens: 2000 },
  thread: { type: 'create' },
  tool_choice: { type: 'any' },
  tools: [{ name: 'time', input_schema: { type: 'object', properties: {} } }],
  top_k: 4,
  top_p: 0.5,
  user_profile_id: 'p',
  workspace_id: 'w',
  a_field_of_tomorrow: { on: true },
}

const endpoint = 'https://example.org/v1beta/models/{model}:generateContent'
const question = [{ role: 'user', content: 'Weather?' }]
const openaiBase = { model: 'claude-sonnet-4-20250514', messages: question, tools: [weather] }
const anthropicBase = {
  model: 'claude-sonnet-4-20250514',
  max_tokens: 5000,
  messages: question,
  tools: [{ name: 'weather', input_schema: weather.function.parameters }],
}

/** The handling of a field: it changes the request sent, is refused, is named, or is known to be harmless. */
function fateOf(inbound: ClientDialect, target: Dialect, base: object, name: string, value: unknown): string {
  const write = (body: object) => {
    const request = inbound.readRequest(body)
    const { url, headers, body: wire } = target.writeRequest(request, endpoint)
    return { request, wire: JSON.parse(JSON.stringify({ url, headers, wire })) }
  }
  try {
    const { request, wire } = write({ ...base, [name]: value })
    const warnings = leftOutOf(request, target.id, endpoint).join('; ')
    if (!isDeepStrictEqual(wire, write(base).wire))
      return warnings.split(/, |: /).includes(name) ? `written, and named: ${warnings}` : 'written'
    return warnings === '' ? 'ignored' : `named: ${warnings}`
  } catch (error) {
    assert.instance(error, AppError)
    assert.is((error as AppError).code, 'invalid')
    return 'refused'
  }
}

const { 'anthropic-messages': anthropic, ollama, 'openai-chat': openai, 'openai-responses': responses } = clientDialects

const inbounds = [
  {
    inbound: openai,
    base: openaiBase,
    samples: openaiSamples,
    reasons: harmlessFields().ours,
    fields: fieldsOf('openai', 'resources/chat/completions/completions.d.ts', 'ChatCompletionCreateParamsBase'),
  },
  {
    inbound: anthropic,
    base: anthropicBase,
    samples: anthropicSamples,
    reasons: harmlessFields().anthropic,
    fields: fieldsOf('@anthropic-ai/sdk', 'resources/beta/messages/messages.d.ts', 'MessageCreateParamsBase'),
  },
]

for (const { inbound, base, samples, reasons, fields } of inbounds) {
  test(`${inbound.id}: a value is tried for every field of its library`, () => {
    assert.ok(fields.length > 20, String(fields.length))
    assert.equal(
      fields.filter((name) => !(name in samples)),
      [],
    )
  })

  for (const target of dialects)
    test(`${inbound.id} → ${target.id}: no field is taken and ignored`, () => {
      for (const [name, value] of Object.entries(samples)) {
        const fate = fateOf(inbound, target, base, name, value)
        assert.not.match(fate, /^written, and named/, name)
        if (fate === 'ignored') assert.ok(reasons[name], `${name} is taken and ignored`)
        else if (fate.startsWith('named')) {
          const [inner = name] = name === 'betas' ? (value as string[]) : []
          const words = { output_config: 'task_budget', stop_sequences: 'stop' }[name] ?? inner
          assert.ok(fate.includes(words), `${name}: ${fate}`)
        }
      }
    })
}

const schema = { type: 'object', properties: {} }

/** Requests of dialects without a library of their own here, and the name that a warning has for each field. */
const others = [
  {
    inbound: responses,
    base: { model: 'm', input: 'Weather?', tools: [{ type: 'function', name: 'weather', parameters: schema }] },
    samples: {
      'include file_search_call.results': { include: ['file_search_call.results'] },
      'include a.value.of.tomorrow': { include: ['a.value.of.tomorrow'] },
      logprobs: { include: ['message.output_text.logprobs'] },
      top_logprobs: { top_logprobs: 3 },
      verbosity: { text: { verbosity: 'low' } },
      response_format: { text: { format: { type: 'json_object' } } },
      reasoning_effort: { reasoning: { effort: 'high' } },
      service_tier: { service_tier: 'flex' },
      max_tool_calls: { max_tool_calls: 2 },
      temperature: { temperature: 0.5 },
      top_p: { top_p: 0.5 },
      max_tokens: { max_output_tokens: 9 },
      parallel_tool_calls: { parallel_tool_calls: false },
      tool_choice: { tool_choice: 'required' },
    },
  },
  {
    inbound: ollama,
    base: { model: 'm', messages: question },
    samples: {
      reasoning_effort: { think: 'high' },
      think: { think: true },
      response_format: { format: 'json' },
      logprobs: { logprobs: true },
      raw: { raw: true },
      ...Object.fromEntries(
        ['temperature', 'top_p', 'top_k', 'seed', 'presence_penalty', 'frequency_penalty', 'min_p', 'num_ctx'].map(
          (name) => [name, { options: { [name]: 0.5 } }],
        ),
      ),
      max_tokens: { options: { num_predict: 9 } },
      stop: { options: { stop: ['END'] } },
    },
  },
]

for (const { inbound, base, samples } of others)
  for (const target of dialects)
    for (const [place, name] of [
      ['https://example.org/v1', 'm'],
      ['https://api.openai.com/v1', 'gpt-5'],
      ['https://example.org/v1', 'claude-opus-4-6'],
      ['https://example.org/v1', 'gemini-2.5-pro'],
      ['https://example.org/v1', 'gpt-oss:20b'],
    ] as const)
      test(`${inbound.id} → ${target.id}, ${name}: each field is in the request sent, or a warning names it, and never both`, () => {
        const write = (body: object) => {
          const asked = { ...inbound.readRequest(body), model: name }
          const request = forPlace(asked, target.id, place, () => undefined)
          const { body: sent } = target.writeRequest(request, place)
          const warnings = unsupportedFields(request, target.id, sent)
          return { sent: JSON.parse(JSON.stringify(sent)), words: warnings.join(', ').split(/, |: /) }
        }
        const plain = write(base)
        for (const [field, more] of Object.entries(samples)) {
          const { sent, words } = write({ ...base, ...more })
          const isSent = !isDeepStrictEqual(without(sent), without(plain.sent))
          assert.is(words.includes(field), !isSent, `${field}: ${isSent ? 'sent' : 'not sent'}, ${words.join(', ')}`)
        }
      })

/** An empty object asks for nothing, as the options that Ollama's writer leaves behind. */
function without(sent: Record<string, unknown>): object {
  return Object.fromEntries(
    Object.entries(sent).filter(([, value]) => JSON.stringify(value) !== '{}' && value !== undefined),
  )
}

test('a field of an unknown beta goes to an Anthropic provider together with its header', () => {
  const body = { ...anthropicBase, betas: ['beta-of-tomorrow-2027-01-01'], a_field_of_tomorrow: { on: true } }
  const { headers, body: wire } = anthropic.writeRequest(anthropic.readRequest(body), endpoint)
  assert.is(headers['anthropic-beta'], 'beta-of-tomorrow-2027-01-01')
  assert.equal(wire['a_field_of_tomorrow'], { on: true })
  assert.is(wire['betas'], undefined)
})

test('an instruction among the turns keeps its place and its fields for an Anthropic provider', () => {
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content: 'Hello' },
    { role: 'system', content: 'Now be brief.', output_config: { effort: 'low' } },
    { role: 'user', content: [{ type: 'text', text: 'Why?' }] },
  ]
  const body = { ...anthropicBase, system: 'Be kind.', messages }
  const request = anthropic.readRequest(body)
  const { body: wire } = anthropic.writeRequest(request, endpoint)
  assert.equal(JSON.parse(JSON.stringify(wire)), body)
  assert.match(leftOutOf(request, 'openai-chat').join(), /output_config of a message/)
})

test('parts, blocks and fields of messages that get lost are named', () => {
  const searched = [
    { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
    { type: 'text', text: 'It rains.' },
  ]
  const document = {
    type: 'document',
    source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
    citations: { enabled: true },
  }
  const asked = anthropic.readRequest({
    ...anthropicBase,
    messages: [
      { role: 'user', content: [document, { type: 'text', text: 'Weather?', cache_control: { type: 'ephemeral' } }] },
      { role: 'assistant', content: searched },
      ...question,
    ],
  })
  assert.equal(leftOutOf(asked, 'gemini'), [
    'citations of a part, a server_tool_use in a message: left out, since Gemini does not know it',
  ])
  assert.equal(leftOutOf(asked, 'anthropic-messages'), [])
  const named = openai.readRequest({
    model: 'm',
    messages: [
      {
        role: 'user',
        name: 'ada',
        content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' } }],
      },
    ],
  })
  assert.equal(leftOutOf(named, 'anthropic-messages'), [
    'name of a message, detail of an image: left out, since Anthropic does not know it',
  ])
})

test('a choice among some of the tools shows only these where a dialect has no word for it', () => {
  const tools = [weather, { type: 'function', function: { name: 'time' } }]
  const allowed = { mode: 'required', tools: [{ type: 'function', function: { name: 'time' } }] }
  const request = openai.readRequest({
    model: 'm',
    messages: question,
    tools,
    tool_choice: { type: 'allowed_tools', allowed_tools: allowed },
  })
  const { body } = anthropic.writeRequest(request, endpoint)
  assert.equal(pluck(body['tools'] as { name: string }[], 'name'), ['time'])
  assert.equal(body['tool_choice'], { type: 'any' })
  assert.equal(leftOutOf(request, 'anthropic-messages'), [])
  assert.equal(openai.writeRequest(request, endpoint).body['tool_choice'], {
    type: 'allowed_tools',
    allowed_tools: allowed,
  })
})

test.run()
