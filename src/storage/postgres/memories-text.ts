import { gap, reach } from '../../personas/memory/ranking-index.ts'
import { aboutOf, analysed, contextOf, type Known, type Near, type TextRow } from '../shared/memory-text.ts'
import { insertRows } from './insert-rows.ts'
import { createPostingChanges } from './memories-postings.ts'
import type { Sql, Transaction } from './sql.ts'

/** The terms of a memory as they are stored. */
interface Terms {
  readonly memory_id: number
  readonly terms: string
  readonly about: string
  readonly context: string
}

/** The memories with terms that a write has to make anew. */
export interface Reindexed {
  readonly scopeId: number
  /** Memories that were added or removed, or that got another text, time or label. */
  readonly changed: readonly number[]
  /** The terms of those that were there before, and their neighbours; see `termsBefore`. */
  readonly before: TermsBefore
}

export interface TermsBefore {
  readonly terms: ReadonlyMap<number, Terms>
  readonly neighbours: readonly number[]
}

export const nothingBefore: TermsBefore = { terms: new Map(), neighbours: [] }

/**
 * SQL for the memories before and after each row of `from`, with their distances. A comparison of a pair of columns is a range
 * of the index `memory_order`, of which the first rows are read; those beyond the gap are left out of them afterwards: with
 * both in one condition an index without the conversation looks as good, where there are no statistics yet of an import.
 */
const near = (from: string) => `
  LATERAL (
    SELECT * FROM (
      SELECT m.memory_id, m.conversation, m.timestamp, -row_number() OVER (ORDER BY m.timestamp DESC, m.memory_id DESC) AS distance
        FROM memory m WHERE m.scope_id = $1 AND m.conversation = ${from}.conversation
         AND (m.timestamp, m.memory_id) < (${from}.timestamp, ${from}.memory_id)
       ORDER BY m.timestamp DESC, m.memory_id DESC LIMIT ${reach}) before WHERE before.timestamp >= ${from}.timestamp - ${gap}
    UNION ALL
    SELECT * FROM (
      SELECT m.memory_id, m.conversation, m.timestamp, row_number() OVER (ORDER BY m.timestamp, m.memory_id) AS distance
        FROM memory m WHERE m.scope_id = $1 AND m.conversation = ${from}.conversation
         AND (m.timestamp, m.memory_id) > (${from}.timestamp, ${from}.memory_id)
       ORDER BY m.timestamp, m.memory_id LIMIT ${reach}) after WHERE after.timestamp <= ${from}.timestamp + ${gap}
  ) near`

/** The terms of memories and the neighbours that they have, before they change or go. */
export async function termsBefore(sql: Sql, scopeId: number, numbers: readonly number[]): Promise<TermsBefore> {
  if (numbers.length === 0) return nothingBefore
  const [terms, neighbours] = await Promise.all([
    readTerms(sql, numbers),
    sql.rows<{ memory_id: number }>(
      `SELECT DISTINCT near.memory_id FROM memory asked CROSS JOIN ${near('asked')} WHERE asked.memory_id = ANY ($2)`,
      [scopeId, numbers],
    ),
  ])
  const going = new Set(numbers)
  return {
    terms,
    neighbours: neighbours.map(({ memory_id }) => memory_id).filter((number) => !going.has(number)),
  }
}

/**
 * Writes terms and index anew after memories were added, changed or removed, and the context of those around them, before
 * and now. Resolves with the characters that the scope's terms gained; below 0 when it lost some.
 */
export async function reindex(tx: Transaction, { scopeId, changed, before }: Reindexed): Promise<number> {
  const around = await readNeighbours(tx, scopeId, changed, before.neighbours)
  const touched = [...new Set([...changed, ...around.keys()])]
  const others = touched.filter((number) => !before.terms.has(number))
  const numbers = [...new Set([...touched, ...[...around.values()].flat().map(([number]) => number)])]
  const [rows, stored] = await Promise.all([readRows(tx, numbers), readTerms(tx, others)])
  const known: Known = new Map()
  const isChanged = new Set(changed)
  const written: Terms[] = []
  const postings = createPostingChanges(scopeId)
  let gained = 0
  for (const number of touched) {
    const row = rows.get(number)
    const old = before.terms.get(number) ?? stored.get(number)
    const fresh = row && termsOf(row, old)
    if (old?.terms === fresh?.terms && old?.about === fresh?.about && old?.context === fresh?.context) continue
    if (fresh) written.push(fresh)
    gained += lengthOf(fresh) - lengthOf(old)
    postings.change(number, old, fresh)
  }
  await Promise.all([
    insertRows(
      tx,
      'memory_terms',
      { memory_id: 'bigint', terms: 'text', about: 'text', context: 'text' },
      written,
      `ON CONFLICT (memory_id) DO UPDATE
         SET terms = excluded.terms, about = excluded.about, context = excluded.context`,
    ),
    postings.write(tx),
  ])
  return gained

  function termsOf(row: TextRow, old: Terms | undefined): Terms {
    const nearby = (around.get(row.memory_id) ?? []).flatMap(([number, distance]): Near[] => {
      const other = rows.get(number)
      return other ? [{ row: other, distance }] : []
    })
    const own = old && !isChanged.has(row.memory_id) ? old : undefined
    const { terms, about } = own ?? { terms: analysed(row, known).terms, about: aboutOf(row) }
    return { memory_id: row.memory_id, terms, about, context: contextOf(row, nearby, known) }
  }
}

/** Characters, as SQLite counts them. */
function lengthOf(row: Terms | undefined): number {
  return row === undefined ? 0 : row.terms.length - (row.terms.match(/[\ud800-\udbff]/g)?.length ?? 0)
}

async function readTerms(sql: Sql, numbers: readonly number[]): Promise<ReadonlyMap<number, Terms>> {
  if (numbers.length === 0) return new Map()
  const rows = await sql.rows<Terms>(
    'SELECT memory_id, terms, about, context FROM memory_terms WHERE memory_id = ANY ($1)',
    [numbers],
  )
  return new Map(rows.map((row) => [row.memory_id, row]))
}

async function readRows(sql: Sql, numbers: readonly number[]): Promise<ReadonlyMap<number, TextRow>> {
  const rows = await sql.rows<TextRow>(
    'SELECT memory_id, content, timestamp, metadata, conversation FROM memory WHERE memory_id = ANY ($1)',
    [numbers],
  )
  return new Map(rows.map((row) => [row.memory_id, row]))
}

/** For these memories, those around them now, and `others`: their neighbours as numbers with distances, the earlier ones first. */
async function readNeighbours(
  sql: Sql,
  scopeId: number,
  numbers: readonly number[],
  others: readonly number[],
): Promise<ReadonlyMap<number, readonly (readonly [number: number, distance: number])[]>> {
  const pairs = await sql.rows<{ of: number; memory_id: number | null; distance: number }>(
    `WITH asked AS MATERIALIZED (SELECT memory_id, conversation, timestamp FROM memory WHERE memory_id = ANY ($2)),
       touched AS MATERIALIZED (
         SELECT * FROM asked
         UNION SELECT near.memory_id, near.conversation, near.timestamp FROM asked CROSS JOIN ${near('asked')}
         UNION SELECT memory_id, conversation, timestamp FROM memory WHERE memory_id = ANY ($3))
     SELECT touched.memory_id AS of, near.memory_id, near.distance FROM touched LEFT JOIN ${near('touched')} ON true
      ORDER BY near.distance > 0, abs(near.distance)`,
    [scopeId, numbers, others],
  )
  const around = new Map<number, [number, number][]>()
  for (const { of, memory_id, distance } of pairs) {
    const known = around.get(of) ?? []
    around.set(of, known)
    if (memory_id !== null) known.push([memory_id, distance])
  }
  return around
}
