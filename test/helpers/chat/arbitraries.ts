import type {
  ChatChunk,
  ChatReply,
  ChatRequest,
  Delta,
  Message,
  ReasoningDetail,
  Tool,
  ToolCall,
} from '../../../src/chat/protocol/messages.ts'
import { fc } from '../properties.ts'

/** Texts that break converters: quotes, line ends, characters of four bytes, and marks of the wires themselves. */
const words = fc.constantFrom(
  'a',
  ' ',
  '"',
  '\\',
  '\n',
  '\r\n',
  '世',
  '🌍',
  '{',
  '}',
  ']',
  ',',
  'data: ',
  'event: error',
  '[DONE]',
)
const text = fc.array(words, { minLength: 1, maxLength: 12 }).map((list) => `x${list.join('')}`)
const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,12}$/)
const json = fc.dictionary(name, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 })

const call = (index: number): fc.Arbitrary<ToolCall> =>
  fc.record({ name, input: json }).map((wire) => ({
    id: `call_${index}`,
    type: 'function',
    function: { name: wire.name, arguments: JSON.stringify(wire.input) },
  }))

const image = fc.constantFrom('https://example.org/a.png', 'data:image/png;base64,iVBORw0KGgo=')
const parts = fc
  .tuple(text, fc.array(image, { maxLength: 2 }))
  .map(([words, urls]) => [
    { type: 'text' as const, text: words },
    ...urls.map((url) => ({ type: 'image_url' as const, image_url: { url } })),
  ])

const user = fc.oneof(text, parts).map((content): Message => ({ role: 'user', content }))
const system = fc.record({ role: fc.constantFrom('system' as const, 'developer' as const), content: text })

/** A message of the model, perhaps with calls, and the answers of the tools. */
const exchange = fc
  .tuple(fc.option(text, { nil: null }), fc.nat(3), fc.array(text, { minLength: 3, maxLength: 3 }), fc.nat(1_000_000))
  .chain(([content, count, answers, seed]) =>
    fc.tuple(...Array.from({ length: count }, (_, index) => call(seed * 10 + index))).map((calls): Message[] => [
      {
        role: 'assistant',
        content: count === 0 ? (content ?? 'x') : content,
        ...(count > 0 && { tool_calls: calls }),
      },
      ...calls.map(({ id }, at): Message => ({ role: 'tool', tool_call_id: id, content: answers[at]! })),
    ]),
  )

const conversation = fc
  .tuple(fc.array(system, { maxLength: 2 }), user, fc.array(fc.tuple(exchange, user), { maxLength: 3 }))
  .map(([first, opening, rest]): Message[] => [
    ...first,
    opening,
    ...rest.flatMap(([message, next]) => [...message, next]),
  ])

const tool = fc.record({ name, description: text, property: name }).map(
  (wire): Tool => ({
    type: 'function',
    function: {
      name: wire.name,
      description: wire.description,
      parameters: { type: 'object', properties: { [wire.property]: { type: 'string' } }, required: [wire.property] },
    },
  }),
)

/** Requests that every dialect can say. */
export const request: fc.Arbitrary<ChatRequest> = fc
  .record(
    {
      messages: conversation,
      max_tokens: fc.integer({ min: 1, max: 4000 }),
      temperature: fc.constantFrom(0, 0.5, 1),
      top_p: fc.constantFrom(0.1, 1),
      stop: fc.array(text, { minLength: 1, maxLength: 3 }),
      seed: fc.nat(1000),
      tools: fc.array(tool, { minLength: 1, maxLength: 3 }),
      tool_choice: fc.constantFrom<NonNullable<ChatRequest['tool_choice']>>('auto', 'none', 'required', {
        type: 'function',
        function: { name: 'x' },
      }),
      response_format: fc.constantFrom<NonNullable<ChatRequest['response_format']>>({
        type: 'json_schema',
        json_schema: { name: 'answer', schema: { type: 'object', properties: { a: { type: 'string' } } } },
      }),
      stream: fc.constant(true),
    },
    { requiredKeys: ['messages'] },
  )
  .map((fields) => ({ model: 'model-1', ...fields }) as ChatRequest)

const signed: fc.Arbitrary<ReasoningDetail> = fc
  .tuple(text, fc.base64String({ minLength: 4, maxLength: 12 }))
  .map(([thought, signature]) => ({
    type: 'reasoning.text',
    text: thought,
    signature,
    format: 'anthropic-claude-v1',
    index: 0,
  }))

const count = fc.nat(10_000)

/** Answers with one choice. */
export const reply: fc.Arbitrary<ChatReply> = fc
  .tuple(
    fc.option(text, { nil: null }),
    fc.nat(3),
    fc.option(signed),
    count,
    count,
    fc.constantFrom('stop', 'length', 'content_filter'),
  )
  .chain(([content, calls, thought, prompt, completion, finish]) =>
    fc.tuple(...Array.from({ length: calls }, (_, index) => call(index))).map(
      (made): ChatReply => ({
        id: 'reply-1',
        object: 'chat.completion',
        created: 1_790_000_000,
        model: 'model-1',
        choices: [
          {
            index: 0,
            message: {
              role: 'assistant',
              content: calls === 0 ? (content ?? '') : content,
              ...(thought && { reasoning_content: thought.text ?? '', reasoning_details: [thought] }),
              ...(calls > 0 && { tool_calls: made }),
            },
            finish_reason: calls > 0 ? 'tool_calls' : (finish as 'stop'),
          },
        ],
        usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion },
      }),
    ),
  )

/** A stream of the answer, its texts and arguments in pieces. */
export function piecesOf(whole: readonly ChatChunk[], size: number): ChatChunk[] {
  return whole.flatMap((chunk) => (chunk.choices.length === 0 ? [chunk] : splitChunk(chunk, size)))
}

function splitChunk(chunk: ChatChunk, size: number): ChatChunk[] {
  const [choice] = chunk.choices
  const {
    content,
    tool_calls: calls = [],
    reasoning_details: details,
    reasoning_content: thought,
    ...delta
  } = choice!.delta
  const one = (piece: Delta): ChatChunk => ({ ...chunk, choices: [{ ...choice!, delta: piece, finish_reason: null }] })
  const signatures = (details ?? []).map(({ text: _text, ...detail }) => one({ reasoning_details: [detail] }))
  const chunks = [
    one(delta),
    ...split(thought ?? '', size).map((piece) => one({ reasoning_content: piece })),
    ...signatures,
    ...split(content ?? '', size).map((piece) => one({ content: piece })),
    ...calls.flatMap(({ function: wire, ...call }) => [
      one({ tool_calls: [{ ...call, function: { name: wire?.name ?? '', arguments: '' } }] }),
      ...split(wire?.arguments ?? '', size).map((piece) =>
        one({ tool_calls: [{ index: call.index, function: { arguments: piece } }] }),
      ),
    ]),
  ]
  return choice!.finish_reason === null ? chunks : [...chunks, chunk]
}

function split(whole: string, size: number): string[] {
  const letters = [...whole]
  return Array.from({ length: Math.ceil(letters.length / size) }, (_, at) =>
    letters.slice(at * size, (at + 1) * size).join(''),
  )
}
