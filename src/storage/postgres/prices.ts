import { AppError } from '../../errors.ts'
import { mostStoredPrices, type PriceChange, type PriceStore } from '../../usage/prices/store.ts'
import { type KeyColumns, keyOf, numberOf, type PriceRow, priceOf } from '../shared/price-rows.ts'
import type { Context } from './context.ts'
import { oneWriter } from './one-writer.ts'
import { type AddedPrice, type Holding, rowsOfChange } from './prices-change.ts'
import type { Transaction } from './sql.ts'

/** The prices of the installation in PostgreSQL. A row's terms never change: its end alone is written later. */
export function createPriceStore({ db, changes }: Context): PriceStore {
  return {
    async list() {
      const rows = await db.rows<PriceRow>('SELECT * FROM price WHERE ended_at IS NULL ORDER BY number')
      return rows.map(priceOf)
    },
    async find(id) {
      const number = numberOf(id)
      if (number === undefined) return undefined
      const row = await db.row<PriceRow>('SELECT * FROM price WHERE number = $1', [number])
      return row && priceOf(row)
    },
    write: (change, at) =>
      changes.writing('prices', async (tx) => {
        await oneWriter(tx, 'prices')
        const { ended, added, set, endings } = rowsOfChange(change, await holdingOf(tx, change))
        const [, numbers] = await Promise.all([
          tx.run('UPDATE price SET ended_at = $1 WHERE number = ANY($2)', [at, ended]),
          add(tx, added, at),
        ])
        const held = await tx.row<{ prices: number }>('SELECT count(*) AS prices FROM price WHERE ended_at IS NULL')
        if (held!.prices > mostStoredPrices)
          throw new AppError('too_large', `No more than ${mostStoredPrices} prices can be kept`)
        const ids = set.map((one) => `p${'number' in one ? one.number : numbers[one.added]}`)
        return { ids, ended: endings }
      }),
  }
}

/** The prices that hold now under the keys of a change. */
async function holdingOf(tx: Transaction, { set, end }: PriceChange): Promise<readonly Holding[]> {
  const keys = [...end.map(keyOf), ...set.map(({ source, price }) => keyOf({ source, ...price }))]
  const rows = await tx.rows<Pick<PriceRow, 'number' | 'terms' | 'source' | 'plugin' | 'model' | 'valid_from'>>(
    `SELECT number, terms, source, plugin, model, valid_from FROM price
     WHERE ended_at IS NULL AND (source, plugin, model, valid_from) IN (
       SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[]))`,
    columnsOf(keys),
  )
  return rows.map(({ number, terms, source, plugin, model, valid_from }) => ({
    key: [source, plugin, model, valid_from],
    number,
    terms,
  }))
}

/** Adds prices; resolves with their numbers, which grow in their order. */
async function add(tx: Transaction, added: readonly AddedPrice[], at: number): Promise<readonly number[]> {
  if (added.length === 0) return []
  const given = await tx.rows<{ number: number }>(
    `SELECT nextval(pg_get_serial_sequence('price', 'number')) AS number FROM generate_series(1, $1)`,
    [added.length],
  )
  const numbers = given.map(({ number }) => number).sort((a, b) => a - b)
  await tx.run(
    `INSERT INTO price (source, plugin, model, valid_from, number, terms, origin, ended_at, set_at)
     SELECT *, $9::bigint FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::text[],
       $7::text[], $8::bigint[])`,
    [
      ...columnsOf(added.map(({ key }) => key)),
      numbers,
      added.map(({ terms }) => terms),
      added.map(({ origin }) => origin),
      added.map(({ isEnded }) => (isEnded ? at : null)),
      at,
    ],
  )
  return numbers
}

function columnsOf(keys: readonly KeyColumns[]): readonly unknown[] {
  return [0, 1, 2, 3].map((column) => keys.map((key) => key[column]))
}
