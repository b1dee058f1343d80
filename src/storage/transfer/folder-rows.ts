import type { IndexedText } from '../port/memory-index.ts'
import { blockOf, changeBlock, indexedTerm } from '../postgres/memories-blocks.ts'
import { termsIn } from '../postgres/memories-postings.ts'
import { ofLiveScope } from '../schema/live-rows.ts'
import { movedColumns, type SqliteRow } from '../schema/table.ts'
import type { MovedTable } from '../schema/tables.ts'
import { width } from '../shared/memory-scope.ts'
import type { Database } from '../sqlite/connection.ts'
import { backupFileRows, readBackupParts } from './backup-parts.ts'
import { activePluginRows, pluginRows } from './plugin-files.ts'

/**
 * A data folder as a side of a transfer: its database, locked against changes meanwhile, and the folders of its files.
 */
export interface FolderSide {
  readonly db: Database
  readonly plugins: string
  /** Of personas. */
  readonly backups: string
}

/** The rows of a table, read one after another; undefined where the event loop may run before the next. */
export function rowsIn(side: FolderSide, table: MovedTable): Iterable<SqliteRow | undefined> {
  if (table.only !== 'postgres') return side.db.prepare<[], SqliteRow>(selectOf(table)).iterate()
  switch (table.name) {
    case 'plugin':
      return pluginRows(side.plugins)
    case 'plugin_active':
      return activePluginRows(side.plugins)
    case 'persona_backup_file':
      return backupFileRows(side.db, side.backups)
    case 'persona_backup_part':
      return readBackupParts(side.db, side.backups)
    default:
      return postingRows(side.db)
  }
}

function selectOf(table: MovedTable): string {
  const { name, sqlite = name, reads = {}, where = 'TRUE' } = table
  const wanted = movedColumns(table).flatMap(([column, { sqlite: own, expression, derived }]) =>
    derived ? [] : [`${expression ?? (own === 'rowid' ? own : `"${own ?? column}"`)} AS "${column}"`],
  )
  const more = Object.entries(reads).map(([column, expression]) => `${expression} AS "${column}"`)
  return `SELECT ${[...wanted, ...more].join(', ')} FROM "${sqlite}" WHERE ${where}`
}

interface TermsRow extends IndexedText {
  readonly memory_id: number
}

/** Memories that are read in one turn of the event loop for their terms. */
const memoriesAtOnce = 100

/** Terms of a block whose lists are written in one turn. */
const termsAtOnce = 1000

type Sets = Map<string, { readonly own: number[]; readonly around: number[] }>

/**
 * PostgreSQL's full-text index, made of the terms that SQLite keeps: one block of memories after another, so that no more than
 * those of one are in memory; undefined where the event loop may run.
 */
function* postingRows(db: Database): Generator<SqliteRow | undefined> {
  const rows = db.prepare<[], TermsRow>(
    `SELECT memory_id, terms, about, context FROM memory_terms WHERE ${ofLiveScope} ORDER BY memory_id`,
  )
  let place: { readonly scope: number; readonly block: number } | undefined
  let sets: Sets = new Map()
  let read = 0
  for (const row of rows.iterate()) {
    if (++read % memoriesAtOnce === 0) yield undefined
    const number = row.memory_id % width
    const scope = (row.memory_id - number) / width
    const block = blockOf(number)
    if (place && (place.scope !== scope || place.block !== block)) {
      yield* rowsOf(place, sets)
      sets = new Map()
    }
    place = { scope, block }
    const { own, around } = termsIn(row)
    for (const term of own) setsOf(sets, term).own.push(number)
    for (const term of around) setsOf(sets, term).around.push(number)
  }
  if (place) yield* rowsOf(place, sets)
}

function setsOf(sets: Sets, asked: string) {
  const term = indexedTerm(asked)
  const known = sets.get(term)
  if (known) return known
  const fresh = { own: [], around: [] }
  sets.set(term, fresh)
  return fresh
}

function* rowsOf({ scope, block }: { scope: number; block: number }, sets: Sets): Generator<SqliteRow | undefined> {
  let read = 0
  for (const [term, { own, around }] of sets) {
    if (read++ % termsAtOnce === 0) yield undefined
    yield { scope_id: scope, block, term, own: written(own), around: written(around) }
  }
}

function written(numbers: readonly number[]): Buffer {
  return changeBlock(undefined, { added: numbers, removed: [] })
}
