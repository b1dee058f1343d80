import { readFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import type { Amounts, CostSource } from '../../../src/usage/cost.ts'
import { amountsOf } from '../../../src/usage/metering/amounts.ts'
import type { KnownPrice } from '../../../src/usage/prices/price.ts'
import { type PriceFile, priceOf, rowOf } from '../../../src/usage/prices/price-file.ts'
import { createPriceList } from '../../../src/usage/prices/price-list.ts'
import type { PriceRow } from '../../../src/usage/prices/price-schema.ts'
import { fc } from '../../helpers/properties.ts'
import { suite } from '../../helpers/suite.ts'
import { shippedPath } from './ship.ts'

const test = suite('costs of attempts')

const { prices }: PriceFile = JSON.parse(readFileSync(shippedPath, 'utf8'))

/** The operator's own, in USD per million tokens. */
const own: readonly PriceRow[] = [
  {
    plugin: 'own',
    model: 'tiers',
    rates: { input: '2', output: '8' },
    services: { flex: { rates: { input: '1', output: '4' } }, fast: { rates: { input: '12', output: '48' } } },
  },
  { plugin: 'own', model: 'third', rates: { input: '0.333333', output: '0.666667' } },
  { plugin: 'own', model: 'tiny', rates: { input: '0.000001', output: '0.0005' } },
  { plugin: 'own', model: 'claude-odd', rates: { input: '0.000002', output: '1' } },
  { plugin: 'own', model: 'dear', rates: { input: '1000000', output: '1000000' } },
  { plugin: 'own', model: 'dated', rates: { input: '10', output: '10' } },
  { plugin: 'own', model: 'dated', rates: { input: '1', output: '1' }, valid_from: '2026-12-01' },
]

const list = createPriceList({
  shipped: (plugin) => prices.filter((row) => row.plugin === plugin).map(priceOf),
  operator: own.map((row, at) => ({ ...priceOf(row), id: `p${at}`, source: 'operator' }) satisfies KnownPrice),
})

const today = Date.UTC(2026, 10, 22)

type Case = readonly [what: string, amounts: Amounts, nano: number | null]

// By plugin and model. Each figure was computed by hand: tokens × USD per million = micro-USD; × 1000 = nano-USD.
const cases: Readonly<Record<string, readonly Case[]>> = {
  'openai gpt-4.1-mini': [
    ['a plain request: 1000 × 0.4 + 500 × 1.6', { input: 1000, output: 500 }, 1_200_000],
    ['nothing at all', { input: 0, output: 0 }, 0],
    ['a cached part: 200 × 0.4 + 800 × 0.1', { input: 1000, cached: 800, output: 0 }, 160_000],
    ['all cached: 1000 × 0.1', { input: 1000, cached: 1000, output: 0 }, 100_000],
    ['more cached than sent is all cached', { input: 1000, cached: 1500, output: 0 }, 100_000],
    ['a negative count', { input: -1, output: 1 }, null],
    ['no count', { input: Number.NaN, output: 1 }, null],
    ['parts that are no counts are not told', { input: 1000, cached: -5, reasoning: 0.5, output: 0 }, 400_000],
  ],
  'openai gpt-4o-2024-05-13': [
    ['a dated snapshot with its own price: 1000 × 5', { input: 1000, output: 0 }, 5_000_000],
  ],
  'openai GPT-4.1-Mini': [['a name in capitals', { input: 1000, output: 500 }, 1_200_000]],
  'openai o3': [['reasoning is inside the output: 300 × 8', { input: 0, output: 300, reasoning: 200 }, 2_400_000]],
  'openai gpt-5.6-luna': [
    ['272,000 tokens cost the higher rate, all: × 0.4', { input: 272_000, output: 0 }, 108_800_000],
    ['271,999 tokens do not: × 0.2', { input: 271_999, output: 0 }, 54_399_800],
  ],
  'openai text-embedding-3-small': [
    ['an embedding: 1,234 × 0.02', { input: 1234, output: 0 }, 24_680],
    ['an output that has no rate', { input: 1234, output: 1 }, null],
  ],
  'anthropic claude-sonnet-4-5-20250929': [
    [
      'writes for 5 minutes and an hour: 100 × 3 + 1000 × 3.75 + 2000 × 6 + 500 × 0.3 + 400 × 15',
      { input: 3600, cacheWrite: 1000, cacheWriteLong: 2000, cached: 500, output: 400 },
      22_200_000,
    ],
  ],
  'anthropic claude-sonnet-4-5': [
    ['300,000 tokens: 300,000 × 6 + 1000 × 22.5', { input: 300_000, output: 1000 }, 1_822_500_000],
    ['200,000 tokens are the last at the lower rate: × 3', { input: 200_000, output: 0 }, 600_000_000],
    [
      'a long input that is nearly all cached: 290,000 × 0.6 + 10,000 × 6',
      { input: 300_000, cached: 290_000, output: 0 },
      234_000_000,
    ],
  ],
  'anthropic claude-sonnet-4-6': [
    ['no such tier since March: 300,000 × 3', { input: 300_000, output: 0 }, 900_000_000],
  ],
  'anthropic claude-fable-5-1': [
    ['reads of a model with its own factor: 1000 × 0.25', { input: 1000, cached: 1000, output: 0 }, 250_000],
  ],
  'anthropic claude-2.1': [
    [
      'caches without a rate by Anthropic’s factors: 100 × 0.8 + 100 × 10 + 100 × 16',
      { input: 300, cached: 100, cacheWrite: 100, cacheWriteLong: 100, output: 0 },
      2_680_000,
    ],
  ],
  'anthropic claude-opus-4-6': [
    ['a fast answer, whose rate is not known', { input: 10, output: 10, speed: 'fast' }, null],
  ],
  'gemini gemini-2.5-flash': [['audio: 900 × 1 + 100 × 0.3', { input: 1000, audioInput: 900, output: 0 }, 930_000]],
  'gemini gemini-2.5-pro': [
    ['a long input at Google: 250,000 × 2.5 + 10 × 15', { input: 250_000, output: 10 }, 625_150_000],
  ],
  'gemini gemma-3-27b-it': [['a free model', { input: 5000, output: 5000 }, 0]],
  'gemini gemini-flash-latest': [['an alias that nobody priced', { input: 10, output: 10 }, null]],
  'groq openai/gpt-oss-20b': [
    ['a rate that is no whole nano: 1000 × 0.0375', { input: 1000, cached: 1000, output: 0 }, 37_500],
    ['half a nano is rounded up: 1 × 37.5 nano', { input: 1, cached: 1, output: 0 }, 38],
  ],
  'openrouter perplexity/sonar-deep-research': [
    ['reasoning at a rate of its own: 100 × 3 + 100 × 8', { input: 0, output: 200, reasoning: 100 }, 1_100_000],
  ],
  'openrouter google/gemini-2.5-flash-lite': [
    ['a third, rounded to 0.083333: 3,000 of 12,000 × 0.083333', { input: 3000, cacheWrite: 3000, output: 0 }, 249_999],
  ],
  'own third': [['thirds: 1 × 0.333333 + 1 × 0.666667', { input: 1, output: 1 }, 1000]],
  'own tiny': [
    ['the smallest rate: 499 × 0.001 nano', { input: 499, output: 0 }, 0],
    ['and from a half on: 500 × 0.001 nano', { input: 500, output: 0 }, 1],
    ['one sum is rounded, not its parts: 250 × 0.001 + 0.5 nano', { input: 250, output: 1 }, 1],
  ],
  'own claude-odd': [
    ['a factor of the smallest rate: 1.25 × 2 = 2.5, so 3', { input: 1000, cacheWrite: 1000, output: 0 }, 3],
  ],
  'own tiers': [
    ['flex: 1000 × 1 + 100 × 4', { input: 1000, output: 100, serviceTier: 'flex' }, 1_400_000],
    ['the same, as Google writes it', { input: 1000, output: 100, serviceTier: 'SERVICE_TIER_FLEX' }, 1_400_000],
    ['a speed: 10 × 12', { input: 10, output: 0, speed: 'fast' }, 120_000],
    ['the normal tier by any name', { input: 10, output: 0, serviceTier: 'on_demand', speed: 'standard' }, 20_000],
    ['a tier without a rate', { input: 10, output: 0, serviceTier: 'priority' }, null],
    ['a tier and a speed at once', { input: 10, output: 0, serviceTier: 'flex', speed: 'fast' }, null],
  ],
  'own dear': [
    ['a sum beyond 2^53: 8,000,000 USD and a token', { input: 8_000_001, output: 0 }, 8_000_001_000_000_000],
    ['a sum that no number holds', { input: 9_100_000_000, output: 0 }, null],
  ],
  'own nothing': [['a model that no list has', { input: 1, output: 1 }, null]],
  'other gpt-4.1': [['a plugin that no list has', { input: 1, output: 1 }, null]],
  'local smollm2': [['a model of this machine', { input: 1000, output: 1000 }, 0]],
  'voxa-tts tts-1': [['speech', { input: 0, output: 0, characters: 900 }, 0]],
}

for (const [place, rows] of Object.entries(cases))
  for (const [what, amounts, nano] of rows)
    test(`${place}, ${what}`, () => {
      const [name = '', model = ''] = place.split(' ')
      const plugin = name === 'local' ? null : name
      const cost = list.costOf({ plugin, model }, amounts, today)
      assert.is(cost.nano, nano)
      assert.is(cost.source === null, nano === null)
      const isPriced = nano !== null && plugin !== null && amounts.characters === undefined
      assert.is(cost.priceId !== null, isPriced)
    })

test('a price and its row are made of each other', () => {
  const rates = { input: '1.5', output: '6', cached: '0.15' }
  const row: PriceRow = {
    ...{ plugin: 'openai', model: 'gpt', also: ['gpt-*'], except: ['gpt-mini'], valid_from: '2031-12-30' },
    ...{ rates, long: { above: 200_000, rates: { input: '3' } }, services: { flex: { rates } }, rounded: true },
  }
  assert.equal(rowOf(priceOf(row)), row)
  assert.equal(rowOf(priceOf({ plugin: 'own', model: 'm', rates })), { plugin: 'own', model: 'm', rates })
})

test('a price changes at midnight UTC of its day, also for a place that was asked before', () => {
  const place = { plugin: 'own', model: 'dated' }
  const midnight = Date.UTC(2026, 11, 1)
  const at = (time: number) => list.costOf(place, { input: 1000, output: 0 }, time)
  assert.equal(at(midnight - 1), { nano: 10_000_000, source: 'operator', priceId: 'p5' })
  assert.equal(at(midnight), { nano: 1_000_000, source: 'operator', priceId: 'p6' })
  assert.is(at(midnight - 1).priceId, 'p5')
  const shipped = (time: number) => list.costOf({ plugin: 'openai', model: 'o3' }, { input: 1000, output: 0 }, time)
  assert.is(shipped(Date.UTC(2025, 5, 10) - 1).nano, 10_000_000)
  assert.is(shipped(Date.UTC(2025, 5, 10)).nano, 2_000_000)
})

test('a cost that the provider reports goes before all prices', () => {
  const source: CostSource = 'reported'
  for (const place of [
    { plugin: 'openai', model: 'gpt-4.1-mini' },
    { plugin: 'other', model: 'nothing' },
  ])
    assert.equal(list.costOf(place, { input: 9, output: 9, reportedNano: 81_000 }, today), {
      nano: 81_000,
      source,
      priceId: null,
    })
  const wrong = list.costOf(
    { plugin: 'openai', model: 'gpt-4.1-mini' },
    { input: 1000, output: 0, reportedNano: -1 },
    today,
  )
  assert.is(wrong.nano, 400_000)
})

test("OpenRouter's cost is the bill, but for a key of one's own the fee, to which the provider's bill is added", () => {
  const billed = (more: Record<string, unknown>) => {
    const usage = { prompt_tokens: 1000, completion_tokens: 0, total_tokens: 1000, ...more }
    return list.costOf({ plugin: 'openrouter', model: 'perplexity/sonar-pro' }, amountsOf({ usage })!, today)
  }
  const upstream = (cost: unknown) => ({ cost_details: { upstream_inference_cost: cost } })
  assert.is(billed({ cost: 0.000081, is_byok: false, ...upstream(0.000081) }).nano, 81_000)
  assert.is(billed({ cost: 0.0000113 }).nano, 11_300)
  assert.is(billed({ cost: 0.00000405, is_byok: true, ...upstream(0.000081) }).nano, 85_050)
  assert.is(billed({ cost: 0, is_byok: true, ...upstream(1.5) }).nano, 1_500_000_000)
  // Where the provider's bill is not told, the price of the model holds: 1000 × 3.
  for (const usage of [
    {},
    { cost: -1 },
    { cost: 1e300 },
    { cost: 0.1, is_byok: true },
    { cost: 1, is_byok: true, ...upstream(null) },
  ])
    assert.equal([billed(usage).nano, billed(usage).source], [3_000_000, 'shipped'])
})

test('the most that an attempt can cost takes the dearest part, service and tier', () => {
  const most = (plugin: string | null, model: string, input: number, output: number) =>
    list.mostFor({ plugin, model }, input, output, today)
  assert.is(most('openai', 'gpt-4.1-mini', 1000, 500), 1_200_000)
  // A write for an hour: 1000 × 10, and 100 × 25.
  assert.is(most('anthropic', 'claude-opus-4-5', 1000, 100), 12_500_000)
  assert.is(most('own', 'tiers', 1000, 100), 16_800_000)
  // An estimate of more than half of the threshold, 200,000, may be beyond it.
  assert.is(most('gemini', 'gemini-2.5-pro', 100_000, 0), 125_000_000)
  assert.equal([most('gemini', 'gemini-2.5-pro', 100_001, 0), most('own', 'tiny', 1, 0)], [250_002_500, 1])
  assert.is(most('openai', 'text-embedding-3-small', 1000, 0), 20_000)
  assert.is(most('openai', 'text-embedding-3-small', 1000, 1), null)
  assert.equal([most('own', 'nothing', 1, 1), most(null, 'smollm2', 1, 1)], [null, 0])
  assert.is(most('own', 'dear', Number.POSITIVE_INFINITY, 1), Number.MAX_SAFE_INTEGER)
  assert.is(most('own', 'dear', Number.NaN, 1), null)
})

test('no attempt costs more than the most, nor less than nothing, whatever its counts', () => {
  const models = [
    { plugin: 'anthropic', model: 'claude-sonnet-4-5' },
    { plugin: 'gemini', model: 'gemini-2.5-flash' },
    { plugin: 'openai', model: 'gpt-5.6-sol' },
    { plugin: 'own', model: 'tiers' },
    { plugin: 'own', model: 'dear' },
  ]
  const count = fc.integer({ min: 0, max: 1_000_000 })
  const some = fc.option(count, { nil: undefined })
  const amounts = fc.record({
    input: count,
    output: count,
    cached: some,
    cacheWrite: some,
    cacheWriteLong: some,
    audioInput: some,
    audioOutput: some,
    reasoning: some,
    serviceTier: fc.constantFrom(undefined, 'default', 'flex'),
  })
  fc.assert(
    fc.property(fc.constantFrom(...models), amounts, (place, given) => {
      const { nano } = list.costOf(place, given as Amounts, today)
      const most = list.mostFor(place, given.input, given.output, today)
      assert.ok(most !== null)
      if (nano !== null) assert.ok(nano >= 0 && nano <= most!, `${nano} of ${most}`)
    }),
  )
})

test.run()
