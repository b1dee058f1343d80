import * as assert from 'uvu/assert'
import { anthropic } from '../../../src/chat/dialects/anthropic/dialect.ts'
import { openai } from '../../../src/chat/dialects/openai/dialect.ts'
import { keepSource } from '../../../src/chat/protocol/source.ts'
import { fc } from '../../helpers/properties.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('requests and answers that are plain')

const odd = fc.constantFrom<unknown>(null, undefined, true, '', 'x', -1, 0, 0.5, 1, '7', [], ['x'], {}, { a: {} })

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
  const settings = 'model temperature n stream seed response_format tool_choice extra_content y'.split(' ')
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
  assert.equal([openai.sourceOf!(kept), openai.sourceOf!({ ...kept, model: 'other' })], ['text', undefined])
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

test('a chunk that the first one of its stream foretells says what its JSON says', () => {
  const begins = [
    '{',
    '{"delta":D,',
    '{"x":{"finish_reason":null},',
    '{"x":"\\"delta\\":{",',
    '{"a\\"delta":D,',
    '{"choices":[],',
  ]
  const ends = [
    '}',
    ',"usage":null}',
    ',"delta":{"content":"z"}}',
    ',"finish_reason":F}',
    ',"x":"\\"finish_reason\\":null"}',
  ]
  const shapes = [
    '{"index":0,"delta":D,"finish_reason":F}',
    '{"index":0,"delta":D,"logprobs":null,"finish_reason":F}',
    '{"index":0,"delta":D,"logprobs":{"finish_reason":null},"finish_reason":F}',
    '{"finish_reason":F,"index":0,"delta":D}',
    '{"index":0,"delta": D,"finish_reason": F}',
    '{"index":0,"d\\u0065lta":D,"finish_reason":F}',
    '{"index":0,"delta":{"content":"x"},"delta":D,"finish_reason":F}',
    '{"index":0,"delta":{"role":"assistant","content":"k"},"finish_reason":F}',
    '{"index":0,"d\\u0065lta":{"role":"assistant","content":"k"},"finish_reason":F}',
    '{"finish_reason":null,"index":0,"delta":D}',
    '{"index":0,"delta":D,"finish_re\\u0061son":null}',
    '{"index":0,"delta":D,"finish_reason":null,"x":{"finish_reason":F}}',
  ]
  const firsts = [
    '{"role":"assistant","content":""}',
    '{"role":"assistant","content":"a}{b"}',
    '{"role":"assistant","content":null,"refusal":null}',
    '{"role":"assistant","content":""},"x":{"content":""}',
  ]
  const deltas = [
    '{"content":"c"}',
    '{"content":"é\\""}',
    '{}',
    '{"content":"d","x":1}',
    '{"content":"e"},"x":{"content":"f"}',
  ]
  const finishes = ['null', 'null', 'null', '"stop"', '"length"', '"other"', '"a\\"b"', '""', '1']
  const outline = fc.tuple(fc.constantFrom(...begins), fc.constantFrom(...shapes), fc.constantFrom(...ends))
  const pieces = fc.array(fc.tuple(fc.constantFrom(...deltas), fc.constantFrom(...finishes)), { maxLength: 4 })
  fc.assert(
    fc.property(outline, fc.constantFrom(...firsts), pieces, ([begin, shape, end], first, others) => {
      const event = (delta: string, finish: string, more = '') =>
        `data: ${begin}${more}"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[${shape}]${end}\n\n`
          .replaceAll(':D', () => `:${delta}`)
          .replaceAll(': D', () => `: ${delta}`)
          .replaceAll(':F', () => `:${finish}`)
          .replaceAll(': F', () => `: ${finish}`)
      // Groq's own field in the first chunk has each of the others parsed.
      const [quick, slow] = ['', '"x_groq":null,'].map((more) => {
        const reader = openai.createStreamReader()
        reader.push(Buffer.from(event(first, 'null', more)))
        return JSON.stringify(
          others.map(([delta, finish]) => outcome(() => reader.push(Buffer.from(event(delta, finish))))),
        )
      })
      assert.is(quick, slow)
    }),
    { numRuns: 4000 },
  )
})

test('a chunk of a stream that is not mended is what mending would make of it', () => {
  const outline = { id: 'a', object: 'chat.completion.chunk', created: 1, model: 'm' }
  const some = (names: readonly string[]) => fc.dictionary(fc.constantFrom(...names), odd, { maxKeys: 1 })
  const top = some(['id', 'object', 'created', 'model', 'usage', 'error', 'statusCode', 'service_tier', 'choices'])
  const ofChoice = some(['index', 'error', 'logprobs', 'finish_reason', 'z'])
  const ofDelta = some(['role', 'content', 'refusal', 'reasoning', 'tool_calls', 'z'])
  const delta = fc.constantFrom<object>({ role: 'assistant', content: '' }, { content: 'a' }, { content: 'b' }, {})
  const finish = fc.constantFrom<unknown>(null, null, null, 'stop', 'length', 'unknown', '')
  const chunk = fc.tuple(top, ofChoice, ofDelta, delta, finish).map(([fields, choice, more, own, finish_reason]) => ({
    ...outline,
    choices: [{ index: 0, delta: { ...own, ...more }, finish_reason, ...choice }],
    ...fields,
  }))
  const usual = delta.map((own) => ({ ...outline, choices: [{ index: 0, delta: own, finish_reason: null }] }))
  const stream = fc.array(fc.oneof({ weight: 2, arbitrary: usual }, { weight: 1, arbitrary: chunk }), { maxLength: 6 })
  const read = (chunks: readonly object[]) => {
    const events = chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`)
    const told = openai.createStreamReader().push(Buffer.from(events.join('')))
    return JSON.parse(JSON.stringify(told.map(({ x_groq: _groq, ...rest }) => rest)))
  }
  fc.assert(
    fc.property(stream, (chunks) => {
      // Groq's own field, even an empty one, has a chunk mended.
      const mended = outcome(() => read(chunks.map((each) => ({ ...each, x_groq: null }))))
      assert.equal(
        outcome(() => read(chunks)),
        mended,
      )
    }),
    { numRuns: 2000 },
  )
})

test("a piece of Anthropic's stream like the one before it says what its JSON says", () => {
  const begin = (index: number, type: string) =>
    JSON.stringify({ type: 'content_block_start', index, content_block: { type, [type]: '' } })
  const begun = [
    JSON.stringify({ type: 'message_start', message: { id: 'a', model: 'm', content: [] } }),
    begin(0, 'text'),
    begin(1, 'thinking'),
    begin(2, 'other'),
  ]
  const contents = ['a', 'ab', '', 'é', '\\n', '\\u00e9', '\\"', '\\', 'a"', '","text":"z', '"},"x":{"text":"', '\t']
  const kinds = [
    '"type":"text_delta","text":',
    '"type":"thinking_delta","thinking":',
    '"x":{"text":"a"},"type":"text_delta","text":',
    '"text":"b","type":"text_delta","thinking":',
  ]
  const event = fc
    .tuple(fc.constantFrom(0, 0, 0, 1, 2, 3), fc.constantFrom(...kinds), fc.constantFrom(...contents))
    .map(([index, kind, text]) => `{"type":"content_block_delta","index":${index},"delta":{${kind}"${text}"}}`)
  const events = fc.array(fc.oneof(event, fc.constantFrom(...begun.slice(1))), { maxLength: 8 })
  const start = () => {
    const reader = anthropic.createStreamReader(0)
    reader.push(eventsOf(begun))
    return reader
  }
  fc.assert(
    fc.property(events, (told) => {
      const reader = start()
      const read = outcome(() => told.flatMap((each) => reader.push(eventsOf([each]))))
      // An event between two others leaves nothing to compare the second with.
      const fresh = start()
      const parsed = outcome(() => told.flatMap((each) => fresh.push(eventsOf([each, '{"type":"ping"}']))))
      assert.equal(read, parsed)
    }),
    { numRuns: 2000 },
  )
})

function eventsOf(texts: readonly string[]): Buffer {
  return Buffer.from(texts.map((text) => `data: ${text}\n\n`).join(''))
}

test.run()
