import { gap, reach, type Scope } from '../../personas/personas.ts'
import { firstSlice, slice } from '../shared/memory-retention.ts'
import { rangeOf } from '../shared/memory-scope.ts'
import { aboutOf, analysed, contextOf, type Known, type Near, type TextRow } from '../shared/memory-text.ts'
import type { Database } from './connection.ts'
import { findScope } from './memories-scope.ts'
import { createRowsInsert } from './rows-insert.ts'

/** The terms of some memories, in the order of their numbers. */
export type ReadyTerms = readonly { readonly number: number; readonly columns: readonly [string, string, string] }[]

/** Rows that are kept for the memories around them; each holds 20,000 characters at most. */
const mostKept = 256

/**
 * Indexes the text of a stage's memories once all of them are there: each is written with all its neighbours, where a memory that
 * is indexed on its arrival is indexed again for every slice that brings it a neighbour. The rows are those that
 * `createMemoryIndex` writes; the neighbours are found in one walk over the order of the memories, and a statement indexes
 * many memories, since the full-text index makes a segment of each statement.
 */
export function createStageIndex(db: Database, scope: Scope) {
  const range = (() => {
    const row = findScope(db, scope)
    return row && { scopeId: row.scope_id, count: row.last_number, ...rangeOf(row.scope_id) }
  })()
  const columns = 'memory_id, content, timestamp, metadata, conversation'
  const after = db.prepare<[number, number], TextRow & { readonly size: number }>(
    `SELECT ${columns}, length(content) AS size FROM memory WHERE memory_id > ? AND memory_id <= ?
      ORDER BY memory_id LIMIT ${slice.memories}`,
  )
  const read = db.prepare<[number], TextRow>(`SELECT ${columns} FROM memory WHERE memory_id = ?`)
  const lengthen = db.prepare(
    `UPDATE memory_scope SET length = length + (SELECT sum(length(terms)) FROM memory_terms WHERE memory_id BETWEEN ? AND ?)
      WHERE scope_id = ?`,
  )
  const insertTerms = createRowsInsert(db, 'memory_terms', 'memory_id, terms, about, context')
  const index = db.prepare(
    `INSERT INTO memory_text (rowid, content, about, context)
       SELECT memory_id, content, about, context FROM memory_indexed WHERE memory_id BETWEEN ? AND ? ORDER BY memory_id`,
  )
  const rows = new Map<number, TextRow>()
  const known: Known = new Map()
  let around: Uint32Array | undefined
  let last = 0

  return {
    /** Reads the next memories and makes their terms; undefined when none is left. Works beside transactions. */
    prepare(): ReadyTerms | undefined {
      if (!range) return undefined
      around ??= neighboursOf(db, range)
      const next = firstSlice(after.all(Math.max(range.low, last), range.high))
      if (next.length === 0) return undefined
      for (const row of next) keep(row)
      last = next.at(-1)!.memory_id
      return next.map((row) => {
        const near = nearOf(row.memory_id)
        return {
          number: row.memory_id,
          columns: [analysed(row, known).terms, aboutOf(row), contextOf(row, near, known)],
        }
      })
    },

    /** Expects to run inside a transaction. */
    write(ready: ReadyTerms): void {
      const [low, high] = [ready[0]!.number, ready.at(-1)!.number]
      insertTerms(ready.map(({ number, columns }) => [number, ...columns]))
      index.run(low, high)
      lengthen.run(low, high, range!.scopeId)
    },
  }

  function nearOf(number: number): Near[] {
    const place = (number - range!.low) * width
    return Array.from({ length: width }, (_, at) => {
      const other = around![place + at]!
      const distance = at < reach ? -1 - at : 1 + at - reach
      return other === 0 ? [] : [{ row: rowOf(range!.low + other), distance }]
    }).flat()
  }

  function rowOf(number: number): TextRow {
    return rows.get(number) ?? keep(read.get(number)!)
  }

  function keep(row: TextRow): TextRow {
    rows.set(row.memory_id, row)
    for (const number of rows.keys()) {
      if (rows.size <= mostKept) break
      rows.delete(number)
      known.delete(number)
    }
    return row
  }
}

/** Neighbours of one memory: those before it, the nearest first, and those after it. */
const width = 2 * reach

/** Rows of the order that are read at once. */
const rowsAtOnce = 5_000

interface OrderRow {
  readonly memory_id: number
  readonly conversation: string
  readonly timestamp: number
}

/** The neighbours of each memory, by how far its number and theirs lie above the scope's lowest; 0 for none. */
function neighboursOf(
  db: Database,
  { scopeId, count, low }: { readonly scopeId: number; readonly count: number; readonly low: number },
): Uint32Array {
  const next = db.prepare<[number, string, number, number], OrderRow>(
    `SELECT memory_id, conversation, timestamp FROM memory
      WHERE scope_id = ? AND (conversation, timestamp, memory_id) > (?, ?, ?)
      ORDER BY conversation, timestamp, memory_id LIMIT ${rowsAtOnce}`,
  )
  const around = new Uint32Array((count + 1) * width)
  let before: OrderRow[] = []
  let last: OrderRow = { memory_id: 0, conversation: '', timestamp: Number.MIN_SAFE_INTEGER }
  for (;;) {
    const rows = next.all(scopeId, last.conversation, last.timestamp, last.memory_id)
    for (const row of rows) {
      before = before.filter(
        ({ conversation, timestamp }) => conversation === row.conversation && timestamp >= row.timestamp - gap,
      )
      for (const [at, other] of before.entries()) {
        around[(row.memory_id - low) * width + at] = other.memory_id - low
        around[(other.memory_id - low) * width + reach + at] = row.memory_id - low
      }
      before = [row, ...before.slice(0, reach - 1)]
    }
    if (rows.length < rowsAtOnce) return around
    last = rows.at(-1)!
  }
}
