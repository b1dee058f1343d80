import { gap, reach } from '../../personas/memory/ranking-index.ts'
import { aboutOf, analysed, contextOf, type Known, type Near, type TextRow } from '../shared/memory-text.ts'
import type { Database } from './connection.ts'

export type TextIndex = ReturnType<typeof createTextIndex>

/** No index: for a scope that no search sees before all its memories are indexed, see `createStageIndex`. */
export const laterIndexed: TextIndex = {
  add: () => 0,
  nearby: () => new Set(),
  move() {},
  rewrite: () => 0,
  renew() {},
  remove() {},
  length: () => 0,
}

/** The full-text index of memories. Every method expects to run inside the caller's transaction. */
export function createTextIndex(db: Database) {
  const columns = 'memory_id, content, timestamp, metadata, conversation'
  const read = db.prepare<[number], TextRow>(`SELECT ${columns} FROM memory WHERE memory_id = ?`)
  // Those of the same time and those of another are asked for apart: one comparison of both columns at once would walk all
  // memories of that time, which for an import may be every one. The sign before the limit keeps the statement from being
  // compiled anew for each value of it.
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
  const setTerms = db.prepare('UPDATE memory_terms SET terms = ?, about = ? WHERE memory_id = ?')
  const setAbout = db.prepare('UPDATE memory_terms SET about = ? WHERE memory_id = ?')
  const setContext = db.prepare('UPDATE memory_terms SET context = ? WHERE memory_id = ?')
  const readContext = db.prepare<[number], string>('SELECT context FROM memory_terms WHERE memory_id = ?').pluck()
  // The index reads the terms of a removed row through its view: it is unindexed before its terms go, and indexed after they came.
  const index = db.prepare(
    `INSERT INTO memory_text (rowid, content, about, context)
       SELECT memory_id, content, about, context FROM memory_indexed WHERE memory_id = ?`,
  )
  const unindex = db.prepare('DELETE FROM memory_text WHERE rowid = ?')
  const totalLength = db
    .prepare<[string], number>(
      'SELECT coalesce(sum(length(terms)), 0) FROM json_each(?) AS asked CROSS JOIN memory_terms WHERE memory_id = asked.value',
    )
    .pluck()

  return {
    /**
     * Indexes new memories (their rows are written already) and renews the context of their neighbours.
     * Returns the length of the terms that the scope gained.
     */
    add(scopeId: number, numbers: readonly number[]): number {
      const known: Known = new Map()
      const around = indexAll(scopeId, numbers, known)
      for (const number of numbers) around.delete(number)
      this.renew(scopeId, around, known)
      return this.length(numbers)
    },

    /** The neighbours of these memories within reach, which lose context when they go. */
    nearby(scopeId: number, numbers: readonly number[]): Set<number> {
      const found = new Set<number>()
      for (const number of numbers) {
        const row = read.get(number)
        if (row) for (const { row: other } of neighbours(scopeId, row)) found.add(other.memory_id)
      }
      for (const number of numbers) found.delete(number)
      return found
    },

    /** Writes speaker and time (`about`) anew after a memory's time has changed, and its neighbours' context. */
    move(scopeId: number, number: number, formerNeighbours: Iterable<number>): void {
      const row = read.get(number)!
      unindex.run(number)
      setAbout.run(aboutOf(row), number)
      index.run(number)
      this.renew(scopeId, new Set([number, ...formerNeighbours, ...this.nearby(scopeId, [number])]))
    },

    /**
     * Writes a memory's terms anew after its text, speaker, conversation or time has changed, and its neighbours' context.
     * Returns the length of the terms that the scope gained; below 0 when it lost some.
     */
    rewrite(scopeId: number, number: number, formerNeighbours: Iterable<number>): number {
      const row = read.get(number)!
      const known: Known = new Map()
      const before = this.length([number])
      const around = neighbours(scopeId, row)
      unindex.run(number)
      setTerms.run(analysed(row, known).terms, aboutOf(row), number)
      setContext.run(contextOf(row, around, known), number)
      index.run(number)
      this.renew(scopeId, new Set([...formerNeighbours, ...around.map((near) => near.row.memory_id)]), known)
      return this.length([number]) - before
    },

    /** Writes the context of memories anew. */
    renew(scopeId: number, numbers: Iterable<number>, known: Known = new Map()): void {
      for (const number of numbers) {
        const row = read.get(number)
        if (!row) continue
        const context = contextOf(row, neighbours(scopeId, row), known)
        if (context === readContext.get(number)) continue
        unindex.run(number)
        setContext.run(context, number)
        index.run(number)
      }
    },

    /** Takes memories out of the index; their terms go with their rows, which are there still. */
    remove(numbers: readonly number[]): void {
      for (const number of numbers) unindex.run(number)
    },

    /** How long the terms of these memories are together, in characters. */
    length(numbers: readonly number[]): number {
      return totalLength.get(JSON.stringify(numbers))!
    },
  }

  /** Indexes memories that are not indexed yet; returns the numbers of their neighbours. */
  function indexAll(scopeId: number, numbers: readonly number[], known: Known): Set<number> {
    const found = new Set<number>()
    for (const number of numbers) {
      const row = read.get(number)!
      const around = neighbours(scopeId, row)
      for (const { row: other } of around) found.add(other.memory_id)
      insertTerms.run(number, analysed(row, known).terms, aboutOf(row), contextOf(row, around, known))
      index.run(number)
    }
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
