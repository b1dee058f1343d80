import type { Neighbour } from '../../personas/memory.ts'
import { aboutTerms, gap, isQuestion, reach, readContext, writeContext } from '../../personas/ranking-index.ts'
import { inverseFrequency } from '../../personas/ranking-lexical.ts'
import { termsOf } from '../../personas/ranking-terms.ts'
import type { Database } from './database.ts'
import { rangeOf } from './memories-scope.ts'

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
  const countMatches = db
    .prepare<[number, number, string], number>(
      `SELECT (SELECT count(*) FROM memory_text WHERE memory_text MATCH asked.value AND rowid BETWEEN ? AND ?)
         FROM json_each(?) AS asked ORDER BY asked.key`,
    )
    .pluck()
  // CROSS JOIN keeps the order: each term is looked up once, and only in the range of the scope.
  const bestMatches = db
    .prepare<[string, number, number, number], number>(
      `WITH asked (term, worth) AS MATERIALIZED (SELECT value ->> 0, value ->> 1 FROM json_each(?))
       SELECT memory_text.rowid FROM asked CROSS JOIN memory_text
        WHERE memory_text MATCH asked.term AND memory_text.rowid BETWEEN ? AND ?
        GROUP BY memory_text.rowid ORDER BY sum(asked.worth) DESC, memory_text.rowid DESC LIMIT ?`,
    )
    .pluck()
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

    /**
     * Counts the terms in the scope, then gathers the memories whose terms, and those around them, are worth most together.
     * Terms hold letters, marks and digits only, so that within quotes none of them means anything to MATCH.
     */
    postings(scopeId: number, memories: number, terms: readonly string[], limit: number): Postings {
      const { low, high } = rangeOf(scopeId)
      const within = (column: string) => terms.map((term) => `{${column}} : "${term}"`)
      const frequencies = countMatches.all(low, high, JSON.stringify(within('content')))
      const worth = frequencies.map((frequency) => inverseFrequency(memories, frequency))
      const weighed = (column: string, share: number) =>
        within(column).flatMap((term, at) =>
          column === 'context' && frequencies[at]! > commonTerm ? [] : [[term, share * worth[at]!]],
        )
      const asked = [...weighed('content', 1), ...weighed('about', 0.5), ...weighed('context', 0.4)]
      return { frequencies, best: bestMatches.all(JSON.stringify(asked), low, high, limit) }
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

/** What stands around memories with a term as common as this chooses none of them, and would be long to gather. */
const commonTerm = 2000

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
