import type OpenAI from 'openai'
import * as assert from 'uvu/assert'
import { type DialectId, withLibraries } from '../helpers/program/client-libraries.ts'
import { type Answer, json } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('probabilities of tokens over the providers that have them, with the client libraries')

const model = 'custom-model'

const bytesOf = (text: string) => [...Buffer.from(text)]

/** The two tokens of the answer, as chat completions write them. */
const tokens = [
  {
    token: 'Grü',
    logprob: -0.1,
    bytes: bytesOf('Grü'),
    top_logprobs: [{ token: 'Hal', logprob: -2.5, bytes: bytesOf('Hal') }],
  },
  { token: 'ße', logprob: -0.01, bytes: bytesOf('ße'), top_logprobs: [] },
]

type Token = (typeof tokens)[number]

const ofOllama = ({ bytes: _, top_logprobs: top, ...token }: Token) => ({
  ...token,
  ...(top.length > 0 && { top_logprobs: top }),
})

const ofGemini = (some: readonly Token[]) => ({
  avgLogprobs: -0.05,
  logprobsResult: {
    chosenCandidates: some.map(({ token, logprob }) => ({ token, tokenId: 7, logProbability: logprob })),
    topCandidates: some.map(({ top_logprobs: top }) => ({
      candidates: top.map(({ token, logprob }) => ({ token, tokenId: 8, logProbability: logprob })),
    })),
  },
})

const outline = { id: 'answer', created: 1_790_000_000, model }

/** A provider that answers `Grüße` in two tokens, with their probabilities where it is asked for them as it wants. */
const providers: Partial<Record<DialectId, { readonly asks: (body: Json) => unknown; readonly answer: Answer }>> = {
  'openai-chat': {
    asks: ({ logprobs, top_logprobs: top }) => [logprobs, top],
    answer({ body }, response) {
      const choice = { index: 0, message: { role: 'assistant', content: 'Grüße' }, finish_reason: 'stop' }
      if (!JSON.parse(body).stream)
        return json(response, 200, { ...outline, choices: [{ ...choice, logprobs: { content: tokens } }] })
      const events = tokens.map((token) => ({
        ...outline,
        choices: [{ index: 0, delta: { content: token.token }, finish_reason: null, logprobs: { content: [token] } }],
      }))
      const last = { ...outline, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const texts = [...events, last].map((event) => `data: ${JSON.stringify(event)}\n\n`)
      response.end(`${texts.join('')}data: [DONE]\n\n`)
    },
  },
  gemini: {
    asks: ({ generationConfig: config }) => [config['responseLogprobs'], config['logprobs']],
    answer({ url }, response) {
      const piece = (text: string, some: readonly Token[], isLast: boolean) => ({
        candidates: [
          {
            content: { role: 'model', parts: [{ text }] },
            ...(isLast && { finishReason: 'STOP' }),
            index: 0,
            ...ofGemini(some),
          },
        ],
        responseId: 'answer',
        modelVersion: model,
      })
      if (!url.includes(':stream')) return json(response, 200, piece('Grüße', tokens, true))
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      const pieces = tokens.map((token, at) => piece(token.token, [token], at > 0))
      response.end(pieces.map((each) => `data: ${JSON.stringify(each)}\r\n\r\n`).join(''))
    },
  },
  ollama: {
    asks: ({ logprobs, top_logprobs: top }) => [logprobs, top],
    answer({ body }, response) {
      const line = (content: string, some: readonly Token[], done: boolean) => ({
        model,
        created_at: '2026-01-01T00:00:00Z',
        message: { role: 'assistant', content },
        done,
        ...(done && { done_reason: 'stop' }),
        ...(some.length > 0 && { logprobs: some.map(ofOllama) }),
      })
      if (!JSON.parse(body).stream) return json(response, 200, line('Grüße', tokens, true))
      response.writeHead(200, { 'content-type': 'application/x-ndjson' })
      const lines = [...tokens.map((token) => line(token.token, [token], false)), line('', [], true)]
      response.end(lines.map((each) => `${JSON.stringify(each)}\n`).join(''))
    },
  },
}

for (const [api, { asks, answer }] of Object.entries(providers))
  test(`over a provider of ${api}: chat completions, Responses and Ollama's chats, whole and streamed`, () =>
    withLibraries(
      answer,
      async ({ openai, url, provider }) => {
        const asked = () => asks(JSON.parse(provider.received.at(-1)!.body))
        const messages = [{ role: 'user' as const, content: 'Hi' }]
        const chat = { model, messages, logprobs: true, top_logprobs: 1 }
        const whole = await openai.chat.completions.create(chat)
        assert.equal(asked(), [true, 1])
        assert.equal(whole.choices[0]!.logprobs?.content, tokens)
        const pieces: unknown[] = []
        for await (const { choices } of await openai.chat.completions.create({ ...chat, stream: true }))
          pieces.push(...(choices[0]?.logprobs?.content ?? []))
        assert.equal(pieces, tokens)
        const include = ['message.output_text.logprobs' as const]
        const ask = { model, input: 'Hi', include, top_logprobs: 1 }
        const response = await openai.responses.create(ask)
        assert.equal(asked(), [true, 1])
        assert.equal(textOf(response).logprobs, tokens)
        const stream = openai.responses.stream(ask)
        const deltas: unknown[] = []
        for await (const event of stream)
          if (event.type === 'response.output_text.delta') deltas.push(...event.logprobs)
        assert.equal(deltas, tokens)
        assert.equal(textOf(await stream.finalResponse()).logprobs, tokens)
        const ollama = async (body: object) => {
          const headers = { 'content-type': 'application/json', authorization: 'Bearer ours' }
          const sent = JSON.stringify({ ...chat, ...body })
          const text = await (await fetch(`${url}/ollama/api/chat`, { method: 'POST', headers, body: sent })).text()
          return text
            .trim()
            .split('\n')
            .flatMap((line) => JSON.parse(line).logprobs ?? [])
        }
        for (const isStreamed of [false, true])
          assert.equal((await ollama({ stream: isStreamed })).map(withAll), tokens, String(isStreamed))
        // Not asked for, they are not asked of the provider.
        await openai.chat.completions.create({ model, messages })
        const { generationConfig, ...body } = JSON.parse(provider.received.at(-1)!.body)
        assert.equal([generationConfig?.responseLogprobs, body.logprobs], [undefined, undefined])
      },
      { plugin: { api }, maxRetries: 0 },
    ))

test('a provider without probabilities answers without them, and a warning says so', () =>
  withLibraries(
    (_request, response) =>
      json(response, 200, {
        ...{ id: 'm', type: 'message', role: 'assistant', model, stop_reason: 'end_turn' },
        content: [{ type: 'text', text: 'Hello' }],
        usage: { input_tokens: 1, output_tokens: 1 },
      }),
    async ({ openai }) => {
      const chat = { model, messages: [{ role: 'user' as const, content: 'Hi' }], logprobs: true, top_logprobs: 1 }
      const { response } = await openai.chat.completions.create(chat).withResponse()
      assert.match(response.headers.get('x-aichat-warnings') ?? '', /logprobs, top_logprobs: left out/)
    },
    { plugin: { api: 'anthropic-messages' } },
  ))

test.run()

// biome-ignore lint/suspicious/noExplicitAny: a body as it came.
type Json = Record<string, any>

function textOf({ output }: OpenAI.Responses.Response) {
  const part = output[0]?.type === 'message' ? output[0].content[0] : undefined
  if (part?.type !== 'output_text') throw new Error('no text')
  return part
}

/** Ollama leaves out bytes and alternatives that a token has not. */
function withAll({ token, logprob, bytes = bytesOf(token), top_logprobs: top = [] }: Token): Token {
  return {
    token,
    logprob,
    bytes,
    top_logprobs: top.map((each) => ({ ...each, bytes: each.bytes ?? bytesOf(each.token) })),
  }
}
