import { AppError } from '../../errors.ts'
import { mostStoredPrices, type NewPrice, type PriceStore } from '../../usage/prices/store.ts'
import { type KeyColumns, keyOf, numberOf, type PriceRow, priceOf, termsOf } from '../shared/price-rows.ts'
import type { OwnChanges } from './changes.ts'
import type { Database } from './connection.ts'

/** The prices of this installation in SQLite. A row's terms never change: its end alone is written later. */
export function createPriceStore(db: Database, changes: Pick<OwnChanges, 'wrotePrices'>): PriceStore {
  const all = db.prepare<[], PriceRow>('SELECT * FROM price WHERE ended_at IS NULL ORDER BY number')
  const byNumber = db.prepare<[number], PriceRow>('SELECT * FROM price WHERE number = ?')
  const byKey = 'source = ? AND plugin = ? AND model = ? AND valid_from = ? AND ended_at IS NULL'
  const holding = db.prepare<[...KeyColumns], { number: number; terms: string }>(
    `SELECT number, terms FROM price WHERE ${byKey}`,
  )
  const end = db.prepare<[number, ...KeyColumns]>(`UPDATE price SET ended_at = ? WHERE ${byKey}`)
  const insert = db.prepare<[...KeyColumns, string, string, number]>(
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
