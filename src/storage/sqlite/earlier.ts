import { lookOf } from '../../accounts/accounts.ts'
import { termsOf, withoutSecondL } from '../../personas/personas.ts'
import type { Database } from './connection.ts'
import { indexAll } from './conversations-text.ts'
import { countLore } from './lore-triggers.ts'
import { beginRevisions } from './revision-triggers.ts'
import { countUsage } from './usage-triggers.ts'

/** The conversion of rows that a build before the change of this name wrote. Missing tables and columns are added apart. */
interface Conversion {
  readonly change: string
  /** Runs before the present tables are made. */
  readonly before?: (db: Database) => void
  /** Runs when they are there, without triggers. */
  readonly after?: (db: Database, now: number) => void
}

/** The conversions that a database needs with these changes of its schema applied; none for a new one, and since `schema-1`. */
export function conversionsFor(applied: ReadonlySet<string>): readonly Conversion[] {
  const isNeeded = applied.size > 0 && ![...applied].some((name) => name.startsWith('schema-'))
  return isNeeded ? conversions.filter(({ change }) => !applied.has(change)) : []
}

/** In this order; the oldest build that is known here is of 21 November 2026. This list ends: later columns have defaults. */
const conversions: readonly Conversion[] = [
  { change: 'accounts-2', after: writeLooks },
  {
    change: 'adaptations-2',
    before: (db) => db.exec('ALTER TABLE adaptation RENAME TO earlier_adaptation'),
    after: (db) =>
      db.exec(`
        INSERT INTO adaptation_log (persona_id) SELECT DISTINCT persona_id FROM earlier_adaptation;
        INSERT INTO adaptation (log_id, sequence, id, idempotency_key, record)
          SELECT log_id, sequence, id, idempotency_key, record
            FROM earlier_adaptation JOIN adaptation_log USING (persona_id) ORDER BY log_id, sequence;
        DROP TABLE earlier_adaptation;`),
  },
  {
    change: 'memories-3',
    after(db, now) {
      // When an earlier memory was stored is unknown: its days begin with this change, since an imported one may be far
      // older than it has been here. See worthOf().
      db.prepare('UPDATE memory SET stored_at = ?, worth = timestamp / 2592000000.0 + log2(importance + 0.1)').run(now)
      tidyTerms(db)
    },
  },
  { change: 'memories-5', after: renewTerms },
  { change: 'usage-1', after: (db) => db.exec(countUsage) },
  { change: 'revisions-1', after: (db) => db.exec(beginRevisions) },
  { change: 'lore-1', after: (db) => db.exec(countLore) },
  { change: 'conversations-5', after: indexAll },
]

/** Writes the look of each name. */
function writeLooks(db: Database): void {
  const write = db.prepare<[string, string]>('UPDATE user SET username_look = ? WHERE id = ?')
  const users = db.prepare<[], { id: string; username: string }>('SELECT id, username FROM user').all()
  for (const { id, username } of users) write.run(lookOf(username), id)
}

interface TermsRow {
  readonly memory_id: number
  readonly terms: string
  readonly about: string
  readonly context: string
}

/**
 * Brings terms of the first versions to those of today's queries: none is empty, and step 5b of the stemmer follows 5a. Only
 * rows that may hold such a term are looked at, some at a time.
 */
function tidyTerms(db: Database): void {
  const doubtful = ['terms', 'about', 'context']
    .map(
      (column) =>
        `instr(${column} || ' ', 'll ') OR instr(${column}, 'll' || char(10)) OR instr(' ' || ${column} || ' ', '  ')`,
    )
    .join(' OR ')
  const next = db.prepare<[number], TermsRow>(
    `SELECT memory_id, terms, about, context FROM memory_terms WHERE memory_id > ? AND (${doubtful})
      ORDER BY memory_id LIMIT 500`,
  )
  const rewrite = createRewriter(db)
  for (let rows = next.all(0); rows.length > 0; rows = next.all(rows.at(-1)!.memory_id))
    for (const row of rows) {
      const terms = tidy(row.terms)
      const about = tidy(row.about)
      const context = row.context.split('\n').map(tidyLine).join('\n')
      if (terms !== row.terms || about !== row.about || context !== row.context) rewrite(row, { terms, about, context })
    }
}

/**
 * Makes the terms of memories again where words are read differently now: elided ones are apart (l'hôtel), and "lives"
 * is the verb. The context of their neighbours follows with the next write next to them.
 */
function renewTerms(db: Database): void {
  const next = db.prepare<[number], TermsRow & { readonly content: string }>(
    `SELECT memory_id, content, terms, about, context FROM memory_terms JOIN memory USING (memory_id)
      WHERE memory_id > ? AND (instr(content, '''') OR instr(content, '’') OR instr(lower(content), 'lives'))
      ORDER BY memory_id LIMIT 500`,
  )
  const rewrite = createRewriter(db)
  for (let rows = next.all(0); rows.length > 0; rows = next.all(rows.at(-1)!.memory_id))
    for (const { content, ...row } of rows) {
      const terms = termsOf(content).join(' ')
      if (terms !== row.terms) rewrite(row, { ...row, terms })
    }
}

/** Writes the terms of a memory again, in the full-text index and in the length of its scope too. */
function createRewriter(db: Database) {
  const unindex = db.prepare('DELETE FROM memory_text WHERE rowid = ?')
  const update = db.prepare('UPDATE memory_terms SET terms = ?, about = ?, context = ? WHERE memory_id = ?')
  const index = db.prepare(
    `INSERT INTO memory_text (rowid, content, about, context)
       SELECT memory_id, content, about, context FROM memory_indexed WHERE memory_id = ?`,
  )
  const lengthen = db.prepare('UPDATE memory_scope SET length = length + ? WHERE scope_id = ? >> 24')
  return (before: TermsRow, { terms, about, context }: Omit<TermsRow, 'memory_id'>) => {
    const { memory_id } = before
    // The index reads the terms of a removed row through its view: it is unindexed before they change.
    unindex.run(memory_id)
    update.run(terms, about, context, memory_id)
    index.run(memory_id)
    lengthen.run(terms.length - before.terms.length, memory_id)
  }
}

function tidy(terms: string): string {
  return terms.split(' ').filter(Boolean).map(withoutSecondL).join(' ')
}

/** A line of context begins with its mark, see writeContext(). */
function tidyLine(line: string): string {
  const mark = line.indexOf(' ')
  return mark < 0 ? line : `${line.slice(0, mark)} ${tidy(line.slice(mark + 1))}`
}
