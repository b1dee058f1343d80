import { gap, reach } from '../../personas/personas.ts'
import type { IndexedText, MemoryIndex, Surrounded } from '../port/memory-index.ts'
import { sql } from '../port/port.ts'
import type { Near, TextRow } from '../shared/memory-text.ts'
import { bytesOf, sketchOf, valuesOf } from '../shared/vector-bytes.ts'
import type { Database } from './connection.ts'
import { onSqlite } from './driver.ts'

/** The full-text index of memories, and the tables of their vectors. */
export function createMemoryIndex(db: Database): MemoryIndex {
  const columns = 'memory_id, content, timestamp, metadata, conversation'
  const read = db.prepare<[number], TextRow>(`SELECT ${columns} FROM memory WHERE memory_id = ?`)
  const readTerms = db.prepare<[number], IndexedText>(
    'SELECT terms, about, context FROM memory_terms WHERE memory_id = ?',
  )
  // Those of the same time and those of another are asked for apart: one comparison of both columns at once would walk all
  // memories of that time, which for an import may be every one. The sign before the limit keeps the statement from being
  // compiled again for each value of it.
  const around = (place: string, order: 'ASC' | 'DESC') =>
    db.prepare<[object], TextRow>(
      `SELECT ${columns} FROM memory WHERE scope_id = @scopeId AND conversation = @conversation AND ${place}
        ORDER BY timestamp ${order}, memory_id ${order} LIMIT +@limit`,
    )
  const earlier = [
    around('timestamp = @timestamp AND memory_id < @number', 'DESC'),
    around('timestamp < @timestamp AND timestamp >= @timestamp - @gap', 'DESC'),
  ]
  const later = [
    around('timestamp = @timestamp AND memory_id > @number', 'ASC'),
    around('timestamp > @timestamp AND timestamp <= @timestamp + @gap', 'ASC'),
  ]
  const insertTerms = db.prepare('INSERT INTO memory_terms (memory_id, terms, about, context) VALUES (?, ?, ?, ?)')
  const setTerms = db.prepare('UPDATE memory_terms SET terms = ?, about = ?, context = ? WHERE memory_id = ?')
  const setContext = db.prepare('UPDATE memory_terms SET context = ? WHERE memory_id = ?')
  // The index reads the terms of a removed row through its view: it is unindexed before its terms go, and indexed after they came.
  const index = db.prepare(
    `INSERT INTO memory_text (rowid, content, about, context)
       SELECT memory_id, content, about, context FROM memory_indexed WHERE memory_id = ?`,
  )
  const unindex = db.prepare('DELETE FROM memory_text WHERE rowid = ?')
  const put = db.prepare('INSERT OR REPLACE INTO memory_vector (memory_id, space_id, vector) VALUES (?, ?, ?)')
  const putSketch = db.prepare('INSERT OR REPLACE INTO memory_sketch (memory_id, space_id, bits) VALUES (?, ?, ?)')

  return {
    neighbours: (scopeId, numbers) => onSqlite(() => [...nearby(scopeId, numbers)]),
    surroundings: (scopeId, changed, others) => onSqlite(() => surroundings(scopeId, changed, others)),
    write: (_scopeId, changes) =>
      onSqlite(() => {
        for (const { number, old, fresh } of changes) {
          // One that is gone was taken out before its row.
          if (!fresh) continue
          const { terms, about, context } = fresh
          if (old) {
            unindex.run(number)
            // Of those around a changed memory, the context alone is another one.
            if (old.terms === terms && old.about === about) setContext.run(context, number)
            else setTerms.run(terms, about, context, number)
          } else insertTerms.run(number, terms, about, context)
          index.run(number)
        }
      }),
    forget: (numbers) =>
      onSqlite(() => {
        for (const number of numbers) unindex.run(number)
      }),
    putVectors: (vectors) =>
      onSqlite(() => {
        for (const { number, spaceId, values } of vectors) {
          put.run(number, spaceId, bytesOf(values))
          putSketch.run(number, spaceId, sketchOf(values))
        }
      }),
    vectorBytes: sql`memory_vector.vector`,
    readVector: valuesOf,
    hasLabelColumns: false,
  }

  function surroundings(scopeId: number, changed: readonly number[], others: readonly number[]): Surrounded[] {
    const found = new Map<number, Surrounded>()
    /** Puts a memory and those around it among the found ones; the others only as texts. */
    const touch = (row: TextRow): readonly Near[] => {
      if (found.get(row.memory_id)?.around) return []
      const near = neighbours(scopeId, row)
      const terms = readTerms.get(row.memory_id) ?? unindexed
      const around = near.map(({ row, distance }) => [row.memory_id, distance] as const)
      // The rows are this work's own: a copy of each takes as long as all else here.
      found.set(row.memory_id, Object.assign(row, terms, { around }))
      for (const { row } of near) if (!found.has(row.memory_id)) found.set(row.memory_id, Object.assign(row, unindexed))
      return near
    }
    const there = (numbers: readonly number[]) => numbers.flatMap((number) => read.get(number) ?? [])
    const next = there(changed).flatMap(touch)
    for (const { row } of next) touch(row)
    for (const row of there(others)) touch(row)
    return [...found.values()]
  }

  function nearby(scopeId: number, numbers: readonly number[]): Set<number> {
    const found = new Set<number>()
    for (const number of numbers) {
      const row = read.get(number)
      if (row) for (const { row: other } of neighbours(scopeId, row)) found.add(other.memory_id)
    }
    for (const number of numbers) found.delete(number)
    return found
  }

  function neighbours(scopeId: number, { conversation, timestamp, memory_id: number }: TextRow): Near[] {
    const nearest = (statements: typeof earlier) => {
      const found: TextRow[] = []
      for (const statement of statements)
        if (found.length < reach)
          found.push(...statement.all({ scopeId, conversation, timestamp, number, gap, limit: reach - found.length }))
      return found
    }
    return [
      ...nearest(earlier).map((row, at) => ({ row, distance: -1 - at })),
      ...nearest(later).map((row, at) => ({ row, distance: 1 + at })),
    ]
  }
}

const unindexed = { terms: null, about: null, context: null } as const
