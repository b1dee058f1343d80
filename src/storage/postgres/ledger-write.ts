import type { LedgerRow } from '../../usage/ledger/ledger.ts'
import { valuesOf } from '../shared/ledger-rows.ts'
import { columnsOfSums, sumsByDay } from '../shared/ledger-sums.ts'
import type { LedgerNames } from './ledger-names.ts'
import { numbersOf } from './numbers-of.ts'
import type { Transaction } from './sql.ts'

/** All names in rows. */
export function* namesIn(rows: readonly LedgerRow[]): Generator<string> {
  for (const { user, key, plugin, model, amounts, cost } of rows) {
    yield user
    yield model
    for (const name of [key, plugin, amounts.serviceTier, amounts.speed, cost.priceId]) if (name != null) yield name
  }
}

/** The columns of a row before its number; the first is a text, all others are numbers. */
const columns = 27

type IdOf = Awaited<ReturnType<LedgerNames['idsOf']>>

/** Inserts rows; resolves with those that were not there. */
export async function insertRows(
  tx: Transaction,
  rows: readonly LedgerRow[],
  idOf: IdOf,
): Promise<readonly LedgerRow[]> {
  // In one order: of processes that add the same rows, each waits for the other's and none for the first again.
  const sorted = rows.toSorted(byAttempt)
  const values = sorted.map((row) => valuesOf(row, idOf))
  const lists = Array.from({ length: columns - 1 }, (_, at) => numbersOf(values.map((row) => row[at + 1])))
  const types = Array.from({ length: columns }, (_, at) => `$${at + 1}::${at === 0 ? 'text' : 'bigint'}[]`)
  const inserted = await tx.rows<{ request: string; attempt: number }>(
    `INSERT INTO ledger SELECT * FROM unnest(${types.join(', ')})
     ON CONFLICT (request, attempt) DO NOTHING RETURNING request, attempt`,
    [sorted.map(({ request }) => request), ...lists],
  )
  // A row that is given twice is inserted once.
  const left = new Set(inserted.map(keyOf))
  return rows.filter((row) => left.delete(keyOf(row)))
}

function byAttempt(a: LedgerRow, b: LedgerRow): number {
  return a.request < b.request ? -1 : a.request > b.request ? 1 : a.attempt - b.attempt
}

function keyOf({ request, attempt }: Pick<LedgerRow, 'request' | 'attempt'>): string {
  return `${attempt} ${request}`
}

const places = ['day', '"user"', 'api_key', 'plugin', 'model']

/** Adds rows to the sums of their days. */
export async function addSums(tx: Transaction, rows: readonly LedgerRow[], idOf: IdOf): Promise<void> {
  // In one order, as the rows.
  const groups = [...sumsByDay(rows, idOf)].sort((a, b) => compare(a.place, b.place))
  const values = groups.map(({ place, sums }) => [...place, ...sums])
  const width = places.length + columnsOfSums.length
  const lists = Array.from({ length: width }, (_, at) => numbersOf(values.map((row) => row[at])))
  await tx.run(
    `INSERT INTO ledger_day AS kept SELECT * FROM unnest(${lists.map((_, at) => `$${at + 1}::bigint[]`).join(', ')})
     ON CONFLICT (${places.join(', ')}) DO UPDATE SET
       ${columnsOfSums.map((name) => `${name} = kept.${name} + excluded.${name}`).join(', ')}`,
    lists,
  )
}

function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, index) => value !== b[index])
  return at < 0 ? 0 : a[at]! - b[at]!
}
