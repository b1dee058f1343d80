import * as assert from 'uvu/assert'
import { clientDialects, dialectFor } from '../../../src/chat/dialects/dialects.ts'
import { withTools } from '../../../src/chat/dialects/shared/plain-tools.ts'
import { collectReply } from '../../../src/chat/protocol/chunks.ts'
import { type ClientDialect, type Dialect, DialectError, type WireRequest } from '../../../src/chat/protocol/dialect.ts'
import {
  type ChatChunk,
  type ChatRequest,
  type Message,
  type Tool,
  textOf,
} from '../../../src/chat/protocol/messages.ts'
import { AppError } from '../../../src/errors.ts'
import { meaningOf } from '../../chat/meaning.ts'
import { type Exchange, isStreamed } from './exchanges.ts'
import { type ChoiceFacts, type Facts, factsOf, factsOfReply, failuresIn, hasEnded, isSpliced } from './facts.ts'

/** Milliseconds since 1970 that every reading here is dated with. */
const now = 1_790_000_000_000

export function dialectOf(exchange: Exchange): Dialect {
  return dialectFor(undefined, exchange.url)
}

/** The request of an exchange; of Gemini's, which no client speaks here, a question in its place. */
export function requestOf(exchange: Exchange): ChatRequest {
  const dialect = clientDialectOf(exchange)
  return dialect ? dialect.readRequest(exchange.body) : { model: 'gemini-2.5-flash', messages: [question] }
}

const question: Message = { role: 'user', content: 'Hi' }

/** The dialect of an exchange, where clients speak it here too. */
export function clientDialectOf(exchange: Exchange): ClientDialect | undefined {
  return Object.values(clientDialects).find((dialect) => dialect === dialectOf(exchange))
}

/** The request is read and written again as one that means the same, to the same address. */
export function checkRequest(exchange: Exchange): void {
  const dialect = dialectOf(exchange)
  // A request that the provider refused may be refused by us already, with a reason.
  if (exchange.status >= 400 && refusalOf(exchange)) return
  const written = dialect.writeRequest(requestOf(exchange), exchange.url)
  assert.equal(meaningOf(dialect.id, written.body), meaningOf(dialect.id, exchange.body))
  // We always ask for a stream as events, whichever way it was recorded.
  assert.is(written.url.replace(/[?&]alt=sse/, ''), exchange.url.replace(/[?&]alt=sse/, ''))
}

function refusalOf(exchange: Exchange): AppError | undefined {
  try {
    requestOf(exchange)
    return undefined
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid' && error.details.length > 0) return error
    throw error
  }
}

/** Whether an exchange under a good status is a failure all the same. */
export function failsInside(exchange: Exchange): boolean {
  return failuresOf(exchange).length > 0
}

/** The ways in which it may fail: by the fixture, else by its bytes. */
function failuresOf(exchange: Exchange): readonly DialectError['kind'][] {
  const { answer, expect } = exchange
  return expect.failure ? [expect.failure.kind] : failuresIn(dialectOf(exchange).id, answer, isStreamed(exchange))
}

/** The request, written in another dialect and read again there, has the same words, calls and tools. */
export function checkRequestConversion(exchange: Exchange, target: ClientDialect): void {
  const request = requestOf(exchange)
  const written = writtenUnlessRefused(request, target)
  if (!written) return
  const read = target.readRequest(JSON.parse(JSON.stringify(written.body)))
  assert.equal(wordsOf(read), wordsOf(request))
}

/**
 * The request in another dialect. It may be refused only for parts that the dialect cannot express: several answers, or
 * a part that is not text in a message of a user or a tool.
 */
function writtenUnlessRefused(request: ChatRequest, target: Dialect): WireRequest | undefined {
  try {
    return target.writeRequest(request, 'https://example.org')
  } catch (error) {
    const shown = request.messages.filter(({ role }) => role === 'user' || role === 'tool')
    const isPlain = shown.every(
      ({ content }) => !Array.isArray(content) || content.every(({ type }) => type === 'text'),
    )
    const isRefusal = error instanceof AppError && error.code === 'invalid' && error.message !== ''
    if (!isRefusal || (isPlain && (request.n ?? 1) <= 1)) throw error
    return undefined
  }
}

/** Anthropic has no mode for JSON without a schema: the system prompt asks for it. */
const jsonWish = 'Answer with one JSON object and nothing else.'

/** OpenAI's chat takes no result of a tool that is a picture alone: this text stands for it, and the picture behind it. */
const resultBehind = '[The result follows as a message of the user.]'

/** The parts of a request that every dialect has, as plain lists; neighbours of one side are joined. */
function wordsOf(asked: ChatRequest): unknown {
  const { messages, tools = [] } = withTools(asked)
  const isSystem = ({ role }: Message) => role === 'system' || role === 'developer'
  const wordsBy = (side: string) =>
    messages
      .filter(({ role }) => role === side)
      .map(({ content }) => textOf(content))
      .join('')
  const calls = messages.flatMap((message) => message.tool_calls ?? [])
  return {
    system: messages
      .filter(isSystem)
      .map(({ content }) => textOf(content))
      .join('')
      .replace(jsonWish, ''),
    user: wordsBy('user').replaceAll(/From the result of .+? \([^)]*\):/g, ''),
    assistant: wordsBy('assistant'),
    answers: messages
      .filter(({ role }) => role === 'tool')
      .map(({ content }) => answerIn(textOf(content).replace(resultBehind, ''))),
    calls: calls.map(({ function: wire }) => [wire.name, argumentsIn(wire.arguments)]),
    tools: tools.flatMap((tool) => (tool.type === 'function' ? [[tool.function.name, schemaOf(tool)]] : [])),
  }
}

/** Anthropic wants a schema with every tool: one without parameters takes none. */
function schemaOf({ function: { parameters } }: Tool): unknown {
  return parameters ?? { type: 'object', properties: {} }
}

/** A tool's answer without its mark of failure: Anthropic has a field for that, others a prefix. */
function answerIn(text: string): unknown {
  const answer = argumentsIn(text.replace(/^Error: /, ''))
  const { error, ...rest } = Object(answer) as Record<string, unknown>
  return typeof error === 'string' && Object.keys(rest).length === 0 ? argumentsIn(error) : answer
}

/** JSON as its value, so that its spacing does not matter; any other text as it is. */
function argumentsIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Our reading of the answer has the facts of the provider's bytes. */
export function checkAnswer(exchange: Exchange): void {
  const dialect = dialectOf(exchange)
  const streamed = isStreamed(exchange)
  const request = requestOf(exchange)
  const { failure, text, reasoning } = exchange.expect
  if (failure) {
    assert.equal(
      failureOf(() => readWhole(dialect, request, exchange, streamed)),
      failure,
    )
    return
  }
  if (failsInside(exchange)) {
    const found = failureOf(() => readWhole(dialect, request, exchange, streamed))
    assert.ok(found && failuresOf(exchange).includes(found.kind), `it fails: ${JSON.stringify(found)}`)
    return
  }
  const reply = readWhole(dialect, request, exchange, streamed)
  assert.equal(factsOfReply(reply), factsOf(dialect.id, exchange.answer, streamed))
  if (text !== undefined) assert.is(reply.choices[0]?.message.content, text)
  if (reasoning !== undefined) assert.is(reply.choices[0]?.message.reasoning_content, reasoning)
}

/** A stream cut in two at these places, or arriving byte by byte, reads the same. */
export function checkCuts(exchange: Exchange, places: Iterable<number>): void {
  const dialect = dialectOf(exchange)
  const request = requestOf(exchange)
  const { answer } = exchange
  const outcome = (pieces: readonly Buffer[]) => JSON.stringify(outcomeOf(dialect, request, pieces))
  const whole = outcome([answer])
  for (const at of places)
    if (outcome([answer.subarray(0, at), answer.subarray(at)]) !== whole)
      assert.unreachable(`cut at byte ${at}: another answer`)
  const bytes = Array.from({ length: answer.length }, (_, at) => answer.subarray(at, at + 1))
  assert.is(outcome(bytes), whole, 'byte by byte')
}

/**
 * A sample of the places at which a stream can be cut: the edges and some places within the first event of each kind, and each
 * kind of place within a character. Kinds in `sampled` are left out, and those that were found are added to it.
 */
export function sampleOfCuts(answer: Buffer, sampled = new Set<string>()): readonly number[] {
  const isNew = (kind: string) => !sampled.has(kind) && sampled.add(kind)
  const firsts = firstsOfKinds(answer).filter(({ kind }) => isNew(kind))
  const inEvents = firsts.flatMap(({ start, end }) => [
    start,
    ...[0.1, 0.35, 0.6, 0.85].map((part) => start + Math.floor((end - start) * part)),
    end - 1,
    end,
  ])
  const inCharacters: number[] = []
  for (let at = 1, before = 1; at < answer.length; at++) {
    before = (answer[at]! & 0xc0) === 0x80 ? before + 1 : 1
    // The first byte of a character tells its length, this one its place in it.
    const kind = `${answer[at - before + 1]! >> 4} ${before}`
    if (before > 1 && isNew(kind)) inCharacters.push(at)
  }
  return [0, ...inEvents, ...inCharacters, answer.length]
}

/** The first line of each kind in a stream, by the bytes where it begins and ends: lines of a kind differ in values alone. */
function firstsOfKinds(
  answer: Buffer,
): readonly { readonly kind: string; readonly start: number; readonly end: number }[] {
  const kinds = new Map<string, { readonly kind: string; readonly start: number; readonly end: number }>()
  for (const { 0: line, index } of answer.toString('latin1').matchAll(/[^\r\n]+(?:\r?\n)*/g)) {
    const kind = line.replace(/(:\s*)"(?:[^"\\]|\\.)*"|-?\d[\d.]*/g, '$1')
    if (!kinds.has(kind)) kinds.set(kind, { kind, start: index, end: index + line.length })
  }
  return [...kinds.values()]
}

/** A stream broken off after any event, or with `sampled` after the first one of each kind, fails, unless its end came before. */
export function checkBreaks(exchange: Exchange, sampled = false): void {
  const dialect = dialectOf(exchange)
  const request = requestOf(exchange)
  const breaks = breaksOf(exchange.answer)
  assert.ok(breaks.length > 1, 'the stream has events')
  const firsts = new Set(firstsOfKinds(exchange.answer).flatMap(({ start, end }) => [start, end]))
  const [kind] = failuresOf(exchange)
  for (const at of breaks) {
    if (sampled && !firsts.has(at) && at !== breaks.at(-1)) continue
    const begun = exchange.answer.subarray(0, at)
    const failure = failureOf(() => decode(dialect, request, [begun]))
    const own = failsItself(dialect, kind, begun.toString('utf8'))
    if (own === undefined && hasEnded(dialect.id, begun.toString('utf8')))
      assert.is(failure, undefined, `broken off at byte ${at}, after the end`)
    else assert.ok(failure && ['cut', own].includes(failure.kind), `broken off at byte ${at}`)
  }
}

/** A stream that holds an error of this kind fails with that, once it has come whole. */
function failsItself({ id }: Dialect, kind: DialectError['kind'] | undefined, begun: string) {
  if (!kind || kind === 'cut') return undefined
  if (kind === 'broken' && isSpliced(id, begun)) return kind
  return begun.includes(kind === 'reported' ? '"error"' : 'broken') ? kind : undefined
}

/** The answer, written in another dialect and read again there, is the same; so are the written bytes. */
export function checkConversion(exchange: Exchange, target: ClientDialect): void {
  const source = dialectOf(exchange)
  const request = requestOf(exchange)
  const streamed = isStreamed(exchange)
  const reply = readWhole(source, request, exchange, streamed)
  const expected = factsIn(target.id, factsOfReply(reply), Boolean(reply.choices[0]?.message.refusal))

  const whole = target.writeResponse(reply, request)
  if (target.id === 'openai-responses' && expected.choices[0]?.finish === 'error') {
    // A response that failed has an error, and no text that a client would read.
    assert.is(failureOf(() => target.readResponse(whole, now))?.kind, 'reported')
    if (streamed)
      assert.is(
        failureOf(() => decode(target, request, [encode(target, request, decode(source, request, [exchange.answer]))]))
          ?.kind,
        'reported',
      )
    return
  }
  assert.equal(factsOf(target.id, Buffer.from(JSON.stringify(whole)), false), expected, 'written whole')
  const again = target.readResponse(JSON.parse(JSON.stringify(whole)), now)
  assert.equal(factsIn(target.id, factsOfReply(again)), expected, 'written whole and read again')

  if (!streamed) return
  const bytes = encode(target, request, decode(source, request, [exchange.answer]))
  if (target.id === 'anthropic-messages' && expected.choices[0]?.finish === 'error') {
    // Its streams have an event for that, and no end after it.
    assert.is(failureOf(() => decode(target, request, [bytes]))?.kind, 'reported')
    return
  }
  const written = factsOf(target.id, bytes, true)
  if (target.id === 'anthropic-messages' && !reply.usage) {
    // Its streams hold the estimate where the provider told no counts.
    assert.equal(written.choices, expected.choices, 'written as a stream')
    assert.ok(written.usage!.prompt > 0 && written.usage!.completion > 0, 'estimated')
    return
  }
  assert.equal(written, expected, 'written as a stream')
  const collected = collectReply(decode(target, request, [bytes]))
  assert.equal(factsIn(target.id, factsOfReply(collected)), expected, 'written as a stream and read again')
}

/** The chunks of a stream that came in these pieces. */
export function decode(dialect: Dialect, _request: ChatRequest, pieces: readonly Uint8Array[]): readonly ChatChunk[] {
  const decoder = dialect.createStreamReader(now)
  const chunks = pieces.flatMap((piece) => decoder.push(piece))
  chunks.push(...decoder.end())
  assert.ok(decoder.complete)
  return chunks
}

/** Chunks as the bytes that a client of the dialect gets. */
export function encode(
  dialect: Pick<ClientDialect, 'createStreamWriter'>,
  request: ChatRequest,
  chunks: readonly ChatChunk[],
): Buffer {
  const encoder = dialect.createStreamWriter({ ...request, stream_options: { include_usage: true } })
  return Buffer.from(chunks.map((chunk) => encoder.push(chunk)).join('') + encoder.end())
}

/** How a reading fails, or undefined where it does not; anything but a DialectError is a bug and goes on. */
export function failureOf(read: () => unknown): { kind: DialectError['kind']; code?: string } | undefined {
  try {
    read()
    return undefined
  } catch (error) {
    if (!(error instanceof DialectError)) throw error
    // Anthropic's errors have a type in a code's place.
    const { code = error.error.type } = error.error
    return { kind: error.kind, ...(code !== undefined && { code }) }
  }
}

function readWhole(dialect: Dialect, request: ChatRequest, { answer }: Exchange, streamed: boolean) {
  if (streamed) return collectReply(decode(dialect, request, [answer]))
  return dialect.readResponse(JSON.parse(answer.toString('utf8')), now)
}

function outcomeOf(dialect: Dialect, request: ChatRequest, pieces: readonly Buffer[]): unknown {
  try {
    return collectReply(decode(dialect, request, pieces))
  } catch (error) {
    if (!(error instanceof DialectError)) throw error
    return { kind: error.kind, ...error.error }
  }
}

/** The offsets after each line of a stream, or after each value of an array; the end of the body is the last. */
function breaksOf(answer: Buffer): readonly number[] {
  const text = answer.toString('latin1')
  const ends = [...text.matchAll(/\r\n|\n|\r|\}(?=,)/g)].map((match) => match.index + match[0].length)
  return [...new Set([0, ...ends])].filter((at) => at < answer.length)
}

/**
 * The facts that survive in a dialect: Anthropic and Ollama have one choice, and clients of all dialects but OpenAI's
 * learn of a forced call, and Anthropic's of a refusal, by the reason that OpenAI calls `stop`.
 */
function factsIn(id: Dialect['id'], facts: Facts, refused = false): Facts {
  if (id === 'openai-chat') return facts
  // Anthropic's messages always count.
  const usage = id === 'anthropic-messages' ? (facts.usage ?? { prompt: 0, completion: 0 }) : facts.usage
  const choices = facts.choices.slice(0, 1)
  const finish = (choice: ChoiceFacts) =>
    refused && id === 'anthropic-messages' && choice.finish === 'stop' ? 'content_filter' : finishIn(choice)
  return { choices: choices.map((choice) => ({ ...choice, finish: finish(choice) })), usage }
}

function finishIn({ finish, calls }: ChoiceFacts): string {
  return finish === 'stop' && calls.length > 0 ? 'tool_calls' : finish
}
