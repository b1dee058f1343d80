import * as assert from 'uvu/assert'
import { anthropic } from '../../../src/chat/dialects/anthropic/dialect.ts'
import { clientDialects, dialects } from '../../../src/chat/dialects/dialects.ts'
import type { Dialect } from '../../../src/chat/protocol/dialect.ts'
import type { ChatRequest, ContentPart, Message } from '../../../src/chat/protocol/messages.ts'
import { AppError } from '../../../src/errors.ts'
import { suite } from '../../helpers/suite.ts'
import { leftOutOf } from '../left-out.ts'

const test = suite('fields that a dialect cannot express')

const endpoint = 'https://example.org/v1beta/models/{model}:generateContent'
const hi: Message = { role: 'user', content: 'hi' }

function refusal(dialect: Dialect, messages: readonly Message[]): string {
  try {
    dialect.writeRequest({ model: 'm', messages }, endpoint)
    return ''
  } catch (error) {
    assert.instance(error, AppError)
    assert.is((error as AppError).code, 'invalid')
    return (error as AppError).message
  }
}

const audio = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }
const file = { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } }
const stored = { type: 'file', file: { file_id: 'file_1' } }
const found: ContentPart = { type: 'foreign', dialect: 'anthropic', value: { type: 'search_result', source: 's' } }

const shown: readonly (readonly [string, ContentPart, readonly Dialect['id'][]])[] = [
  ['sound', audio, ['openai-chat', 'gemini']],
  ['a file', file, ['openai-chat', 'openai-responses', 'gemini', 'anthropic-messages']],
  ['a file kept at the provider', stored, ['openai-chat', 'openai-responses']],
  ["a search result of Anthropic's", found, ['anthropic-messages']],
]

for (const [what, part, takers] of shown)
  test(`${what} from a user or a tool is passed through or refused, never lost`, () => {
    for (const dialect of dialects) {
      const asked = { role: 'user', content: [{ type: 'text', text: 'see' }, part] } as Message
      const answered = { role: 'tool', tool_call_id: 'c1', content: [part] } as Message
      const call = { id: 'c1', type: 'function' as const, function: { name: 'f', arguments: '{}' } }
      const called: Message = { role: 'assistant', content: null, tool_calls: [call] }
      for (const messages of [[asked], [hi, called, answered]]) {
        const words = refusal(dialect, messages)
        if (takers.includes(dialect.id)) assert.is(words, '', dialect.id)
        else assert.match(words, / takes no .+: ask without it, or ask another provider$/, dialect.id)
      }
    }
  })

test('the same in an earlier message of the model is left out', () => {
  for (const dialect of dialects) {
    const earlier = { role: 'assistant', content: [{ type: 'text', text: 'so' }, found] } as Message
    assert.is(refusal(dialect, [hi, earlier, hi]), '', dialect.id)
  }
})

test('tools that another provider runs itself and settings that are not known are named', () => {
  const request: ChatRequest = {
    model: 'm',
    messages: [hi],
    tools: [
      { type: 'function', function: { name: 'f' } },
      { type: 'foreign', dialect: 'anthropic', value: { type: 'web_search_20250305', name: 'web_search' } },
      { type: 'foreign', dialect: 'ollama', value: { searcher: {} } },
    ],
    seed: 4,
    tool_choice: 'required',
    logit_bias: { 5: 1 },
    extra_content: { anthropic: { thinking: { type: 'enabled', budget_tokens: 2000 } } },
  }
  const told = (id: Dialect['id']) => leftOutOf(request, id)
  const why = (name: string) => `left out, since ${name} does not know it`
  assert.equal(told('openai-chat'), [`the tool web_search, the tool searcher, thinking: ${why("OpenAI's dialect")}`])
  assert.equal(told('anthropic-messages'), [`the tool searcher, seed, logit_bias: ${why('Anthropic')}`])
  assert.equal(told('gemini'), [`the tool web_search, the tool searcher, logit_bias, thinking: ${why('Gemini')}`])
  assert.equal(told('ollama'), [`the tool web_search, tool_choice, logit_bias, thinking: ${why('Ollama')}`])
})

test('a field that asks for nothing is not named', () => {
  const request: ChatRequest = {
    model: 'm',
    messages: [hi],
    seed: null,
    presence_penalty: 0,
    frequency_penalty: 0,
    parallel_tool_calls: true,
    tool_choice: 'auto',
    logprobs: false,
    logit_bias: {},
    modalities: ['text'],
  }
  for (const { id } of dialects) assert.equal(leftOutOf(request, id), [], id)
})

test('sampling that a model refuses is left out and named, neutral values stay', () => {
  const sampled = { messages: [hi], temperature: 0.2, top_p: 0.5, top_k: 4 }
  const cases: readonly (readonly [model: string, kept: object, lost: string])[] = [
    ['claude-sonnet-5', {}, 'temperature, top_p, top_k'],
    ['claude-opus-4-7', {}, 'temperature, top_p, top_k'],
    ['claude-haiku-5-5-20270101', {}, 'temperature, top_p, top_k'],
    ['claude-opus-4-6', { temperature: 0.2, top_k: 4 }, 'top_p'],
    ['claude-haiku-4-5-20251001', { temperature: 0.2, top_k: 4 }, 'top_p'],
    ['claude-sonnet-4-20250514', { temperature: 0.2, top_p: 0.5, top_k: 4 }, ''],
    ['claude-3-7-sonnet-20250219', { temperature: 0.2, top_p: 0.5, top_k: 4 }, ''],
  ]
  for (const [model, kept, lost] of cases) {
    const { body } = anthropic.writeRequest({ model, ...sampled }, endpoint)
    const { temperature, top_p: topP, top_k: topK } = JSON.parse(JSON.stringify(body))
    assert.equal(JSON.parse(JSON.stringify({ temperature, top_p: topP, top_k: topK })), kept, model)
    const words = lost === '' ? [] : [`${lost}: left out, since ${model} refuses it`]
    assert.equal(leftOutOf({ model, ...sampled }, 'anthropic-messages'), words, model)
  }
  const own = { model: 'claude-opus-5', max_tokens: 9, messages: [hi], temperature: 0.2, top_p: 0.5 }
  const read = anthropic.readRequest(own)
  assert.equal(JSON.parse(JSON.stringify(anthropic.writeRequest(read, endpoint).body)), own)
  assert.equal(leftOutOf(read, 'anthropic-messages'), [])
  const neutral = anthropic.writeRequest({ model: 'claude-opus-5', messages: [hi], temperature: 1 }, endpoint).body
  assert.is(neutral['temperature'], 1)
  const openai = 'https://api.openai.com/v1/chat/completions'
  const asked = { model: 'gpt-5', messages: [hi], temperature: 0.2, logprobs: false }
  assert.equal(leftOutOf(asked, 'openai-chat', openai), ['temperature: left out, since gpt-5 refuses it'])
  assert.equal(leftOutOf(asked, 'openai-chat', 'https://example.org/v1/chat/completions'), [])
})

test('a value that Anthropic takes in another form is named with what it gets', () => {
  const [cut, blank] = [
    "temperature: 1 in place of 1.7, since Anthropic's scale ends there",
    'stop: texts of white space alone are left out, since Anthropic refuses them',
  ]
  const cases: readonly (readonly [asked: Partial<ChatRequest>, sent: object, words: readonly string[]])[] = [
    [{ temperature: 1.7 }, { temperature: 1 }, [cut]],
    [{ temperature: 1, stop: 'END' }, { temperature: 1, stop_sequences: ['END'] }, []],
    [{ stop: ['\n', 'END'] }, { stop_sequences: ['END'] }, [blank]],
    [{ stop: '\n' }, { stop_sequences: [] }, [blank]],
    [{ stop: [] }, { stop_sequences: [] }, []],
    [
      { temperature: 1.7, reasoning_effort: 'high', max_tokens: 9000 },
      {},
      ['temperature: left out, since claude-sonnet-4-20250514 refuses it'],
    ],
  ]
  for (const [asked, sent, words] of cases) {
    const request = { model: 'claude-sonnet-4-20250514', messages: [hi], ...asked }
    const { temperature, stop_sequences: stops } = anthropic.writeRequest(request, endpoint).body
    assert.equal(JSON.parse(JSON.stringify({ temperature, stop_sequences: stops })), sent)
    assert.equal(leftOutOf(request, 'anthropic-messages'), words)
    assert.not.match(leftOutOf(request, 'gemini').join(), /temperature|stop/)
  }
})

test("OpenAI's first functions go to its own dialect as they are, and are refused by the others", () => {
  const requests = [
    { functions: [{ name: 'f', parameters: { type: 'object', properties: {} } }], messages: [hi] },
    { messages: [hi, { role: 'function' as 'tool', name: 'f', content: '3' }] },
  ].map((fields): ChatRequest => ({ model: 'm', ...fields }))
  for (const dialect of Object.values(clientDialects))
    for (const request of requests) {
      const write = () => dialect.writeRequest(request, endpoint).body
      if (dialect.id === 'openai-chat') assert.equal(write(), request)
      else assert.throws(write, /Send tools, tool_choice and tool_calls in place of functions/)
    }
})

test("a call of one of OpenAI's custom tools is a call with its text in the other dialects", () => {
  const call = { id: 'call_1', type: 'custom', custom: { name: 'code', input: 'print(1)' } }
  const messages = [hi, { role: 'assistant', content: null, tool_calls: [call] }, hi] as unknown as Message[]
  for (const dialect of Object.values(clientDialects)) {
    const { body } = dialect.writeRequest({ model: 'm', messages }, endpoint)
    const [written] = dialect.readRequest(JSON.parse(JSON.stringify(body))).messages[1]!.tool_calls!
    if (dialect.id === 'openai-chat') assert.equal(written, call)
    else assert.equal(JSON.parse(written!.function.arguments), { input: 'print(1)' }, dialect.id)
  }
})

test.run()
