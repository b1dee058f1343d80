import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { clientDialects, dialects } from '../../../src/chat/dialects/dialects.ts'
import { collectReply } from '../../../src/chat/protocol/chunks.ts'
import { type Dialect, DialectError } from '../../../src/chat/protocol/dialect.ts'
import type { ChatRequest } from '../../../src/chat/protocol/messages.ts'
import { estimateRequestTokens } from '../../../src/chat/protocol/token-estimate.ts'
import { AppError } from '../../../src/errors.ts'
import { decode, dialectOf, encode, failureOf } from '../../helpers/chat/exchange-checks.ts'
import { isChat, isStreamed, loadExchanges } from '../../helpers/chat/exchanges.ts'
import { fc } from '../../helpers/properties.ts'
import { suite } from '../../helpers/suite.ts'
import { leftOutOf } from '../left-out.ts'

const exchanges = loadExchanges(
  fileURLToPath(new URL('./test/fixtures/dialects/', import.meta.resolve('#package'))),
).filter(isChat)
const clients = Object.values(clientDialects)
const answers = exchanges.filter(({ status }) => status === 200)
const asked: ChatRequest = { model: 'm', messages: [{ role: 'user', content: 'x' }], stream: true }
const endpoint = 'https://example.org/v1/x'

const test = suite('wires that send anything')
const numRuns = 600

/** JSON with a few of its values replaced by others, and names that objects have by nature. */
function mutated(value: unknown): fc.Arbitrary<unknown> {
  const odd = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.constantFrom('constructor', '__proto__', 'toString', -1, 1e300, null, [], {}),
  )
  return fc.tuple(fc.array(fc.tuple(fc.nat(200), odd), { minLength: 1, maxLength: 4 })).map(([changes]) => {
    const copy = JSON.parse(JSON.stringify(value))
    for (const [at, replacement] of changes) {
      const places = placesOf(copy)
      const place = places[at % places.length]
      // A copy, so that no value comes to stand inside itself.
      if (place) place.holder[place.name] = JSON.parse(JSON.stringify(replacement))
    }
    return copy
  })
}

type Place = { readonly holder: Record<string, unknown>; readonly name: string }

function placesOf(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return []
  const holder = value as Record<string, unknown>
  return Object.keys(holder).flatMap((name) => [{ holder, name }, ...placesOf(holder[name])])
}

/** Runs a function that may throw our errors; fails the test for any other, such as a TypeError. */
function survives(run: () => void): void {
  try {
    run()
  } catch (error) {
    if (!(error instanceof DialectError || error instanceof AppError))
      throw new Error(`a bug: ${error instanceof Error ? error.stack : error}`, { cause: error })
  }
}

for (const dialect of dialects) {
  const own = answers.filter((exchange) => dialectOf(exchange) === dialect)
  const bodies = own
    .filter((exchange) => !isStreamed(exchange))
    .map(({ answer }) => JSON.parse(answer.toString('utf8')))
  const lines = own
    .filter(isStreamed)
    .flatMap(({ answer }) => answer.toString('utf8').match(/^(?:data: )?\{.*\}$/gm) ?? [])
    .map((line) => JSON.parse(line.replace(/^data: /, '')))

  test(`${dialect.id}: an answer with anything in it is read or refused, and the result can be written in every dialect`, () => {
    fc.assert(
      fc.property(fc.constantFrom(...bodies).chain(mutated), (body) =>
        survives(() => {
          const reply = dialect.readResponse(body, 0)
          for (const target of clients) JSON.stringify(target.writeResponse(reply))
        }),
      ),
      { numRuns, includeErrorInReport: true },
    )
  })

  test(`${dialect.id}: a stream with anything in it is read or refused, and the result can be written in every dialect`, () => {
    const events = fc.array(
      fc.constantFrom(...lines).chain((line) => fc.oneof({ weight: 3, arbitrary: fc.constant(line) }, mutated(line))),
      { minLength: 1, maxLength: 8 },
    )
    fc.assert(
      fc.property(events, (values) =>
        survives(() => {
          const mark = dialect.id === 'ollama' ? ['', '\n'] : ['data: ', '\n\n']
          const bytes = Buffer.from(values.map((value) => `${mark[0]}${JSON.stringify(value)}${mark[1]}`).join(''))
          const chunks = decode(dialect, asked, [bytes])
          collectReply(chunks)
          for (const target of clients) encode(target, asked, chunks)
        }),
      ),
      { numRuns, includeErrorInReport: true },
    )
  })

  test(`${dialect.id}: an error is read from any JSON, and from none`, () => {
    fc.assert(fc.property(fc.jsonValue(), (body) => assert.not.throws(() => dialect.readError(body))))
    for (const body of [undefined, null, '', '<html>', 5, [], {}, { error: null }, { error: {} }])
      assert.not.throws(() => dialect.readError(body))
  })

  test(`${dialect.id}: a page in place of a stream is broken, an empty body is cut off`, () => {
    assert.is(failureOf(() => decode(dialect, asked, [Buffer.from('\n <html><body>502 Bad Gateway')]))?.kind, 'broken')
    assert.is(failureOf(() => decode(dialect, asked, []))?.kind, 'cut')
    assert.is(failureOf(() => decode(dialect, asked, [Buffer.from('\n\n')]))?.kind, 'cut')
  })

  test(`${dialect.id}: an answer that is none is broken`, () => {
    for (const body of [null, 'text', 5, {}, { object: 'list', data: [] }])
      assert.is(failureOf(() => dialect.readResponse(body, 0))?.kind, 'broken', JSON.stringify(body))
  })
}

for (const dialect of clients) {
  test(`${dialect.id}: a request with anything in it is read or refused, and the result can be written in every dialect`, () => {
    const requests = exchanges.filter((exchange) => dialectOf(exchange) === dialect)
    fc.assert(
      fc.property(
        fc.constantFrom(...requests).chain(({ body }) => mutated(body)),
        (body) => {
          survives(() => {
            const request = dialect.readRequest(body)
            for (const target of dialects) {
              survives(() => JSON.stringify(target.writeRequest(request, endpoint)))
              leftOutOf(request, target.id)
            }
            assert.ok(Number.isFinite(estimateRequestTokens(request)))
          })
        },
      ),
      { numRuns, includeErrorInReport: true },
    )
  })

  test(`${dialect.id}: an error in place of a stream is reported, a whole answer is read`, () => {
    const error = Buffer.from(JSON.stringify(dialect.writeError({ message: 'no', status: 503 })))
    assert.is(failureOf(() => decode(dialect, asked, [error]))?.kind, 'reported')
    const reply = dialect.writeResponse({
      id: 'r',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Grüße' }, finish_reason: 'stop' }],
    })
    const chunks = decode(dialect, asked, [Buffer.from(JSON.stringify(reply))])
    assert.is(collectReply(chunks).choices[0]?.message.content, 'Grüße')
  })
}

function isDialectOf(id: Dialect['id']): Dialect {
  return dialects.find((dialect) => dialect.id === id)!
}

test('arguments nested too deep to be written are a broken answer', () => {
  const deep = JSON.parse(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`)
  const anthropic = {
    content: [{ type: 'tool_use', id: 't', name: 'n', input: deep }],
    stop_reason: 'tool_use',
    usage: {},
  }
  assert.is(failureOf(() => isDialectOf('anthropic-messages').readResponse(anthropic, 0))?.kind, 'broken')
  const gemini = {
    candidates: [{ content: { parts: [{ functionCall: { name: 'n', args: deep } }] }, finishReason: 'STOP' }],
  }
  assert.is(failureOf(() => isDialectOf('gemini').readResponse(gemini, 0))?.kind, 'broken')
})

test.run()
