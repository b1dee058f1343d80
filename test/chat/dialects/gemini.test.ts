import * as assert from 'uvu/assert'
import { gemini } from '../../../src/chat/dialects/gemini/dialect.ts'
import type { Quirks } from '../../../src/chat/protocol/dialect.ts'
import type { ChatRequest, Message, ToolCall } from '../../../src/chat/protocol/messages.ts'
import { decode } from '../../helpers/chat/exchange-checks.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite("Gemini's dialect")

const endpoint = 'https://generativelanguage.googleapis.com/v1beta/models/{model}:generateContent'
const hi: Message = { role: 'user', content: 'hi' }
const hello = { role: 'user', parts: [{ text: 'hi' }] }

function written(request: Partial<ChatRequest>, quirks?: Quirks): Record<string, unknown> {
  return JSON.parse(
    JSON.stringify(
      gemini.writeRequest({ model: 'gemini-2.5-flash', messages: [hi], ...request }, endpoint, quirks).body,
    ),
  )
}

function call(id: string, text = '{}', extra?: object): ToolCall {
  return { id, type: 'function', function: { name: `f_${id}`, arguments: text }, ...extra }
}

const requests: readonly {
  readonly name: string
  readonly request: Partial<ChatRequest>
  readonly quirks?: Quirks
  readonly body: Record<string, unknown>
}[] = [
  {
    name: 'system messages from everywhere are one instruction',
    request: { messages: [{ role: 'system', content: 'a' }, hi, { role: 'developer', content: 'b' }] },
    body: { systemInstruction: { parts: [{ text: 'a' }, { text: 'b' }] }, contents: [hello] },
  },
  {
    name: "where a model takes no instruction it becomes the user's",
    request: { messages: [{ role: 'system', content: 'a' }, hi] },
    quirks: { system_as: 'user' },
    body: { contents: [{ role: 'user', parts: [{ text: 'a' }, { text: 'hi' }] }] },
  },
  {
    name: 'answers of tools go by name, as an object, with the pictures beside them',
    request: {
      messages: [
        hi,
        { role: 'assistant', content: 'ok', tool_calls: [call('a', '{"x":1}'), call('b', 'no json')] },
        { role: 'tool', tool_call_id: 'a', content: 'plain' },
        {
          role: 'tool',
          tool_call_id: 'b',
          content: [
            { type: 'text', text: '{"y":2}' },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
          ],
        },
        hi,
      ],
    },
    body: {
      contents: [
        hello,
        {
          role: 'model',
          parts: [
            { text: 'ok' },
            { functionCall: { id: 'a', name: 'f_a', args: { x: 1 } } },
            { functionCall: { id: 'b', name: 'f_b', args: { INVALID_JSON: 'no json' } } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: 'a', name: 'f_a', response: { output: 'plain' } } },
            { functionResponse: { id: 'b', name: 'f_b', response: { y: 2 } } },
            { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
            { text: 'hi' },
          ],
        },
      ],
    },
  },
  {
    name: 'a signature goes back with its call',
    request: {
      messages: [
        hi,
        {
          role: 'assistant',
          content: null,
          tool_calls: [call('a', '', { extra_content: { google: { thought_signature: 's' } } })],
        },
      ],
    },
    body: {
      contents: [
        hello,
        { role: 'model', parts: [{ functionCall: { id: 'a', name: 'f_a', args: {} }, thoughtSignature: 's' }] },
      ],
    },
  },
  {
    name: 'the calls of another model get the value that Gemini 3 takes for a signature',
    request: {
      model: 'gemini-3-pro',
      messages: [hi, { role: 'assistant', content: null, tool_calls: [call('a'), call('b')] }],
    },
    body: {
      contents: [
        hello,
        {
          role: 'model',
          parts: [
            { functionCall: { id: 'a', name: 'f_a', args: {} }, thoughtSignature: 'skip_thought_signature_validator' },
            { functionCall: { id: 'b', name: 'f_b', args: {} } },
          ],
        },
      ],
    },
  },
  {
    name: 'pictures and files are data or an address',
    request: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: 'https://example.org/a.JPG?x' } },
            { type: 'file', file: { file_data: 'data:application/pdf;base64,BBBB' } },
            { type: 'input_audio', input_audio: { data: 'CCCC', format: 'wav' } },
          ],
        },
      ],
    },
    body: {
      contents: [
        {
          role: 'user',
          parts: [
            { fileData: { mimeType: 'image/jpeg', fileUri: 'https://example.org/a.JPG?x' } },
            { inlineData: { mimeType: 'application/pdf', data: 'BBBB' } },
            { inlineData: { mimeType: 'audio/wav', data: 'CCCC' } },
          ],
        },
      ],
    },
  },
  {
    name: 'a schema with words that the older field does not know goes into the newer one',
    request: {
      tools: [
        {
          type: 'function',
          function: {
            name: 'old',
            parameters: {
              type: 'object',
              properties: { a: { type: 'array', items: { type: 'string', enum: ['x'] } } },
            },
          },
        },
        {
          type: 'function',
          function: {
            name: 'new',
            parameters: { type: 'object', properties: { a: { $ref: '#/x' } }, additionalProperties: false },
          },
        },
      ],
      tool_choice: { type: 'function', function: { name: 'old' } },
    },
    body: {
      contents: [hello],
      tools: [
        {
          functionDeclarations: [
            {
              name: 'old',
              parameters: {
                type: 'object',
                properties: { a: { type: 'array', items: { type: 'string', enum: ['x'] } } },
              },
            },
            {
              name: 'new',
              parametersJsonSchema: { type: 'object', properties: { a: { $ref: '#/x' } }, additionalProperties: false },
            },
          ],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['old'] } },
    },
  },
  {
    name: 'sampling, limits and the shape of the answer',
    request: {
      temperature: 0,
      top_p: 0.5,
      top_k: 3,
      max_completion_tokens: 9,
      stop: 'END',
      seed: 4,
      n: 2,
      presence_penalty: 0.1,
      frequency_penalty: 0.2,
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } },
    },
    body: {
      contents: [hello],
      generationConfig: {
        temperature: 0,
        topP: 0.5,
        topK: 3,
        maxOutputTokens: 9,
        stopSequences: ['END'],
        seed: 4,
        candidateCount: 2,
        presencePenalty: 0.1,
        frequencyPenalty: 0.2,
        responseMimeType: 'application/json',
        responseJsonSchema: { type: 'object' },
      },
    },
  },
  {
    name: 'JSON without a schema',
    request: { response_format: { type: 'json_object' } },
    body: { contents: [hello], generationConfig: { responseMimeType: 'application/json' } },
  },
]

for (const { name, request, quirks, body } of requests) test(name, () => assert.equal(written(request, quirks), body))

const efforts: readonly (readonly [model: string, effort: string, config: object | undefined])[] = [
  ['gemini-3-pro', 'medium', { thinkingLevel: 'high' }],
  ['gemini-3-flash', 'medium', { thinkingLevel: 'medium' }],
  ['gemini-3-flash', 'none', { thinkingLevel: 'minimal' }],
  ['gemini-2.5-flash', 'low', { thinkingBudget: 1024 }],
  ['gemini-2.5-flash', 'none', { thinkingBudget: 0 }],
  ['gemini-2.5-pro', 'none', { thinkingBudget: 128 }],
  ['gemini-2.0-flash', 'high', undefined],
]

for (const [model, effort, config] of efforts)
  test(`${model} asked for ${effort} effort`, () => {
    const body = written({ model, reasoning_effort: effort }) as { generationConfig?: { thinkingConfig?: object } }
    assert.equal(body.generationConfig?.thinkingConfig, config)
  })

const addresses: readonly (readonly [endpoint: string, stream: boolean, url: string])[] = [
  [endpoint, false, 'https://generativelanguage.googleapis.com/v1beta/models/m%2F1:generateContent'],
  [endpoint, true, 'https://generativelanguage.googleapis.com/v1beta/models/m%2F1:streamGenerateContent?alt=sse'],
  [
    'https://example.org/v1beta/models/x:streamGenerateContent?alt=sse&a=b',
    false,
    'https://example.org/v1beta/models/x:generateContent?a=b',
  ],
  [
    'https://example.org/v1beta/models/x:generateContent?a=b',
    true,
    'https://example.org/v1beta/models/x:streamGenerateContent?a=b&alt=sse',
  ],
  ['https://example.org/v1beta', false, 'https://example.org/v1beta/models/m%2F1:generateContent'],
  ['https://example.org/v1beta/models/', true, 'https://example.org/v1beta/models/m%2F1:streamGenerateContent?alt=sse'],
  ['https://example.org/v1beta/models/{model}', false, 'https://example.org/v1beta/models/m%2F1:generateContent'],
]

for (const [from, stream, url] of addresses)
  test(`${from} ${stream ? 'streamed' : 'whole'} is ${url}`, () => {
    assert.is(gemini.writeRequest({ model: 'm/1', messages: [hi], stream }, from).url, url)
  })

const asked: ChatRequest = { model: 'm', messages: [hi], stream: true }

function events(...values: readonly object[]): Buffer {
  return Buffer.from(values.map((value) => `data: ${JSON.stringify(value)}\r\n\r\n`).join(''))
}

test('token counts grow from piece to piece: the last ones count, once', () => {
  const piece = (text: string, count: number, finish?: string) => ({
    candidates: [{ content: { parts: [{ text }] }, ...(finish && { finishReason: finish }) }],
    usageMetadata: {
      promptTokenCount: 5,
      candidatesTokenCount: count,
      thoughtsTokenCount: 2,
      totalTokenCount: 7 + count,
    },
  })
  const chunks = decode(gemini, asked, [events(piece('a', 1), piece('b', 2, 'STOP'))])
  const counts = chunks.filter((chunk) => chunk.usage)
  assert.is(counts.length, 1)
  assert.equal(counts[0]!.usage, {
    prompt_tokens: 5,
    completion_tokens: 4,
    total_tokens: 9,
    completion_tokens_details: { reasoning_tokens: 2 },
  })
})

test('a stream is whole at the finish reason, and its counts are still read', () => {
  const decoder = gemini.createStreamReader()
  decoder.push(events({ candidates: [{ content: { parts: [{ text: 'a' }] }, finishReason: 'STOP' }] }))
  assert.ok(decoder.complete)
  decoder.push(events({ usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1 } }))
  assert.is(decoder.end().at(-1)?.usage?.total_tokens, 2)
})

test('an array in place of a whole answer is read, an error in an array is reported', () => {
  const reply = gemini.readResponse([
    { candidates: [{ content: { parts: [{ text: 'a' }] } }] },
    { candidates: [{ content: { parts: [{ text: 'b' }] }, finishReason: 'STOP' }] },
  ])
  assert.is(reply.choices[0]!.message.content, 'ab')
  const error = [{ error: { code: 400, message: 'no', status: 'INVALID_ARGUMENT' } }]
  assert.is(gemini.readError(error)?.code, 'INVALID_ARGUMENT')
  assert.throws(() => decode(gemini, asked, [Buffer.from(JSON.stringify(error))]), /^no$/)
})

test('parts that only Gemini knows go back to it with the next question', () => {
  const parts = [{ executableCode: { language: 'PYTHON', code: '1' } }, { text: 'a' }]
  const { message } = gemini.readResponse({ candidates: [{ content: { parts }, finishReason: 'STOP' }] }, 0).choices[0]!
  assert.is(message.content, 'a')
  assert.equal(written({ messages: [hi, message, hi] })['contents'], [hello, { role: 'model', parts }, hello])
})

test('a picture that the model drew is beside the text', () => {
  const parts = [{ text: 'a' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }]
  const reply = gemini.readResponse({ candidates: [{ content: { parts }, finishReason: 'STOP' }] }, 0)
  assert.equal(reply.choices[0]!.message['images'], [
    { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
  ])
})

test('a bad finish keeps its class', () => {
  const finish = (finishReason: string) =>
    gemini.readResponse({ candidates: [{ content: {}, finishReason }] }, 0).choices[0]!.finish_reason
  assert.equal(
    ['STOP', 'MAX_TOKENS', 'SAFETY', 'RECITATION', 'LANGUAGE', 'MALFORMED_FUNCTION_CALL', 'OTHER', 'NEW_ONE'].map(
      finish,
    ),
    ['stop', 'length', 'content_filter', 'content_filter', 'content_filter', 'error', 'error', 'error'],
  )
})

test.run()
