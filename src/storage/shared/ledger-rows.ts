import { costSources, type LedgerRow, outcomes, purposes } from '../../usage/usage.ts'

/** The columns of the table, in the order of `valuesOf`. */
export const ledgerColumns = {
  request: 'text',
  attempt: 'integer',
  at: 'integer',
  day: 'integer',
  '"user"': 'integer',
  api_key: 'integer',
  plugin: 'integer',
  model: 'integer',
  purpose: 'integer',
  outcome: 'integer',
  estimated: 'integer',
  lower_bound: 'integer',
  input: 'integer',
  cached: 'integer',
  cache_write: 'integer',
  cache_write_long: 'integer',
  output: 'integer',
  reasoning: 'integer',
  audio_input: 'integer',
  audio_output: 'integer',
  characters: 'integer',
  service_tier: 'integer',
  speed: 'integer',
  cost: 'integer',
  cost_source: 'integer',
  price: 'integer',
  duration_ms: 'integer',
  first_ms: 'integer',
  reason: 'integer',
} as const

type NullColumn =
  | (
      | 'api_key'
      | 'plugin'
      | 'cached'
      | 'cache_write'
      | 'cache_write_long'
      | 'reasoning'
      | 'audio_input'
      | 'audio_output'
    )
  | ('characters' | 'service_tier' | 'speed' | 'cost' | 'cost_source' | 'price' | 'first_ms' | 'reason')

/** A row of the table. */
export type LedgerRecord = { readonly request: string; readonly user: number } & {
  readonly [Column in Exclude<keyof typeof ledgerColumns, 'request' | '"user"'>]: Column extends NullColumn
    ? number | null
    : number
}

/** The values of a row in the order of the table's columns; `idOf` gives the number of a name. */
export function valuesOf(row: LedgerRow, idOf: (name: string) => number): readonly (string | number | null)[] {
  const { amounts, cost } = row
  const number = (name: string | null | undefined) => (name == null ? null : idOf(name))
  return [
    row.request,
    row.attempt,
    row.at,
    dayNumber(row.day),
    idOf(row.user),
    number(row.key),
    number(row.plugin),
    idOf(row.model),
    purposes.indexOf(row.purpose),
    outcomes.indexOf(row.outcome),
    row.estimated ? 1 : 0,
    row.lowerBound ? 1 : 0,
    amounts.input,
    amounts.cached ?? null,
    amounts.cacheWrite ?? null,
    amounts.cacheWriteLong ?? null,
    amounts.output,
    amounts.reasoning ?? null,
    amounts.audioInput ?? null,
    amounts.audioOutput ?? null,
    amounts.characters ?? null,
    number(amounts.serviceTier),
    number(amounts.speed),
    cost.nano,
    cost.source === null ? null : costSources.indexOf(cost.source),
    number(cost.priceId),
    row.durationMs,
    row.firstMs ?? null,
    number(row.reason),
  ]
}

/** The row of a record; `nameOf` gives the name of a number. */
export function rowOf(record: LedgerRecord, nameOf: (id: number) => string): LedgerRow {
  const name = (id: number | null) => (id === null ? null : nameOf(id))
  const amounts = {
    cached: record.cached,
    cacheWrite: record.cache_write,
    cacheWriteLong: record.cache_write_long,
    reasoning: record.reasoning,
    audioInput: record.audio_input,
    audioOutput: record.audio_output,
    characters: record.characters,
    serviceTier: name(record.service_tier),
    speed: name(record.speed),
  }
  return {
    request: record.request,
    attempt: record.attempt,
    at: record.at,
    day: dayText(record.day),
    user: nameOf(record.user),
    key: name(record.api_key),
    plugin: name(record.plugin),
    model: nameOf(record.model),
    purpose: purposes[record.purpose]!,
    outcome: outcomes[record.outcome]!,
    estimated: record.estimated === 1,
    lowerBound: record.lower_bound === 1,
    amounts: {
      input: record.input,
      output: record.output,
      ...Object.fromEntries(Object.entries(amounts).filter(([, value]) => value !== null)),
    },
    cost: {
      nano: record.cost,
      source: record.cost_source === null ? null : costSources[record.cost_source]!,
      priceId: name(record.price),
    },
    durationMs: record.duration_ms,
    ...(record.first_ms !== null && { firstMs: record.first_ms }),
    ...(record.reason !== null && { reason: nameOf(record.reason) }),
  }
}

/** `2026-11-22` as 20261122. */
export function dayNumber(day: string): number {
  if (day !== lastDay) {
    lastDay = day
    lastNumber = Number(day.replaceAll('-', ''))
  }
  return lastNumber
}

/** The day that was read last: thousands of rows in a row are of the same. */
let lastDay = ''
let lastNumber = 0

/** The same backwards. */
export function dayText(day: number): string {
  const digits = String(day).padStart(8, '0')
  return `${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6)}`
}
