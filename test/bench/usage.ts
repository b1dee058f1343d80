import { join } from 'node:path'
import { openStorage } from '../../src/storage/open-storage.ts'
import { createDays } from '../../src/usage/days.ts'
import { exportedRows } from '../../src/usage/ledger/export.ts'
import type { LedgerRow, UsageColumn } from '../../src/usage/ledger/ledger.ts'
import { reportOf } from '../../src/usage/ledger/report.ts'
import { closing } from '../helpers/disposal.ts'
import { temporaryFolder } from '../helpers/folders.ts'

const dayMs = 86_400_000
const last = Date.UTC(2026, 11, 31, 12)
const rows = 1_000_000
const days = 365

/** A year of a team's gateway, a million requests: the time of its reports, and the memory of an export. */
export async function bench(): Promise<void> {
  const folder = temporaryFolder()
  const limits = { bytes: 1e9, memories: 1e6 }
  await using storage = closing(await openStorage({ folder, bundledPlugins: join(folder, 'none'), limits }))
  const { ledger } = storage
  const zone = createDays('UTC')
  const noNames = async () => ({ users: new Map<string, string>(), keys: new Map<string, string>() })
  const begun = performance.now()
  for (let at = 0; at < rows; at += 1000)
    await ledger.append(Array.from({ length: 1000 }, (_, index) => row(at + index, zone.dayOf)))
  print('a row, in batches of 1,000', ((performance.now() - begun) / rows) * 1000, 'µs')
  const report = async (title: string, since: number, by: readonly UsageColumn[], user?: string) => {
    const query = { since: zone.dayOf(last - since * dayMs), until: zone.dayOf(last), by, user }
    const times: number[] = []
    let count = 0
    for (let round = 0; round < 9; round++) {
      const start = performance.now()
      count = (await reportOf(ledger, query, noNames)).rows.length
      times.push(performance.now() - start)
    }
    print(`${title} (${count} rows)`, times.sort((a, b) => a - b)[4]!, 'ms')
  }
  await report('30 days by day, model and key', 29, ['day', 'model', 'key'])
  await report('a year by model', days - 1, ['model'])
  await report('a year by day', days - 1, ['day'])
  await report('a year of one user by day', days - 1, ['day'], 'user-3')
  for (const format of ['csv', 'json'] as const) {
    global.gc?.()
    const before = process.memoryUsage.rss()
    let [most, bytes] = [before, 0]
    const start = performance.now()
    const query = { since: '2026-01-01', until: '2026-12-31' }
    for await (const piece of exportedRows(ledger, query, format, noNames)) {
      bytes += piece.length
      most = Math.max(most, process.memoryUsage.rss())
    }
    print(`export as ${format}, ${(bytes / 1e6).toFixed(0)} MB`, (performance.now() - start) / 1000, 's')
    print(`  memory beyond that before it`, (most - before) / 1e6, 'MB')
  }
  const checking = performance.now()
  const problems = await ledger.check()
  print(`check (${problems.length} differences)`, (performance.now() - checking) / 1000, 's')
  const pruning = performance.now()
  const removed = await ledger.prune('2026-02-01')
  print(`removal of ${removed} rows`, (performance.now() - pruning) / 1000, 's')
}

function print(what: string, value: number, unit: string): void {
  process.stdout.write(`  ${what.padEnd(52)} ${value.toFixed(1).padStart(9)} ${unit}\n`)
}

/** 20 users with two keys each, three plugins with four models each, spread over a year of days. */
function row(number: number, dayOf: (at: number) => string): LedgerRow {
  const at = last - Math.floor(((rows - number) / rows) * days * dayMs)
  // Spread evenly by the golden ratio of 32 bits, for many combinations a day.
  const spread = Math.imul(number, 2_654_435_761) >>> 0
  const user = (spread >>> 8) % 20
  const plugin = (spread >>> 16) % 3
  return {
    request: `bench${number.toString(36)}`,
    attempt: 1,
    at,
    day: dayOf(at),
    user: `user-${user}`,
    key: spread % 5 === 0 ? null : `key-${user}-${spread % 2}`,
    plugin: `plugin-${plugin}`,
    model: `model-${plugin}-${(spread >>> 20) % 4}`,
    purpose: 'chat',
    outcome: number % 50 === 0 ? 'failed' : 'answered',
    estimated: number % 40 === 0,
    lowerBound: false,
    amounts: { input: 500 + (number % 1000), output: number % 400, cached: number % 300 },
    cost: { nano: 1000 * (number % 777), source: 'shipped', priceId: 'p1' },
    durationMs: number % 5000,
  }
}
