import * as assert from 'uvu/assert'
import { clientDialects } from '../../../src/chat/dialects/dialects.ts'
import { chunksOf, collectReply } from '../../../src/chat/protocol/chunks.ts'
import type { ClientDialect } from '../../../src/chat/protocol/dialect.ts'
import { type ChatChunk, type ChatRequest, type Message, textOf } from '../../../src/chat/protocol/messages.ts'
import { piecesOf, reply, request } from '../../helpers/chat/arbitraries.ts'
import { decode, encode } from '../../helpers/chat/exchange-checks.ts'
import { factsOf, factsOfReply } from '../../helpers/chat/facts.ts'
import { fc } from '../../helpers/properties.ts'
import { suite } from '../../helpers/suite.ts'

const endpoints: Record<ClientDialect['id'], string> = {
  'openai-chat': 'https://example.org/v1/chat/completions',
  'openai-responses': 'https://example.org/v1/responses',
  'anthropic-messages': 'https://example.org/v1/messages',
  ollama: 'http://127.0.0.1:11434/api/chat',
}

/** Examples of each property. */
const numRuns = 200

const test = suite('properties of every dialect of clients')

for (const dialect of Object.values(clientDialects)) {
  test(`${dialect.id}: a request written and read again asks for the same`, () => {
    fc.assert(
      fc.property(request, (asked) => {
        const endpoint = endpoints[dialect.id]
        if (dialect.id === 'ollama' && JSON.stringify(asked).includes('https://example.org')) return
        const written = dialect.writeRequest(asked, endpoint)
        const read = dialect.readRequest(JSON.parse(JSON.stringify(written.body)))
        assert.equal(outlineOf(read, dialect.id), outlineOf(asked, dialect.id))
        // Once it is in the dialect's own spelling, nothing changes any more.
        assert.equal(
          JSON.parse(JSON.stringify(dialect.writeRequest(read, endpoint))),
          JSON.parse(JSON.stringify(written)),
        )
      }),
      { numRuns },
    )
  })

  test(`${dialect.id}: an answer written and read again is the same, whole and streamed in any pieces`, () => {
    fc.assert(
      fc.property(reply, fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 40 }), (answer, size, cut) => {
        const asked: ChatRequest = { model: 'model-1', messages: [], stream: true }
        const facts = factsOfReply(answer)
        const whole = JSON.parse(JSON.stringify(dialect.writeResponse(answer)))
        assert.equal(factsOfReply(dialect.readResponse(whole, 0)), facts, 'whole')

        const bytes = encode(dialect, asked, piecesOf(chunksOf(answer), size))
        assert.equal(factsOf(dialect.id, bytes, true), facts, 'the bytes of the stream')
        const chunks = decode(dialect, asked, piecesOfBytes(bytes, cut))
        assertGrammar(chunks)
        const collected = collectReply(chunks)
        assert.equal(factsOfReply(collected), facts, 'the stream, read again')
        const thought = answer.choices[0]?.message.reasoning_content
        assert.is(collected.choices[0]?.message.reasoning_content, thought, 'its thoughts')
      }),
      { numRuns },
    )
  })
}

/** The promises of stream readers: a role first, one finish for each choice, token counts once and last. */
function assertGrammar(chunks: readonly ChatChunk[]): void {
  const choices = chunks.flatMap((chunk) => chunk.choices)
  assert.is(choices[0]?.delta.role, 'assistant', 'the first delta has a role')
  assert.is(choices.filter((choice) => choice.finish_reason !== null).length, 1, 'one finish')
  const counts = chunks.filter((chunk) => chunk.usage)
  assert.is(counts.length, 1, 'token counts once')
  assert.is(counts[0], chunks.at(-1), 'token counts last')
  assert.equal(counts[0]?.choices, [])
}

function piecesOfBytes(bytes: Buffer, size: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size))
}

/** The facts of a request, without those that a dialect cannot express: seeds (Anthropic, Responses), stops (Responses), places of system messages. */
function outlineOf(asked: ChatRequest, id: ClientDialect['id']): unknown {
  const isSystem = ({ role }: Message) => role === 'system' || role === 'developer'
  const hasTools = asked.tools !== undefined
  const { response_format: format } = asked
  return {
    model: asked.model,
    system: asked.messages
      .filter(isSystem)
      .map((message) => textOf(message.content))
      .join(''),
    turns: joined(
      asked.messages.filter((message) => !isSystem(message)),
      id,
    ),
    limit: asked.max_tokens ?? (id === 'anthropic-messages' ? 32_000 : undefined),
    temperature: asked.temperature,
    topP: asked.top_p,
    stop: id === 'openai-responses' ? undefined : asked.stop,
    seed: id === 'anthropic-messages' || id === 'openai-responses' ? undefined : asked.seed,
    tools: asked.tools,
    choice: id === 'ollama' || (id === 'anthropic-messages' && !hasTools) ? undefined : asked.tool_choice,
    format: format?.type === 'json_schema' ? format.json_schema.schema : undefined,
    stream: asked.stream ?? false,
  }
}

/** The turns with neighbours of one side joined, as dialects that want sides to take turns write them. */
function joined(messages: readonly Message[], id: ClientDialect['id']): unknown[] {
  const turns: { side: string; text: string; images: string[]; calls: unknown[] }[] = []
  for (const message of messages) {
    const side = message.role === 'tool' ? `tool ${message.tool_call_id}` : message.role
    const content = Array.isArray(message.content) ? message.content : []
    const images = content.flatMap((part) => ('image_url' in part ? [(part.image_url as { url: string }).url] : []))
    const calls = (message.tool_calls ?? []).map(({ id: callId, function: wire }) => [
      callId,
      wire.name,
      JSON.parse(wire.arguments),
    ])
    const turn = { side, text: textOf(message.content), images, calls }
    const last = turns.at(-1)
    if (last?.side === side && id !== 'openai-chat')
      Object.assign(last, { text: last.text + turn.text, images: [...last.images, ...images] })
    else turns.push(turn)
  }
  return turns
}

test.run()
