import * as assert from 'uvu/assert'
import { openai } from '../../../src/chat/dialects/openai/dialect.ts'
import { keepSource } from '../../../src/chat/protocol/source.ts'
import { fc } from '../../properties.ts'
import { suite } from '../../suite.ts'

const test = suite('requests and answers that are plain')

const odd = fc.constantFrom<unknown>(null, undefined, true, '', 'x', -1, 0, 0.5, 1, '7', [], ['x'], {}, { a: {} })

/** The outcome of a reader: its value, or its refusal. */
function outcome(read: () => unknown): unknown {
  try {
    return { value: read() }
  } catch (reason) {
    const { message, details } = reason as { message: string; details?: readonly string[] }
    return { message, details }
  }
}

test('a request that needs no whole check passes it', () => {
  const role = fc.oneof(fc.constantFrom<unknown>('user', 'assistant', 'system', 'tool'), odd)
  const names = ['content', 'name', 'tool_calls', 'tool_call_id', 'refusal', 'reasoning_content', 'extra_content', 'x']
  const message = fc
    .tuple(role, fc.dictionary(fc.constantFrom(...names), odd, { maxKeys: 2 }))
    .map(([role, fields]) => ({ role, content: 'hi', ...fields }))
  const settings = [
    'model',
    'temperature',
    'n',
    'stream',
    'seed',
    'response_format',
    'tool_choice',
    'extra_content',
    'y',
  ]
  const request = fc
    .tuple(
      fc.array(fc.oneof({ weight: 8, arbitrary: message }, { weight: 1, arbitrary: odd }), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...settings), odd, { maxKeys: 3 }),
    )
    .map(([messages, fields]) => JSON.parse(JSON.stringify({ model: 'm', messages, ...fields })))
  fc.assert(
    fc.property(request, (asked) => {
      // A stop sequence has a form of its own, which is checked with all the rest.
      const whole = outcome(() => openai.readRequest({ ...asked, stop: 'end' })) as { value?: Record<string, unknown> }
      const { stop: _stop, ...rest } = whole.value ?? {}
      assert.equal(
        outcome(() => openai.readRequest(asked)),
        whole.value ? { value: rest } : whole,
      )
    }),
    { numRuns: 3000 },
  )
})

test('an answer that is not mended is what mending would make of it', () => {
  const fields = ['id', 'object', 'created', 'model', 'usage', 'error', 'extra_content', 'service_tier']
  const ofMessage = ['role', 'content', 'refusal', 'annotations', 'reasoning', 'reasoning_content', 'tool_calls', 'z']
  const ofChoice = ['index', 'finish_reason', 'logprobs', 'error', 'extra_content']
  const some = (names: readonly string[]) => fc.dictionary(fc.constantFrom(...names), odd, { maxKeys: 1 })
  const usage = fc.constantFrom({}, { usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } })
  const answer = fc.tuple(some(fields), some(ofChoice), some(ofMessage), usage).map(([top, choice, message, counts]) =>
    JSON.parse(
      JSON.stringify({
        ...{ id: 'a', object: 'chat.completion', created: 1, model: 'm' },
        choices: [
          { index: 0, message: { role: 'assistant', content: 'hi', ...message }, finish_reason: 'stop', ...choice },
        ],
        ...counts,
        ...top,
      }),
    ),
  )
  let kept = 0
  fc.assert(
    fc.property(answer, (body) => {
      // Groq's own field, even an empty one, has the answer mended.
      const mended = outcome(() => openai.readResponse({ ...body, x_groq: null })) as { value?: object }
      const read = outcome(() => openai.readResponse(body)) as { value?: object }
      if (read.value === body) kept++
      const { x_groq: _groq, ...rest } = (mended.value ?? {}) as Record<string, unknown>
      assert.equal(read, mended.value ? { value: rest } : mended)
    }),
    { numRuns: 2000 },
  )
  assert.ok(kept > 100, `${kept} answers were kept`)
})

test('the text of an answer goes on only with the answer that was read from it', () => {
  const answer = openai.readResponse({
    ...{ id: 'a', object: 'chat.completion', created: 1, model: 'm' },
    choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  })
  const kept = keepSource(answer, 'text')
  assert.is(openai.sourceOf!(kept), 'text')
  assert.is(openai.sourceOf!({ ...kept, model: 'other' }), undefined)
})

test('a chunk of a stream like the one before it says what its JSON says', () => {
  const role =
    '{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant"},"finish_reason":null}]}'
  const begins = ['{', '{"content":"x",', '{"x":{"content":"ab"},', '{"x":"\\"content\\":\\"",']
  const ends = ['}', ',"content":"y"}', ',"p":"abc"}', ',"usage":null}']
  const contents = [
    'a',
    'ab',
    '',
    'x',
    'é',
    '\\n',
    '\\u00e9',
    '\\"',
    '\\',
    'a"',
    '","content":"z',
    '"},"x":{"y":"',
    '\t',
  ]
  const text = fc
    .tuple(fc.constantFrom(...begins), fc.constantFrom(...contents), fc.constantFrom(...ends))
    .map(
      ([begin, content, end]) =>
        `${begin}"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"${content}"},"finish_reason":null}]${end}`,
    )
  // The first comes twice: what follows it is compared with its text.
  const texts = fc.tuple(text, fc.array(text, { maxLength: 6 })).map(([first, others]) => [first, first, ...others])
  fc.assert(
    fc.property(texts, (told) => {
      const reader = openai.createStreamReader()
      reader.push(Buffer.from(`data: ${role}\n\n`))
      for (const each of told) {
        const read = outcome(() => reader.push(Buffer.from(`data: ${each}\n\n`)))
        const fresh = outcome(() => {
          const other = openai.createStreamReader()
          other.push(Buffer.from(`data: ${role}\n\n`))
          return other.push(Buffer.from(`data: ${each}\n\n`))
        })
        assert.equal(JSON.stringify(read), JSON.stringify(fresh))
      }
    }),
    { numRuns: 2000 },
  )
})

test.run()
