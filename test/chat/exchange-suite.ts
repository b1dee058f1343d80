import * as assert from 'uvu/assert'
import { clientDialects } from '../../src/chat/dialects/dialects.ts'
import {
  checkAnswer,
  checkBreaks,
  checkConversion,
  checkCuts,
  checkRequest,
  checkRequestConversion,
  clientDialectOf,
  dialectOf,
  failsInside,
  sampleOfCuts,
} from '../helpers/chat/exchange-checks.ts'
import { type Exchange, isChat, isStreamed } from '../helpers/chat/exchanges.ts'
import { isWholeRun, suite } from '../helpers/suite.ts'

/** Bytes that all cuts of a folder's streams may read together. */
const mostRead = 200_000_000

/**
 * The tests that every exchange with a provider must pass, recorded or written; skipped where there are none. A failure
 * names its exchange.
 */
export function exchangeSuite(name: string, exchanges: readonly Exchange[] | undefined): ReturnType<typeof suite> {
  const test = suite(name)
  const chats = (exchanges ?? []).filter(isChat)
  const asked = chats.filter(({ status }) => status >= 200 && status < 300)
  const answered = asked.filter((exchange) => !failsInside(exchange))
  const readable = (some: readonly Exchange[]) => some.filter((exchange) => clientDialectOf(exchange) !== undefined)
  const streams = asked.filter((exchange) => isStreamed(exchange) && exchange.byteExact)
  const refused = (exchanges ?? []).filter(({ status }) => status >= 400)

  const each = (title: string, chosen: readonly Exchange[], check: (exchange: Exchange) => void) => {
    const run = () => {
      for (const exchange of chosen) checkNamed(exchange, check)
    }
    // A folder may hold no exchange of a kind: its test counts as skipped.
    chosen.length > 0 ? test(title, run) : test.skip(title, run)
  }

  each('a request is read and written again as one that means the same', readable(chats), checkRequest)
  for (const target of Object.values(clientDialects))
    each(`a request written in the dialect ${target.id} and read again is the same`, readable(asked), (exchange) =>
      checkRequestConversion(exchange, target),
    )
  each('an answer has its text, calls, finish reason and usage, or fails as it should', asked, checkAnswer)
  // Every byte, unless a folder holds so much that this would take long: then every so many.
  const step = Math.ceil(streams.reduce((sum, { answer }) => sum + answer.length ** 2, 1) / mostRead)
  /** The kinds of places at which a stream of each dialect was cut: those of later ones are the same. */
  const sampled = new Map<string, Set<string>>()
  each('a stream cut at any byte, or coming byte by byte, reads the same', streams, (exchange) => {
    const places = isWholeRun
      ? Array.from({ length: Math.ceil(exchange.answer.length / step) }, (_, at) => at * step)
      : []
    const { id } = dialectOf(exchange)
    const kinds = sampled.get(id) ?? new Set<string>()
    sampled.set(id, kinds)
    checkCuts(exchange, new Set([...places, ...sampleOfCuts(exchange.answer, isWholeRun ? undefined : kinds)]))
  })
  each('a stream broken off after any event fails, unless its end had been read', streams, (exchange) =>
    checkBreaks(exchange, !isWholeRun),
  )
  for (const target of Object.values(clientDialects))
    each(`an answer written in the dialect ${target.id} and read again is the same`, answered, (exchange) =>
      checkConversion(exchange, target),
    )
  each('a refusal has the words of the provider and its code', refused, checkRefusal)
  return test
}

function checkNamed(exchange: Exchange, check: (exchange: Exchange) => void): void {
  try {
    check(exchange)
  } catch (error) {
    if (error instanceof Error) error.message = `${exchange.name}: ${error.message}`
    throw error
  }
}

/** A refusal may be no JSON at all, such as a page of a proxy's: then its status has to do. */
function checkRefusal(exchange: Exchange): void {
  const text = exchange.answer.toString('utf8')
  const body = jsonIn(text)
  if (typeof body !== 'object' || body === null) return
  const error = dialectOf(exchange).readError(body)
  assert.ok(error?.message, 'it has a message')
  const name = error.code ?? error.type
  if (/"(?:code|type|status)":\s*["\d]/.test(text)) assert.ok(name && text.includes(name), 'it has a code or a type')
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
