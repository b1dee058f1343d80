import { AppError } from '../../errors.ts'
import {
  mostStoredPrices,
  type Price,
  type PriceChange,
  type PriceKey,
  type PriceStore,
  type StoredPrice,
  type Tariff,
} from '../../usage/usage.ts'
import { among, row, rows, run, type StoreDatabase, sql, tableOf, together, type Work } from '../port/port.ts'

/** The prices of this installation. A row's terms never change: its end alone is written later. */
export function createPriceStore(db: StoreDatabase): PriceStore {
  return {
    list: () => db.read(list()),
    write: (change, at) => db.write(() => write(change, at), 'prices'),
  }
}

function* list(): Work<readonly StoredPrice[]> {
  const holding = yield* rows<PriceRow>(sql`SELECT * FROM price WHERE ended_at IS NULL ORDER BY number`)
  return holding.map(priceOf)
}

function* write(change: PriceChange, at: number) {
  const { ended, added, set, endings } = rowsOfChange(change, yield* holdingOf(change))
  const [, numbers, held] = yield* together(
    run(sql`UPDATE price SET ended_at = ${at} WHERE number ${among(ended)}`),
    add(added, at),
    row<{ prices: number }>(sql`SELECT count(*) AS prices FROM price WHERE ended_at IS NULL`),
  )
  if (held!.prices > mostStoredPrices)
    throw new AppError('too_large', `No more than ${mostStoredPrices} prices can be kept`)
  return { ids: set.map((one) => `p${'number' in one ? one.number : numbers[one.added]}`), ended: endings }
}

const keyColumns = { source: 'text', plugin: 'text', model: 'text', valid_from: 'integer' } as const

/** The prices that hold now under the keys of a change. */
function* holdingOf({ set, end }: PriceChange): Work<readonly Holding[]> {
  const keys = [...end.map(keyOf), ...set.map(({ source, price }) => keyOf({ source, ...price }))]
  const found = yield* rows<Pick<PriceRow, 'number' | 'terms' | 'source' | 'plugin' | 'model' | 'valid_from'>>(
    sql`SELECT number, terms, source, plugin, model, valid_from FROM price
        WHERE ended_at IS NULL AND (source, plugin, model, valid_from) IN (SELECT * FROM ${tableOf(keyColumns, keys)} AS t)`,
  )
  return found.map(({ number, terms, source, plugin, model, valid_from }) => ({
    key: [source, plugin, model, valid_from],
    number,
    terms,
  }))
}

/** Adds prices; the result are their numbers, which grow in their order. */
function* add(added: readonly AddedPrice[], at: number): Work<readonly number[]> {
  const given = tableOf(
    { place: 'integer', ...keyColumns, terms: 'text', origin: 'text', ended_at: 'integer' },
    added.map(({ key, terms, origin, isEnded }, place) => [place, ...key, terms, origin, isEnded ? at : null]),
  )
  const numbers = yield* rows<{ number: number }>(
    sql`INSERT INTO price (source, plugin, model, valid_from, terms, origin, ended_at, set_at)
        SELECT t.source, t.plugin, t.model, t.valid_from, t.terms, t.origin, t.ended_at, ${at} FROM ${given} AS t
        ORDER BY t.place RETURNING number`,
  )
  return numbers.map(({ number }) => number).sort((a, b) => a - b)
}

/** A price that holds, as far as a change needs it: its number, and its terms as text. */
interface Holding {
  readonly key: KeyColumns
  readonly number: number
  readonly terms: string
}

/** A price to be added; one that another of the same change supersedes has ended already. */
interface AddedPrice {
  readonly key: KeyColumns
  readonly terms: string
  readonly origin: string
  isEnded: boolean
}

/** Follows a change, price by price, from the prices that hold before it. */
function rowsOfChange(change: PriceChange, holding: readonly Holding[]) {
  const held = new Map<string, Holding | number>(holding.map((row) => [nameOf(row.key), row]))
  const ended: number[] = []
  /** In the order of their numbers. */
  const added: AddedPrice[] = []
  /** For each price that is set, the row that is there already, or the place of the added one. */
  const set: ({ number: number } | { added: number })[] = []
  /** How many prices end, of those added too. */
  let endings = 0
  const end = (name: string) => {
    const before = held.get(name)
    if (before === undefined) return
    if (typeof before === 'number') added[before]!.isEnded = true
    else ended.push(before.number)
    held.delete(name)
    endings++
  }
  for (const key of change.end) end(nameOf(keyOf(key)))
  for (const { source, origin, price } of change.set) {
    const key = keyOf({ source, ...price })
    const terms = termsOf(price)
    const name = nameOf(key)
    const before = held.get(name)
    const row = typeof before === 'number' ? added[before] : before
    if (before !== undefined && row?.terms === terms) {
      set.push(typeof before === 'number' ? { added: before } : { number: before.number })
      continue
    }
    end(name)
    set.push({ added: added.length })
    held.set(name, added.length)
    added.push({ key, terms, origin, isEnded: false })
  }
  return { ended, added, set, endings }
}

function nameOf(key: KeyColumns): string {
  return JSON.stringify(key)
}

interface PriceRow extends Pick<StoredPrice, 'source' | 'plugin' | 'model' | 'origin'> {
  readonly number: number
  readonly valid_from: number
  readonly terms: string
  readonly set_at: number
}

/** The columns of which one price holds at a time; 0 for a price that always held. */
type KeyColumns = readonly [source: string, plugin: string, model: string, validFrom: number]

function keyOf({ source, plugin, model, validFrom = 0 }: PriceKey): KeyColumns {
  return [source, plugin, model, validFrom]
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
  }
}
