import * as assert from 'uvu/assert'
import { clientDialects, dialectFor } from '../../../src/chat/dialects/dialects.ts'
import { withoutUnseen } from '../../../src/chat/dialects/unseen-media.ts'
import type { ClientDialect, Dialect } from '../../../src/chat/protocol/dialect.ts'
import type { ContentPart, Message } from '../../../src/chat/protocol/messages.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('pictures in the results of tools, from each dialect to each other')

const url = 'data:image/png;base64,AAAA'
const image = { type: 'image_url', image_url: { url } }
const text = (words: string) => ({ type: 'text', text: words })

/** The result as Anthropic's and OpenAI's newer dialect have it. */
const anthropicResult = {
  role: 'user',
  content: [
    {
      type: 'tool_result',
      tool_use_id: 'c1',
      content: [text('Here:'), { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }],
    },
  ],
}
const responsesResult = {
  type: 'function_call_output',
  call_id: 'c1',
  output: [
    { type: 'input_text', text: 'Here:' },
    { type: 'input_image', image_url: url },
  ],
}

/** A client's own request in each dialect, in which the call `c1` of `look` gave a text and a picture. */
const requests: Readonly<Partial<Record<ClientDialect['id'], object>>> = {
  'anthropic-messages': {
    model: 'm',
    max_tokens: 9,
    messages: [
      { role: 'user', content: 'Look' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'look', input: {} }] },
      anthropicResult,
    ],
  },
  'openai-responses': {
    model: 'm',
    input: [
      { role: 'user', content: 'Look' },
      { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
      responsesResult,
    ],
  },
  ollama: {
    model: 'm',
    messages: [
      { role: 'user', content: 'Look' },
      { role: 'assistant', content: '', tool_calls: [{ id: 'c1', function: { name: 'look', arguments: {} } }] },
      { role: 'tool', content: 'Here:', images: ['AAAA'], tool_call_id: 'c1', tool_name: 'look' },
    ],
  },
}

const inline = { inlineData: { mimeType: 'image/png', data: 'AAAA' } }
const answered = { id: 'c1', name: 'look', response: { output: 'Here:' } }

/** The end of the request, with the result, as it goes to a model in each dialect. */
const results: readonly (readonly [Dialect['id'], model: string, written: unknown])[] = [
  [
    'openai-chat',
    'm',
    [
      { role: 'tool', tool_call_id: 'c1', content: [text('Here:')] },
      { role: 'user', content: [text('From the result of look (c1):'), image] },
    ],
  ],
  ['openai-responses', 'm', [responsesResult]],
  ['anthropic-messages', 'm', [anthropicResult]],
  ['gemini', 'gemini-2.5-pro', [{ role: 'user', parts: [{ functionResponse: answered }, inline] }]],
  ['gemini', 'gemini-3-pro', [{ role: 'user', parts: [{ functionResponse: { ...answered, parts: [inline] } }] }]],
  ['ollama', 'm', [{ role: 'tool', content: 'Here:', images: ['AAAA'], tool_name: 'look', tool_call_id: 'c1' }]],
]

for (const [from, body] of Object.entries(requests))
  for (const [to, model, written] of results)
    test(`${from} to ${to} with ${model}`, () => {
      const request = clientDialects[from as ClientDialect['id']].readRequest(body)
      const sent = dialectFor(to, '').writeRequest({ ...request, model }, 'https://example.org/v1').body
      const all = (sent['messages'] ?? sent['input'] ?? sent['contents']) as readonly unknown[]
      // Some clients name the tool in its result, and OpenAI's dialect has a field for it.
      const unnamed = (all as readonly { readonly name?: string }[]).map(({ name: _name, ...message }) => message)
      assert.equal(unnamed.slice(-(written as readonly unknown[]).length), written)
    })

const sound = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }
const file = { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } }
const all = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini', 'ollama'] as const
const takers: readonly (readonly [string, ContentPart, readonly Dialect['id'][]])[] = [
  ['a picture', image, all],
  ['a sound', sound, ['openai-chat', 'gemini']],
  ['a file', file, ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini']],
]

for (const [what, part, ids] of takers)
  test(`${what} in a result is a text where the dialect has no place for it, or the model no sense`, () => {
    const messages: readonly Message[] = [{ role: 'tool', tool_call_id: 'c1', content: [text('Here:'), part] }]
    for (const id of all) {
      const seen = withoutUnseen({ model: 'm', messages }, id, {})
      if (ids.includes(id)) assert.equal(seen, { request: { model: 'm', messages }, warnings: [] })
      else
        assert.match(seen.warnings.join(), new RegExp(`^${what} was left out: .* takes none in the results of tools$`))
      dialectFor(id, '').writeRequest(seen.request, 'https://example.org/v1')
    }
    const blind = withoutUnseen({ model: 'm', messages }, 'openai-chat', { image: false, audio: false, file: false })
    assert.equal(blind.request.messages[0]!.content, [text('Here:'), text(`[${what} was left out: m takes none]`)])
  })

test.run()
