// Some with --all only: a whole sample.
import * as assert from 'uvu/assert'
import { dialectOf, requestOf } from '../../helpers/chat/exchange-checks.ts'
import { type Exchange, isChat, isStreamed, loadExchanges } from '../../helpers/chat/exchanges.ts'
import { factsOf, failuresIn } from '../../helpers/chat/facts.ts'
import { testData } from '../../helpers/data.ts'
import { isWholeRun, suite } from '../../helpers/suite.ts'
import { withReplay } from './replayed.ts'

const suiteOf = suite('recorded answers as they are booked')
const folder = testData('cassettes')
const test = folder === undefined ? suiteOf.skip : suiteOf
const recorded = folder === undefined ? [] : loadExchanges(folder).filter(isChat).filter(canBeAsked)

/**
 * Other recordings are compared with the counts that `factsOf` reads. These are read off by hand: input, output, and
 * other facts; nano-USD of a reported cost, null without one.
 */
const expected: Readonly<Record<string, readonly [input: number, output: number, more?: Record<string, unknown>]>> = {
  'anthropic/plain-system-cache.json 1': [30, 3, { serviceTier: 'standard' }],
  'anthropic/plain.json 1': [16, 13, { serviceTier: 'standard' }],
  'anthropic/stream-tools.json 1': [543, 40, { serviceTier: 'standard' }],
  'anthropic/stream.json 1': [15, 9, { serviceTier: 'standard' }],
  'anthropic/tools-parallel.json 1': [701, 98, { serviceTier: 'standard' }],
  'anthropic/tools-parallel.json 2': [893, 90, { serviceTier: 'standard' }],
  'gemini/finish-safety.json 1': [14, 0],
  // 8 tokens of text and 23 of thoughts.
  'gemini/plain.json 1': [10, 31, { reasoning: 23, serviceTier: 'standard' }],
  // The first events tell 15, the last one 13.
  'gemini/stream-sse.json 1': [13, 8],
  'gemini/system-instruction.json 1': [13, 8],
  'gemini/tools-parallel.json 1': [143, 153, { reasoning: 109, serviceTier: 'standard' }],
  'gemini/tools-parallel.json 2': [277, 47, { serviceTier: 'standard' }],
  'gemini/tools-stream.json 1': [103, 73, { reasoning: 43, serviceTier: 'standard' }],
  'gemini/tools-stream.json 2': [233, 21, { serviceTier: 'standard' }],
  'gemini/tools-stream.json 3': [238, 29, { serviceTier: 'standard' }],
  'gemini/tools-stream.json 4': [323, 95, { reasoning: 74, serviceTier: 'standard' }],
  'github/standin-azure-plain.json 1': [15, 24],
  'groq/plain-raw.json 1': [18, 43],
  'groq/plain.json 1': [48, 8],
  'groq/stream.json 1': [18, 73],
  'groq/tools-and-error-400.json 2': [301, 52, { reasoning: 22, serviceTier: 'on_demand' }],
  'groq/tools-and-error-400.json 3': [336, 96, { cached: 256, reasoning: 59, serviceTier: 'on_demand' }],
  'mistral/plain.json 1': [23, 9, { serviceTier: 'standard' }],
  'mistral/stream.json 1': [22, 8, { serviceTier: 'standard' }],
  'mistral/tools-parallel.json 1': [227, 36, { serviceTier: 'standard' }],
  'mistral/tools-parallel.json 2': [301, 52, { serviceTier: 'standard' }],
  'ollama/plain.json 1': [17, 66],
  'ollama/stream.json 1': [17, 50],
  'ollama/tools.json 1': [44, 113],
  'openai/json-schema.json 1': [71, 12, { serviceTier: 'default' }],
  'openai/json-schema.json 2': [92, 15, { serviceTier: 'default' }],
  'openai/plain.json 1': [14, 7, { serviceTier: 'default' }],
  'openai/stream-tools-usage.json 1': [53, 15, { serviceTier: 'default' }],
  'openai/stream-tools-usage.json 2': [78, 9, { serviceTier: 'default' }],
  'openai/tools.json 1': [68, 16],
  'openrouter/plain.json 1': [16, 13, { nano: 81_000 }],
  'openrouter/stream.json 1': [15, 9, { nano: 60_000 }],
  // A cost that is not told is not known.
  'openrouter/tools.json 1': [134, 43],
}

test('every recorded answer is booked with the counts that it tells, and every refusal with none', () =>
  withReplay(async ({ play }) => {
    for (const exchange of recorded) {
      const name = nameOf(exchange)
      const { row } = await play(exchange)
      assert.ok(row, name)
      assert.is(row.lowerBound, false)
      checkWhole(row, exchange)
    }
  }))

/** Places at which one stream is cut, spread evenly; the first and the last are always among them. */
const mostPlaces = isWholeRun ? 25 : 3

/** Tokens: a few words have a frame of so many at the most, as the 9 that Claude counts for 1, 2 and 3. */
const slack = 8
/** An answer of several messages, as the Responses API has, has a frame for each. */
const fewTokens = 50

test.whole('a recorded stream that is cut after any of its events is booked once, its output within a quarter', () =>
  withReplay(async ({ play }) => {
    for (const exchange of streams()) {
      const whole = await play(exchange)
      for (const bytes of some(beginningsOf(exchange.answer))) {
        const { row, delivered } = await play(exchange, { bytes })
        const where = `${nameOf(exchange)}, ${bytes.length} bytes`
        assert.ok(row, where)
        if (row.outcome === 'failed') {
          assert.equal([row.amounts, row.cost.nano, row.estimated], [{ input: 0, output: 0 }, 0, false], where)
          assert.is(delivered, 0, where)
        } else checkPart(row, delivered, whole.row!, whole.delivered, where)
      }
    }
  }),
)

suiteOf.run()

type Row = NonNullable<Awaited<ReturnType<Parameters<Parameters<typeof withReplay>[0]>[0]['play']>>['row']>

/** Compares the row of a whole answer with the answer. */
function checkWhole({ amounts, cost, outcome, estimated }: Row, exchange: Exchange): void {
  const name = nameOf(exchange)
  if (exchange.status >= 400 || failuresOf(exchange).length > 0)
    return assert.equal([outcome, estimated, amounts, cost.nano], ['failed', false, { input: 0, output: 0 }, 0], name)
  const { usage } = factsOf(dialectOf(exchange).id, exchange.answer, isStreamed(exchange))
  assert.equal([outcome, estimated], ['answered', usage === undefined], name)
  // Recorded without asking for counts.
  if (usage === undefined) return assert.ok(amounts.input > 0 && amounts.output > 0, name)
  assert.equal({ prompt: amounts.input, completion: amounts.output }, usage, name)
  const known = expected[name]
  if (!known) return
  const [input, output, { nano = null, ...more } = {}] = known
  const { reportedNano: _, ...counted } = amounts
  assert.equal(counted, { input, output, ...more }, name)
  assert.equal([cost.nano, cost.source], [nano, nano === null ? null : 'reported'], name)
}

/** Compares the row of a part of an answer with that of the whole. */
function checkPart(part: Row, delivered: number, whole: Row, wholeDelivered: number, where: string): void {
  const { amounts, estimated } = part
  // The provider may have told all by the time that its caller leaves.
  if (!estimated || amounts.output === whole.amounts.output) return
  // A token has a byte at least: where a provider counts more, as Azure does for one digit, they are in no event.
  const visible = Math.min(whole.amounts.output - (whole.amounts.reasoning ?? 0), wholeDelivered)
  const shown = (visible * delivered) / wholeDelivered
  // OpenAI's reasoning models round thoughts down to a multiple of 64, so that some thoughts count as text.
  const thoughts = whole.amounts.reasoning ?? 0
  const rounded = thoughts > 0 && thoughts % 64 === 0 ? 64 : 0
  const sure = (Math.max(0, visible - rounded) * delivered) / wholeDelivered
  const least = sure * 0.75 - (shown < fewTokens ? slack : 0)
  // Thoughts are billed as well: those that are shown, and those that come encrypted before the text.
  const most = (shown + thoughts) * 1.25 + (shown < fewTokens ? slack : 0)
  assert.ok(amounts.output >= least && amounts.output <= most, `${where}: ${amounts.output} for about ${shown}`)
  assert.ok(amounts.input > 0, where)
  // These two tell the input when they begin, one of them a little more than at the end.
  if (/^(?:anthropic|gemini)/.test(where)) assert.ok(Math.abs(amounts.input - whole.amounts.input) <= 2, where)
}

function streams(): readonly Exchange[] {
  return recorded.filter(
    (exchange) => exchange.status === 200 && isStreamed(exchange) && failuresOf(exchange).length === 0,
  )
}

/** All places of a short stream, and as many of a long one, the first and last among them. */
function some<T>(places: readonly T[]): readonly T[] {
  if (places.length <= mostPlaces) return places
  return Array.from(
    { length: mostPlaces },
    (_, at) => places[Math.round((at * (places.length - 1)) / (mostPlaces - 1))]!,
  )
}

/** The beginnings of a stream, each some events long and none whole. */
function beginningsOf(answer: Buffer): readonly Buffer[] {
  const text = answer.toString('latin1')
  const separator = /\n\r?\n/.test(text) ? /\n\r?\n/g : /\n/g
  const ends = [...text.matchAll(separator)].map(({ index, 0: { length } }) => index + length)
  return ends.filter((end) => end < answer.length).map((end) => answer.subarray(0, end))
}

function failuresOf(exchange: Exchange) {
  return failuresIn(dialectOf(exchange).id, exchange.answer, isStreamed(exchange))
}

function nameOf({ name }: Exchange): string {
  return name.replace(/ \(.*/, '')
}

/** A request that is refused before it is sent has been recorded with the provider's refusal. */
function canBeAsked(exchange: Exchange): boolean {
  try {
    return requestOf(exchange).messages.length > 0
  } catch {
    return false
  }
}
