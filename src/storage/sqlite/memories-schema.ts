import { termsOf } from '../../personas/memory/ranking-terms.ts'
import { withoutSecondL } from '../../personas/memory/stem.ts'
import type { Database } from './connection.ts'
import type { Migration } from './migration.ts'

/** Later changes of the memories' schema; its first versions stand with the personas'. */
export const memoryMigrations: readonly Migration[] = [
  {
    name: 'memories-3',
    up: (db) => {
      // When an earlier memory was stored is unknown: its days begin with this change, since an imported one may be far
      // older than it has been here. `worth` says which goes first, see worthOf().
      db.exec(`
        ALTER TABLE memory ADD COLUMN stored_at INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE memory ADD COLUMN worth REAL NOT NULL DEFAULT 0;
      `)
      db.prepare('UPDATE memory SET stored_at = ?, worth = timestamp / 2592000000.0 + log2(importance + 0.1)').run(
        Date.now(),
      )
      // Pages are read in these orders, and expired memories are passed over without a look at the table.
      db.exec(`
        DROP INDEX memory_time;
        CREATE INDEX memory_time ON memory (scope_id, timestamp, memory_id, stored_at, pinned);
        CREATE INDEX memory_category ON memory (scope_id, category, timestamp, memory_id, stored_at, pinned);
        CREATE INDEX memory_age ON memory (scope_id, stored_at) WHERE pinned = 0;
        CREATE INDEX memory_worth ON memory (scope_id, worth, memory_id) WHERE pinned = 0;
        CREATE INDEX memory_pinned ON memory (scope_id) WHERE pinned = 1;
        CREATE INDEX conversation_of_persona ON conversation (persona_id) WHERE persona_id IS NOT NULL;
      `)
      tidyTerms(db)
    },
  },
  {
    name: 'memories-4',
    up: (db) =>
      db.exec(
        `CREATE INDEX memory_speaker ON memory (scope_id,
           (CASE json_type(metadata, '$.speaker') WHEN 'text' THEN metadata ->> '$.speaker' ELSE '' END),
           timestamp, memory_id, stored_at, pinned)`,
      ),
  },
  { name: 'memories-5', up: renewTerms },
]

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
 * Makes the terms of memories anew where words are read differently now: elided ones are apart (l'hôtel), and "lives"
 * is the verb. The context of their neighbours follows with the next write beside them.
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

/** Writes the terms of a memory anew, in the full-text index and in the length of its scope too. */
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
