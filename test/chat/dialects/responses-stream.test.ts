// Some with --all only: a whole sample.
import { fileURLToPath } from 'node:url'
import OpenAI from 'openai'
import * as assert from 'uvu/assert'
import { responses } from '../../../src/chat/dialects/responses/dialect.ts'
import { chunksOf } from '../../../src/chat/protocol/chunks.ts'
import type { ChatChunk, ChatRequest } from '../../../src/chat/protocol/messages.ts'
import { piecesOf, reply } from '../../helpers/chat/arbitraries.ts'
import { decode, dialectOf, encode, failsInside, requestOf } from '../../helpers/chat/exchange-checks.ts'
import { isChat, isStreamed, loadExchanges } from '../../helpers/chat/exchanges.ts'
import { factsOf } from '../../helpers/chat/facts.ts'
import { checkGrammar, eventsOf } from '../../helpers/chat/responses-grammar.ts'
import { pluck } from '../../helpers/pluck.ts'
import { fc } from '../../helpers/properties.ts'
import { suite } from '../../helpers/suite.ts'

const exchanges = loadExchanges(fileURLToPath(new URL('./test/fixtures/dialects/', import.meta.resolve('#package'))))
const streams = exchanges.filter(
  (exchange) => isChat(exchange) && exchange.status === 200 && isStreamed(exchange) && !failsInside(exchange),
)

const test = suite('streams of the Responses API')

function clientOf(body: Buffer): OpenAI {
  const answer = async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  return new OpenAI({ apiKey: 'key', baseURL: 'http://127.0.0.1/v1', maxRetries: 0, fetch: answer as typeof fetch })
}

for (const exchange of streams) {
  const source = dialectOf(exchange)
  const request = requestOf(exchange)
  const chunks = () => decode(source, request, [exchange.answer])

  test(`${exchange.name}: every event in its order, and the library of OpenAI adds them up`, async () => {
    const bytes = encode(responses, request, chunks())
    const response = checkGrammar(eventsOf(bytes.toString('utf8')))
    const seen: string[] = []
    const stream = clientOf(bytes).responses.stream({ model: 'm', input: 'x' })
    stream.on('event', ({ type }) => seen.push(type))
    const final = await stream.finalResponse()
    assert.equal(
      seen,
      eventsOf(bytes.toString('utf8')).map(({ type }) => type),
    )
    assert.equal(
      pluck(final.output, 'id', 'type'),
      response.output.map((item: { id: string; type: string }) => [item.id, item.type]),
    )
    const { choices, usage } = factsOf(source.id, exchange.answer, true)
    const refusals = final.output.flatMap((item) => (item.type === 'message' ? item.content : []))
    const refused = refusals.map((part) => (part.type === 'refusal' ? part.refusal : '')).join('')
    assert.is(final.output_text + refused, choices[0]?.text)
    assert.is(final.usage?.input_tokens, usage?.prompt)
    assert.is(final.usage?.output_tokens, usage?.completion)
  })

  test(`${exchange.name}: broken off after any piece it ends as failed, in both spellings`, async () => {
    const all = chunks()
    for (let count = 0; count < all.length; count++) {
      const writer = responses.createStreamWriter(request)
      const begun = all.slice(0, count).map((chunk) => writer.push(chunk))
      const text =
        begun.join('') + writer.fail({ message: 'the provider went away', code: 'server_error', status: 502 })
      const response = checkGrammar(eventsOf(text))
      assert.equal([response.status, response.error.message], ['failed', 'the provider went away'])
      const thrown = await clientOf(Buffer.from(text))
        .responses.stream({ model: 'm', input: 'x' })
        .finalResponse()
        .catch(String)
      assert.match(String(thrown), 'the provider went away')
    }
  })
}

test.whole('any answer in any pieces is written by the grammar, also of calls whose pieces come mixed', () => {
  const asked: ChatRequest = { model: 'm', messages: [], stream: true }
  fc.assert(
    fc.property(reply, fc.integer({ min: 1, max: 9 }), fc.nat(), (answer, size, seed) => {
      const pieces = mixedCalls(piecesOf(chunksOf(answer), size), seed)
      const response = checkGrammar(eventsOf(encode(responses, asked, pieces).toString('utf8')))
      const calls = response.output.filter((item: { type: string }) => item.type === 'function_call')
      assert.equal(
        calls.map((item: { call_id: string; arguments: string }) => [item.call_id, JSON.parse(item.arguments)]).sort(),
        (answer.choices[0]?.message.tool_calls ?? [])
          .map(({ id, function: wire }) => [id, JSON.parse(wire.arguments)])
          .sort(),
      )
    }),
    { numRuns: 300 },
  )
})

test('an answer of more items than any client waits for is broken', () => {
  const writer = responses.createStreamWriter({ model: 'm', messages: [], stream: true })
  const outline = { id: 'a', object: 'chat.completion.chunk' as const, created: 1, model: 'm' }
  assert.throws(() => {
    for (let index = 0; index < 2_000; index++) {
      const call = { index, id: `c${index}`, type: 'function' as const, function: { name: 'f', arguments: '{}' } }
      writer.push({ ...outline, choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: null }] })
    }
  }, /more than 1000 items/)
})

/** The pieces of calls in another order, those of each call in their own. */
function mixedCalls(pieces: readonly ChatChunk[], seed: number): readonly ChatChunk[] {
  const ofCall = (chunk: ChatChunk) => chunk.choices[0]?.delta.tool_calls?.[0]?.index
  const queues = new Map<number, ChatChunk[]>()
  for (const piece of pieces) {
    const index = ofCall(piece)
    if (index !== undefined) queues.set(index, [...(queues.get(index) ?? []), piece])
  }
  let turn = seed
  return pieces.map((piece) => {
    if (ofCall(piece) === undefined) return piece
    const left = [...queues.values()].filter((queue) => queue.length > 0)
    turn = (turn * 31 + 7) % 1_000_003
    return left[turn % left.length]!.shift()!
  })
}

test.run()
