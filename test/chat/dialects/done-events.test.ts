import * as assert from 'uvu/assert'
import { anthropic } from '../../../src/chat/dialects/anthropic/dialect.ts'
import { responses } from '../../../src/chat/dialects/responses/dialect.ts'
import { collectReply } from '../../../src/chat/protocol/chunks.ts'
import type { ChatChunk } from '../../../src/chat/protocol/messages.ts'
import { estimateRequestTokens } from '../../../src/chat/protocol/token-estimate.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('the last events of a stream, which hold the whole')

function read(...events: readonly (readonly [type: string, fields: object])[]) {
  const reader = responses.createStreamReader()
  const all = [['created', { response: { id: 'resp_1', model: 'm' } }] as const, ...events]
  const text = all.map(([name, fields]) => `data: ${JSON.stringify({ type: `response.${name}`, ...fields })}\n\n`)
  const chunks = [...reader.push(Buffer.from(text.join(''))), ...reader.end()]
  const reply = collectReply(chunks)
  return { message: reply.choices[0]!.message, choice: reply.choices[0]!, warnings: warningsIn(chunks) }
}

function warningsIn(chunks: readonly ChatChunk[]): readonly string[] {
  return chunks.flatMap((chunk) => (chunk['aichat'] as { warnings?: string[] } | undefined)?.warnings ?? [])
}

const message = (text: string, refusal?: string) => ({
  type: 'message',
  content: [{ type: 'output_text', text }, ...(refusal ? [{ type: 'refusal', refusal }] : [])],
})
const call = (text: string) => ({ type: 'function_call', call_id: 'c', name: 'f', arguments: text })
const thought = (...texts: readonly string[]) => ({
  type: 'reasoning',
  summary: texts.map((text) => ({ type: 'summary_text', text })),
})
const at = { output_index: 0, content_index: 0 }
const begun = (item: object) => ['output_item.added', { output_index: 0, item }] as const
const end = (...output: readonly object[]) => ['completed', { response: { status: 'completed', output } }] as const

const endings = {
  'output_text.done': ['output_text.done', { ...at, text: 'Hello world' }],
  'content_part.done': ['content_part.done', { ...at, part: { type: 'output_text', text: 'Hello world' } }],
  'output_item.done': ['output_item.done', { output_index: 0, item: message('Hello world') }],
} as const

for (const [name, ending] of Object.entries(endings))
  test(`the text that ${name} has beyond the pieces is delivered, once`, () => {
    const pieces = [begun(message('')), ['output_text.delta', { ...at, delta: 'Hello' }]] as const
    const { message: told, warnings } = read(...pieces, ending, end(message('Hello world')))
    assert.equal([told.content, warnings], ['Hello world', []])
  })

test('the text that the last event alone has is delivered, and every part of a message in its order', () => {
  const item = { ...message('Hello world') }
  const first = read(begun(message('')), ['output_text.delta', { ...at, delta: 'Hel' }], end(item))
  assert.is(first.message.content, 'Hello world')
  const done = read(
    begun(message('')),
    ['output_text.delta', { ...at, delta: 'Hello' }],
    ['output_text.delta', { ...at, delta: 'Wor' }],
    ['output_item.done', { output_index: 0, item: message('Hello') }],
    end(item),
  )
  assert.is(done.message.content, 'HelloWor')
  assert.match(done.warnings.join(), /^contradicted text: /)
  const parts = read(
    begun(message('')),
    ['output_text.delta', { ...at, delta: 'One' }],
    ['output_text.done', { ...at, text: 'One.' }],
    ['output_text.done', { ...at, content_index: 1, text: 'Two.' }],
    ['refusal.delta', { ...at, content_index: 2, delta: 'No' }],
    ['refusal.done', { ...at, content_index: 2, refusal: 'No way' }],
    end(),
  )
  assert.equal([parts.message.content, parts.message.refusal, parts.warnings], ['One.Two.', 'No way', []])
})

test('arguments, reasoning and the input of a custom tool are completed in the same way', () => {
  const called = read(
    begun(call('')),
    ['function_call_arguments.delta', { output_index: 0, delta: '{"a":' }],
    ['function_call_arguments.done', { output_index: 0, arguments: '{"a":1}' }],
    ['output_item.done', { output_index: 0, item: call('{"a":1}') }],
    end(call('{ "a": 1 }')),
  )
  assert.is(called.message.tool_calls?.[0]?.function.arguments, '{"a":1}')
  assert.equal(called.warnings, [])
  const other = read(
    begun(call('')),
    ['function_call_arguments.delta', { output_index: 0, delta: '{"a":2}' }],
    end(call('{"a":1}')),
  )
  assert.match(other.warnings.join(), /^contradicted arguments: /)
  const custom = { type: 'custom_tool_call', call_id: 'c', name: 'f' }
  const input = read(
    begun(custom),
    ['custom_tool_call_input.delta', { output_index: 0, delta: 'a "b' }],
    ['custom_tool_call_input.done', { output_index: 0, input: 'a "b" c' }],
    ['output_item.done', { output_index: 0, item: { ...custom, input: 'a "b" c' } }],
    end(),
  )
  assert.equal(JSON.parse(input.message.tool_calls![0]!.function.arguments), { input: 'a "b" c' })
  const reasoned = read(
    begun(thought()),
    ['reasoning_summary_text.delta', { output_index: 0, summary_index: 0, delta: 'Fir' }],
    ['reasoning_summary_text.done', { output_index: 0, summary_index: 0, text: 'First' }],
    ['reasoning_summary_part.added', { output_index: 0, summary_index: 1 }],
    ['reasoning_summary_text.delta', { output_index: 0, summary_index: 1, delta: 'Sec' }],
    ['output_item.done', { output_index: 0, item: thought('First', 'Second') }],
    end(thought('First', 'Second')),
  )
  assert.equal([reasoned.message.reasoning_content, reasoned.warnings], ['First\n\nSecond', []])
})

test('an Anthropic client is told the prompt’s tokens when a stream begins, and the true counts at its end', () => {
  const request = anthropic.readRequest({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Say hi.' }] })
  const base = { id: 'a', object: 'chat.completion.chunk' as const, created: 0, model: 'm' }
  const text: ChatChunk = { ...base, choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }] }
  const counts = (events: string) =>
    [...events.matchAll(/"input_tokens":(\d+).*?"output_tokens":(\d+)/g)].map(([, one, two]) => [
      Number(one),
      Number(two),
    ])
  const estimate = estimateRequestTokens(request)
  const silent = anthropic.createStreamWriter(request)
  assert.equal(counts(silent.push(text) + silent.end()), [
    [estimate, 0],
    [estimate, 1],
  ])
  const told = anthropic.createStreamWriter(request)
  const usage = { prompt_tokens: 77, completion_tokens: 5, total_tokens: 82 }
  assert.equal(counts(told.push(text) + told.push({ ...base, choices: [], usage }) + told.end()), [
    [estimate, 0],
    [77, 5],
  ])
  assert.ok(estimate > 0)
})

test.run()
