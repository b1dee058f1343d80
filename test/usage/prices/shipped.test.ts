import { readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { calcPrice } from '@pydantic/genai-prices'
import * as assert from 'uvu/assert'
import { type PriceFile, priceOf } from '../../../src/usage/prices/price-file.ts'
import { createPriceList } from '../../../src/usage/prices/price-list.ts'
import { suite } from '../../helpers/suite.ts'
import { makeShipped, providers, shippedPath, shippedText } from './ship.ts'

const test = suite('shipped prices')

const text = readFileSync(shippedPath, 'utf8')
const file: PriceFile = JSON.parse(text)
const list = createPriceList({ shipped: (plugin) => file.prices.filter((row) => row.plugin === plugin).map(priceOf) })
const today = Date.UTC(2026, 10, 22)
const plugins = Object.keys(providers) as (keyof typeof providers)[]

/** The models of a plugin's bundled list. */
function modelsOf(plugin: string): readonly string[] {
  const path = fileURLToPath(new URL(`./plugins/${plugin}.json`, import.meta.resolve('#package')))
  return JSON.parse(readFileSync(path, 'utf8')).model_map
}

test('the file is what its generator makes of the installed package, in less than 200 kB', async () => {
  assert.ok(text === shippedText(await makeShipped()), 'run: npm run prices')
  assert.ok(statSync(shippedPath).size < 200_000)
  assert.match(file.source, /genai-prices/)
  assert.match(file.fetched_at, /^2026-\d\d-\d\d$/)
})

test('every bundled model costs what the package says, or is unknown where it says nothing', () => {
  const priced = new Map<string, number>()
  for (const plugin of plugins)
    for (const model of modelsOf(plugin)) {
      const theirs = calcPrice({ input_tokens: 1000, output_tokens: 100 }, model, {
        providerId: providers[plugin],
        timestamp: new Date(today),
      })
      const { nano } = list.costOf({ plugin, model }, { input: 1000, output: 100 }, today)
      if (nano !== null) priced.set(plugin, (priced.get(plugin) ?? 0) + 1)
      // Without a price the package takes any model for free.
      const isFree = theirs?.total_price === 0 && nano === null
      assert.ok(
        isFree || nano === (theirs ? Math.round(theirs.total_price * 1e9) : null),
        `${plugin} ${model}: ${nano}`,
      )
    }
  assert.equal(Object.fromEntries(priced), {
    openai: 38,
    anthropic: 14,
    groq: 11,
    gemini: 18,
    mistral: 31,
    openrouter: 252,
  })
})

test('every name of the file finds its own price', () => {
  const wrong = file.prices.flatMap((row) =>
    [row.model, ...(row.also ?? [])]
      .filter((name) => !/[*#]/.test(name))
      .filter((model) => list.priceFor({ plugin: row.plugin, model }, today)?.model !== row.model)
      .map((name) => `${row.plugin} ${name}`),
  )
  assert.equal(wrong, [])
})

test('dated versions are found by pattern, also with the dashes of another house', () => {
  const of = (plugin: string, model: string) => list.priceFor({ plugin, model }, today)?.model
  assert.is(of('anthropic', 'claude-fable-5-20260801'), 'claude-fable-5')
  assert.is(of('anthropic', 'claude-fable-5-2026'), undefined)
  assert.is(of('openai', 'gpt-4.1-mini-20250414'), 'gpt-4.1-mini')
  assert.is(of('gemini', 'gemini-2.5-pro-preview-06-05'), 'gemini-2.5-pro*')
  assert.is(of('gemini', 'gemini-2.5-pro-new-tts'), undefined)
  assert.is(of('anthropic', `claude-haiku-4-5-${'9'.repeat(300)}`), undefined)
})

test('a price that says the same has the same id, and no two share one', () => {
  const ids = file.prices.map((row) => {
    const one = createPriceList({ shipped: () => [priceOf(row)] })
    const at = row.valid_from === undefined ? today : Math.max(today, Date.parse(row.valid_from))
    return one.priceFor({ plugin: row.plugin, model: row.model.replaceAll('*', '').replaceAll('#', '1') }, at)!.id
  })
  assert.is(new Set(ids).size, ids.length)
  assert.match(ids[0]!, /^s[\da-f]{12}$/)
})

test.run()
