import { AppError } from '../../errors.ts'
import type { Price, Tariff } from '../../usage/prices/price.ts'
import {
  mostStoredPrices,
  type NewPrice,
  type PriceKey,
  type PriceStore,
  type StoredPrice,
} from '../../usage/prices/store.ts'
import type { OwnChanges } from './changes.ts'
import type { Database } from './connection.ts'

interface PriceRow {
  readonly number: number
  readonly source: StoredPrice['source']
  readonly plugin: string
  readonly model: string
  readonly valid_from: number
  readonly terms: string
  readonly origin: string
  readonly set_at: number
  readonly ended_at: number | null
}

type Key = readonly [source: string, plugin: string, model: string, validFrom: number]

/** The prices of this installation in SQLite. A row's terms never change: its end alone is written later. */
export function createPriceStore(db: Database, changes: Pick<OwnChanges, 'wrotePrices'>): PriceStore {
  const all = db.prepare<[], PriceRow>('SELECT * FROM price WHERE ended_at IS NULL ORDER BY number')
  const byNumber = db.prepare<[number], PriceRow>('SELECT * FROM price WHERE number = ?')
  const byKey = 'source = ? AND plugin = ? AND model = ? AND valid_from = ? AND ended_at IS NULL'
  const holding = db.prepare<[...Key], { number: number; terms: string }>(
    `SELECT number, terms FROM price WHERE ${byKey}`,
  )
  const end = db.prepare<[number, ...Key]>(`UPDATE price SET ended_at = ? WHERE ${byKey}`)
  const insert = db.prepare<[...Key, string, string, number]>(
    'INSERT INTO price (source, plugin, model, valid_from, terms, origin, set_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  const count = db.prepare<[], number>('SELECT count(*) FROM price WHERE ended_at IS NULL').pluck()
  const rowsWritten = db.prepare<[], number>('SELECT total_changes()').pluck()
  const changed = db.prepare('UPDATE price_changes SET number = number + 1')

  return {
    list: () => all.all().map(priceOf),
    async find(id) {
      const number = numberOf(id)
      const row = number === undefined ? undefined : byNumber.get(number)
      return row && priceOf(row)
    },
    async write(change, at) {
      const result = db
        .transaction(() => {
          const rows = rowsWritten.get()
          let ended = 0
          for (const key of change.end) ended += end.run(at, ...keyOf(key)).changes
          const ids: string[] = []
          for (const price of change.set) {
            const { id, superseded } = set(price, at)
            ids.push(id)
            if (superseded) ended++
          }
          if (count.get()! > mostStoredPrices)
            throw new AppError('too_large', `No more than ${mostStoredPrices} prices can be kept`)
          if (rowsWritten.get() !== rows) changed.run()
          return { ids, ended }
        })
        .immediate()
      changes.wrotePrices()
      return result
    },
  }

  function set({ source, origin, price }: NewPrice, at: number): { id: string; superseded: boolean } {
    const key = keyOf({ source, ...price })
    const terms = termsOf(price)
    const before = holding.get(...key)
    if (before?.terms === terms) return { id: `p${before.number}`, superseded: false }
    if (before) end.run(at, ...key)
    const { lastInsertRowid } = insert.run(...key, terms, origin, at)
    return { id: `p${lastInsertRowid}`, superseded: before !== undefined }
  }
}

function keyOf({ source, plugin, model, validFrom = 0 }: PriceKey): Key {
  return [source, plugin, model, validFrom]
}

/** The number of an id such as `p17`; undefined for ids of other prices. */
function numberOf(id: string): number | undefined {
  return /^p[1-9]\d{0,14}$/.test(id) ? Number(id.slice(1)) : undefined
}

/** The fields of a price that have no column, the same text for the same terms. */
function termsOf({ rates, long, services, also, except, rounded }: Price): string {
  const tariff = ({ rates, long }: Tariff) => ({
    rates: sorted(rates),
    ...(long && { long: { above: long.above, rates: sorted(long.rates) } }),
  })
  return JSON.stringify({
    ...tariff({ rates, ...(long && { long }) }),
    ...(services &&
      services.size > 0 && {
        services: sorted(Object.fromEntries([...services].map(([name, each]) => [name, tariff(each)]))),
      }),
    ...(also && also.length > 0 && { also }),
    ...(except && except.length > 0 && { except }),
    ...(rounded && { rounded }),
  })
}

function sorted<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1))) as T
}

function priceOf(row: PriceRow): StoredPrice {
  const { services, ...terms } = JSON.parse(row.terms)
  return {
    ...terms,
    ...(services && { services: new Map(Object.entries(services)) }),
    id: `p${row.number}`,
    source: row.source,
    plugin: row.plugin,
    model: row.model,
    ...(row.valid_from !== 0 && { validFrom: row.valid_from }),
    origin: row.origin,
    setAt: row.set_at,
    ...(row.ended_at !== null && { endedAt: row.ended_at }),
  }
}
