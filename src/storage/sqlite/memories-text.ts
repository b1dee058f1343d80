import type { Neighbour } from '../../personas/memory.ts'
import { aboutTerms, gap, isQuestion, reach, readContext, writeContext } from '../../personas/ranking-index.ts'
import { inverseFrequency } from '../../personas/ranking-lexical.ts'
import { termsOf } from '../../personas/ranking-terms.ts'
import type { Database } from './database.ts'
import { type NumberRange, rangeOf } from './memories-scope.ts'

interface TextRow {
  memory_id: number
  content: string
  timestamp: number
  metadata: string
  conversation: string
}

export interface IndexedText {
  readonly memory_id: number
  readonly terms: string
  readonly about: string
  readonly around: readonly Neighbour[]
}

/** What the index says of a query before anything is ranked. */
export interface Postings {
  /** For each asked term: in how many memories' own text it stands. */
  readonly frequencies: readonly number[]
  /** The numbers of the memories that match best. */
  readonly best: readonly number[]
}

/** The full-text index of memories. Every method expects to run inside the caller's transaction. */
export function createTextIndex(db: Database) {
  const columns = 'memory_id, content, timestamp, metadata, conversation'
  const read = db.prepare<[number], TextRow>(`SELECT ${columns} FROM memory WHERE memory_id = ?`)
  const before = db.prepare<[number, string, number, number, number], TextRow>(
    `SELECT ${columns} FROM memory WHERE scope_id = ? AND conversation = ? AND (timestamp, memory_id) < (?, ?)
       AND timestamp >= ? ORDER BY timestamp DESC, memory_id DESC LIMIT ${reach}`,
  )
  const after = db.prepare<[number, string, number, number, number], TextRow>(
    `SELECT ${columns} FROM memory WHERE scope_id = ? AND conversation = ? AND (timestamp, memory_id) > (?, ?)
       AND timestamp <= ? ORDER BY timestamp, memory_id LIMIT ${reach}`,
  )
  const insert = db.prepare('INSERT INTO memory_text (rowid, content, about, context) VALUES (?, ?, ?, ?)')
  const setContext = db.prepare('UPDATE memory_text SET context = ? WHERE rowid = ? AND context <> ?')
  const remove = db.prepare('DELETE FROM memory_text WHERE rowid = ?')
  const removeRange = db.prepare('DELETE FROM memory_text WHERE rowid BETWEEN ? AND ?')
  // CROSS JOIN keeps the order: each term is looked up once, and only in the range of the scope.
  const lookUp = db
    .prepare<[string, number, number], [number, number]>(
      `SELECT asked.key, memory_text.rowid FROM json_each(?) AS asked CROSS JOIN memory_text
        WHERE memory_text MATCH asked.value AND memory_text.rowid BETWEEN ? AND ?`,
    )
    .raw()
  const fetch = db
    .prepare<[string], [number, string, string, string]>(
      `SELECT memory_text.rowid, content, about, context FROM json_each(?) AS asked
        CROSS JOIN memory_text WHERE memory_text.rowid = asked.value`,
    )
    .raw()

  return {
    /**
     * Indexes new memories (their rows are written already) and renews what stands around their neighbours.
     * Resolves with the length of the terms that the scope gained.
     */
    add(scopeId: number, numbers: readonly number[]): number {
      const fresh = new Set(numbers)
      const known: Known = new Map()
      const touched = new Set<number>()
      let gained = 0
      for (const number of numbers) {
        const row = read.get(number)!
        const around = neighbours(scopeId, row)
        for (const { row: other } of around) if (!fresh.has(other.memory_id)) touched.add(other.memory_id)
        const terms = analysed(row, known).terms
        gained += terms.length
        insert.run(number, terms, aboutOf(row), writeContext(around.map((near) => neighbour(near, known))))
      }
      this.renew(scopeId, touched, known)
      return gained
    },

    /** Who stands around these memories within reach: those whose context changes when they go. */
    nearby(scopeId: number, numbers: readonly number[]): Set<number> {
      const found = new Set<number>()
      for (const number of numbers) {
        const row = read.get(number)
        if (row) for (const { row: other } of neighbours(scopeId, row)) found.add(other.memory_id)
      }
      for (const number of numbers) found.delete(number)
      return found
    },

    /** Writes anew who said what, when (`about`) after a memory's time has changed, and its neighbours' context. */
    move(scopeId: number, number: number, formerNeighbours: Iterable<number>): void {
      const row = read.get(number)!
      db.prepare('UPDATE memory_text SET about = ? WHERE rowid = ?').run(aboutOf(row), number)
      this.renew(scopeId, new Set([number, ...formerNeighbours, ...this.nearby(scopeId, [number])]))
    },

    /** Writes the context of memories anew. */
    renew(scopeId: number, numbers: Iterable<number>, known: Known = new Map()): void {
      for (const number of numbers) {
        const row = read.get(number)
        if (!row) continue
        const context = writeContext(neighbours(scopeId, row).map((near) => neighbour(near, known)))
        setContext.run(context, number, context)
      }
    },

    remove(numbers: readonly number[]): void {
      for (const number of numbers) remove.run(number)
    },

    removeScope(scopeId: number): void {
      const { low, high } = rangeOf(scopeId)
      removeRange.run(low, high)
    },

    /** How long the terms of these memories are together. */
    length(numbers: readonly number[]): number {
      return fetch.all(JSON.stringify(numbers)).reduce((sum, [, content]) => sum + content.length, 0)
    },

    /** Looks all terms up in one statement. Terms hold letters, marks and digits only, so nothing needs quoting twice. */
    postings(scopeId: number, memories: number, terms: readonly string[], limit: number): Postings {
      const range = rangeOf(scopeId)
      const own = lookUpColumn('{content}', terms, range)
      const frequencies = terms.map((_, at) => own.get(at)?.length ?? 0)
      const scores = new Map<number, number>()
      const credit = (found: ReadonlyMap<number, readonly number[]>, share: number) => {
        for (const [at, numbers] of found) {
          const worth = share * inverseFrequency(memories, frequencies[at]!)
          for (const number of numbers) scores.set(number, (scores.get(number) ?? 0) + worth)
        }
      }
      credit(own, 1)
      credit(lookUpColumn('{about}', terms, range), 0.5)
      credit(lookUpColumn('{context}', terms, range), 0.4)
      const best = [...scores].sort((a, b) => b[1] - a[1] || b[0] - a[0]).slice(0, limit)
      return { frequencies, best: best.map(([number]) => number) }
    },

    texts(numbers: readonly number[]): IndexedText[] {
      return fetch.all(JSON.stringify(numbers)).map(([memory_id, content, about, context]) => ({
        memory_id,
        terms: content,
        about,
        around: readContext(context),
      }))
    },
  }

  function lookUpColumn(column: string, terms: readonly string[], { low, high }: NumberRange): Map<number, number[]> {
    const found = new Map<number, number[]>()
    const queries = JSON.stringify(terms.map((term) => `${column} : "${term}"`))
    for (const [at, number] of lookUp.iterate(queries, low, high)) {
      const numbers = found.get(at)
      if (numbers) numbers.push(number)
      else found.set(at, [number])
    }
    return found
  }

  function neighbours(scopeId: number, row: TextRow): Near[] {
    const { conversation, timestamp, memory_id } = row
    const earlier = before.all(scopeId, conversation, timestamp, memory_id, timestamp - gap)
    const later = after.all(scopeId, conversation, timestamp, memory_id, timestamp + gap)
    return [
      ...earlier.map((other, at) => ({ row: other, distance: -1 - at })),
      ...later.map((other, at) => ({ row: other, distance: 1 + at })),
    ]
  }
}

export type TextIndex = ReturnType<typeof createTextIndex>

interface Near {
  readonly row: TextRow
  readonly distance: number
}

type Known = Map<number, { readonly terms: string; readonly question: boolean }>

/** A memory's terms, made once per write however many neighbours it has. */
function analysed(row: TextRow, known: Known) {
  const seen = known.get(row.memory_id) ?? { terms: termsOf(row.content).join(' '), question: isQuestion(row.content) }
  known.set(row.memory_id, seen)
  return seen
}

function neighbour({ row, distance }: Near, known: Known): Neighbour {
  return { distance, ...analysed(row, known) }
}

function aboutOf(row: TextRow): string {
  return aboutTerms({ timestamp: row.timestamp, metadata: JSON.parse(row.metadata) })
}
