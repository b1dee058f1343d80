import { statementsOf, type TableStatements } from '../schema/statements.ts'
import { formerTables } from '../schema/tables.ts'
import { schemaName } from '../schema/version.ts'
import type { Database } from './connection.ts'
import { conversionsFor } from './earlier.ts'
import { loreTriggers } from './lore-triggers.ts'
import { revisionTriggers } from './revision-triggers.ts'
import { usageTriggers } from './usage-triggers.ts'

/**
 * The full-text indexes. Both hold the terms that this program makes, so the tokenizer only has to part them again: for the
 * one named ascii every character beyond ASCII belongs to a term, in any version of Unicode. secure-delete takes removed terms
 * out of the index at once.
 */
const textIndexes: Readonly<Record<string, string>> = {
  memory_text: `
    CREATE VIRTUAL TABLE memory_text USING fts5 (
      content, about, context,
      content = 'memory_indexed',
      content_rowid = 'memory_id',
      tokenize = 'ascii',
      detail = column
    )`,
  // It holds its own text, since a removed message must leave it at once.
  conversation_text: `
    CREATE VIRTUAL TABLE conversation_text USING fts5 (reader, terms, tokenize = 'ascii', prefix = '1 2 3')`,
}

/**
 * The index of memories reads their terms through a view that puts the scope's number before each: every scope has posting
 * lists of its own. A search then touches no others, whereas stepping over those of 2,000 other scopes took four milliseconds,
 * and no statement can match beyond its scope even by mistake. The dot in the middle ends the number, since no term holds one.
 */
const indexedMemories = `
  CREATE VIEW memory_indexed AS
    SELECT memory_id, mark || replace(terms, ' ', ' ' || mark) AS content,
      mark || replace(about, ' ', ' ' || mark) AS about, replace(context, ' ', ' ' || mark) AS context
    FROM (SELECT *, (memory_id >> 24) || '·' AS mark FROM memory_terms)`

/** A removed message leaves the index with its row. */
const textTriggers = `
  CREATE TRIGGER conversation_text_removed AFTER DELETE ON conversation_message WHEN old.text_id IS NOT NULL
    BEGIN DELETE FROM conversation_text WHERE rowid = old.text_id; END;`

/** The statement that has an index forget removed terms. */
function securely(name: string): string {
  return `INSERT INTO ${name} (${name}, rank) VALUES ('secure-delete', 1)`
}

/** The newest of these rows are kept: failed logins must not fill a disk, nor push out a refusal. */
const bounds = Object.entries({ audit: 100_000, login_failure: 50_000, login_refusal: 50_000 })
  .map(
    ([table, rows]) => `
    CREATE TRIGGER ${table}_bound AFTER INSERT ON ${table} BEGIN
      DELETE FROM ${table} WHERE id <= new.id - ${rows};
    END;`,
  )
  .join('')

/** All triggers; each works in the statement of the program that writes, of any program. */
const triggers = [bounds, usageTriggers, revisionTriggers, loreTriggers, textTriggers].join('')

/**
 * Brings a database of any earlier build, or an empty one, to the present schema. Expects a transaction. Triggers and views are
 * made again; tables, columns and indexes that are missing are added, those without use removed, and rows of earlier builds converted.
 */
export function bringUp(db: Database, applied: ReadonlySet<string>, now: number): void {
  db.exec('CREATE TABLE IF NOT EXISTS migration (name TEXT PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT')
  for (const { type, name } of objectsIn(db))
    if (type === 'trigger' || type === 'view') db.exec(`DROP ${type} "${name}"`)
  const conversions = conversionsFor(applied)
  for (const { before } of conversions) before?.(db)
  for (const name of formerTables) db.exec(`DROP TABLE IF EXISTS "${name}"`)
  const tables = statementsOf('sqlite')
  for (const table of tables) addTable(db, table)
  const found = new Map(objectsIn(db).map(({ name, sql }) => [name, sql]))
  addIndexes(db, tables, found)
  db.exec(indexedMemories)
  for (const [name, create] of Object.entries(textIndexes)) {
    if (found.has(name)) continue
    db.exec(create)
    db.exec(securely(name))
  }
  for (const { after } of conversions) after?.(db, now)
  db.exec(triggers)
  db.prepare('INSERT OR IGNORE INTO migration (name, applied_at) VALUES (?, ?)').run(schemaName, now)
}

function addTable(db: Database, { name, create, columns, fill }: TableStatements): void {
  const there = db.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck().all(name)
  if (there.length === 0) {
    db.exec(create)
    if (fill !== undefined) db.exec(fill)
    return
  }
  for (const [column, definition] of columns)
    if (!there.includes(column)) db.exec(`ALTER TABLE "${name}" ADD COLUMN ${definition}`)
}

/** Makes the indexes that are missing or other ones, and removes those that are no longer used. */
function addIndexes(db: Database, tables: readonly TableStatements[], found: ReadonlyMap<string, string>): void {
  const wanted = new Map(tables.flatMap(({ indexes }) => [...indexes]))
  for (const { type, name, sql } of objectsIn(db))
    if (type === 'index' && normalForm(wanted.get(name) ?? '') !== normalForm(sql)) {
      db.exec(`DROP INDEX "${name}"`)
      if (wanted.has(name)) db.exec(wanted.get(name)!)
    }
  for (const [name, create] of wanted) if (!found.has(name)) db.exec(create)
}

export interface SchemaObject {
  readonly type: 'table' | 'index' | 'view' | 'trigger'
  readonly name: string
  readonly sql: string
}

/**
 * All objects, but for the tables of SQLite itself, the indexes of constraints, and the tables in which full-text indexes keep
 * their data. Nothing is left out by its name alone: a trigger may have the name of one of these tables.
 */
export function objectsIn(db: Database): readonly SchemaObject[] {
  return db
    .prepare<[], SchemaObject>(
      `SELECT type, name, coalesce(sql, '') AS sql FROM sqlite_schema
        WHERE NOT (type = 'index' AND sql IS NULL)
          AND NOT (type = 'table' AND (name IN ('sqlite_sequence', 'sqlite_stat1', 'sqlite_stat4')
            OR name IN (SELECT shadow.name FROM pragma_table_list AS shadow WHERE shadow.type = 'shadow')))`,
    )
    .all()
}

/** A statement without comments, quotes of names, and the spaces that mean nothing; equal ones make the same object. */
export function normalForm(sql: string): string {
  return sql
    .replaceAll(/--[^\n]*/g, '')
    .replaceAll('"', '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([(),=]) ?/g, '$1')
    .trim()
}
