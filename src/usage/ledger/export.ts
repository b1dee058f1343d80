import { csvLine } from '../../formats/formats.ts'
import { usdOf } from '../money.ts'
import type { LedgerRow, LedgerStore, RowQuery } from './ledger.ts'
import type { FindNames, UsageNames } from './report.ts'

/** The columns of an export, in their order. Times are ISO 8601 in UTC; the day is in the ledger's time zone. */
const columns = {
  time: ({ at }: LedgerRow) => new Date(at).toISOString(),
  day: ({ day }) => day,
  request: ({ request }) => request,
  attempt: ({ attempt }) => attempt,
  user: ({ user }) => user,
  username: ({ user }, { users }) => users.get(user) ?? null,
  key: ({ key }) => key,
  key_name: ({ key }, { keys }) => (key === null ? null : (keys.get(key) ?? null)),
  plugin: ({ plugin }) => plugin,
  model: ({ model }) => model,
  purpose: ({ purpose }) => purpose,
  outcome: ({ outcome }) => outcome,
  estimated: ({ estimated }) => estimated,
  lower_bound: ({ lowerBound }) => lowerBound,
  input_tokens: ({ amounts }) => amounts.input,
  cached_tokens: ({ amounts }) => amounts.cached ?? 0,
  cache_write_tokens: ({ amounts }) => (amounts.cacheWrite ?? 0) + (amounts.cacheWriteLong ?? 0),
  cache_write_1h_tokens: ({ amounts }) => amounts.cacheWriteLong ?? 0,
  output_tokens: ({ amounts }) => amounts.output,
  reasoning_tokens: ({ amounts }) => amounts.reasoning ?? 0,
  audio_input_tokens: ({ amounts }) => amounts.audioInput ?? 0,
  audio_output_tokens: ({ amounts }) => amounts.audioOutput ?? 0,
  characters: ({ amounts }) => amounts.characters ?? 0,
  service_tier: ({ amounts }) => amounts.serviceTier ?? null,
  speed: ({ amounts }) => amounts.speed ?? null,
  cost_usd: ({ cost }) => (cost.nano === null ? null : usdOf(cost.nano)),
  cost_nano: ({ cost }) => cost.nano,
  cost_source: ({ cost }) => cost.source,
  price_id: ({ cost }) => cost.priceId,
  duration_ms: ({ durationMs }) => durationMs,
  first_ms: ({ firstMs }) => firstMs ?? null,
  reason: ({ reason }) => reason ?? null,
} satisfies Record<string, (row: LedgerRow, names: UsageNames) => string | number | boolean | null>

const headings = Object.keys(columns)
const readers = Object.values(columns) as readonly ((row: LedgerRow, names: UsageNames) => string | number | null)[]

/** The rows of a query as CSV with headings, or a JSON array with a row per line, in batches of bounded memory. */
export async function* exportedRows(
  store: Pick<LedgerStore, 'rows'>,
  query: RowQuery,
  format: 'csv' | 'json',
  findNames: FindNames,
): AsyncGenerator<Uint8Array> {
  const known = { users: new Map<string, string>(), keys: new Map<string, string>() }
  const asked = { users: new Set<string>(), keys: new Set<string>() }
  let isFirst = true
  yield Buffer.from(format === 'csv' ? csvLine(headings) : '[')
  for await (const rows of await store.rows(query)) {
    await learnNames(rows)
    const lines = rows.map((row) => {
      const cells = readers.map((read) => read(row, known))
      if (format === 'csv') return csvLine(cells)
      const text = JSON.stringify(Object.fromEntries(headings.map((name, at) => [name, cells[at]])))
      const line = `${isFirst ? '\n' : ',\n'}${text}`
      isFirst = false
      return line
    })
    yield Buffer.from(lines.join(''))
  }
  if (format === 'json') yield Buffer.from('\n]\n')

  /** Finds the names of users and keys that are not known yet. */
  async function learnNames(rows: readonly LedgerRow[]): Promise<void> {
    const users = new Set<string>()
    const keys = new Set<string>()
    for (const { user, key } of rows) {
      if (!asked.users.has(user)) users.add(user)
      if (key !== null && !asked.keys.has(key)) keys.add(key)
    }
    if (users.size === 0 && keys.size === 0) return
    const found = await findNames({ users, keys })
    for (const id of users) asked.users.add(id)
    for (const id of keys) asked.keys.add(id)
    for (const [id, name] of found.users) known.users.set(id, name)
    for (const [id, name] of found.keys) known.keys.set(id, name)
  }
}
