import { readFileSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { type PriceFile, priceOf } from '../../src/usage/prices/price-file.ts'
import { createPriceList } from '../../src/usage/prices/price-list.ts'
import type { Amounts } from '../../src/usage/usage.ts'
import { shippedPath } from '../usage/prices/ship.ts'

/** The time of a price: for a known place, with all parts and a tier, for the first call of a place, and of the start. */
export async function bench(): Promise<void> {
  const text = readFileSync(shippedPath, 'utf8')
  const load = () => {
    const { prices } = JSON.parse(text) as PriceFile
    return createPriceList({ shipped: (plugin) => prices.filter((row) => row.plugin === plugin).map(priceOf) })
  }
  const now = Date.now()
  const place = { plugin: 'anthropic', model: 'claude-sonnet-4-5-20250929' }
  for (let round = 0; round < 20; round++) load().priceFor(place, now)
  const begun = performance.now()
  for (let round = 0; round < 20; round++) load().priceFor(place, now)
  line('shipped prices read, those of a plugin indexed', ((performance.now() - begun) / 20) * 1e3)

  const list = load()
  const simple: Amounts = { input: 1200, output: 300 }
  const full: Amounts = {
    ...simple,
    cached: 200,
    cacheWrite: 300,
    cacheWriteLong: 100,
    reasoning: 50,
    serviceTier: 'standard',
  }
  measure('costOf, input and output', 2e6, () => list.costOf(place, simple, now).nano!)
  measure('costOf, caches and a service tier', 2e6, () => list.costOf(place, full, now).nano!)
  measure('costOf beyond 2^53', 2e5, () => list.costOf(place, { input: 8e9, output: 8e9 }, now).nano!)
  measure('mostFor', 2e6, () => list.mostFor(place, 1200, 4096, now)!)
  let count = 0
  measure('costOf, a name that nobody asked before', 2e4, () => {
    count++
    return list.costOf({ plugin: 'gemini', model: `gemini-${count}` }, simple, now).nano ?? 0
  })
}

function measure(what: string, rounds: number, work: () => number): void {
  let sum = 0
  for (let round = 0; round < rounds / 10; round++) sum += work()
  const begun = performance.now()
  for (let round = 0; round < rounds; round++) sum += work()
  line(what, ((performance.now() - begun) / rounds) * 1e3, sum)
}

function line(what: string, microseconds: number, _kept?: number): void {
  process.stdout.write(`${what.padEnd(45)} ${microseconds.toFixed(3).padStart(10)} us\n`)
}
