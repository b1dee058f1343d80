import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../errors.ts'
import { openDatabase as openPostgres } from '../postgres/connection.ts'
import { operatorFailure } from '../postgres/errors.ts'
import { schemaOf } from '../postgres/schema.ts'
import type { Database } from '../postgres/sql.ts'
import { vectorColumn } from '../postgres/vectors-column.ts'
import { type MovedTable, movedTables } from '../schema/tables.ts'
import { schemaName, unknownTo } from '../schema/version.ts'
import type { Database as Sqlite } from '../sqlite/connection.ts'
import { translated as sqliteTranslated } from '../sqlite/errors.ts'
import { openReader } from '../sqlite/reader.ts'

/** A database as an administrator looks at it. */
export interface DatabaseStatus {
  readonly kind: 'postgresql' | 'sqlite'
  /** Its place, without password. */
  readonly database: string
  /** Of the server, or of SQLite's library. */
  readonly version: string
  readonly schema: {
    /** Its last change. */
    readonly newest: string | null
    /** Changes that the next start makes. */
    readonly pending: number
    /** Changes of a newer aichat. */
    readonly unknown: readonly string[]
  }
  /** The installation that instances share; null for a data folder's. */
  readonly installation: string | null
  /** How vectors are kept. */
  readonly vectors: string
  /** On the disk, with its log where that is next to it. */
  readonly bytes: number
  readonly contents: readonly Content[]
}

interface Content {
  readonly rows: string
  readonly count: number
  /** On the disk; null where the database does not tell. */
  readonly bytes: number | null
}

/** Tables with rows that are of no interest to a reader. */
const unshown = /^(?:sums of|revisions|secrets|index|terms of|sketches|beginnings|names of|readers|parts|files|scopes)/

const shownTables = movedTables.filter(({ rows }) => !unshown.test(rows))

/** Looks at a PostgreSQL database; changes nothing there. */
export async function postgresStatus(url: string): Promise<DatabaseStatus> {
  const db = openPostgres(url)
  try {
    return await statusOf(db)
  } catch (reason) {
    throw operatorFailure(reason)
  } finally {
    await db.close()
  }
}

async function statusOf(db: Database): Promise<DatabaseStatus> {
  const facts = (await db.row<{ version: string; bytes: number; vector: string | null }>(
    `SELECT current_setting('server_version') AS version, pg_database_size(current_database()) AS bytes,
       (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS vector`,
  ))!
  const { applied, isPresent: isUsable } = await schemaOf(db)
  const installation = isUsable ? await db.row<{ id: string }>('SELECT id FROM installation') : undefined
  return {
    kind: 'postgresql',
    database: db.name,
    version: facts.version.split(' ')[0]!,
    schema: statusOfSchema(applied),
    installation: installation?.id ?? null,
    vectors:
      isUsable && (await vectorColumn(db)) === 'vector'
        ? `pgvector ${facts.vector ?? ''}`.trimEnd()
        : 'bytes, compared in aichat',
    bytes: facts.bytes,
    contents: isUsable ? await contentsIn(db) : [],
  }
}

async function contentsIn(db: Database): Promise<readonly Content[]> {
  const rows = await Promise.all(
    shownTables.map(({ name }) =>
      db.row<{ count: number; bytes: number }>(
        `SELECT count(*) AS count, pg_total_relation_size('${name}') AS bytes FROM ${name}`,
      ),
    ),
  )
  return shownTables.map(({ rows: words }, at) => ({ rows: words, ...rows[at]! }))
}

/** Looks at the database of a data folder; changes nothing there. Throws `not_found` where there is none. */
export function folderStatus(folder: string): DatabaseStatus {
  const database = join(folder, 'aichat.db')
  if (!existsSync(database)) throw new AppError('not_found', `There is no database in ${folder} yet`)
  let db: Sqlite | undefined
  try {
    db = openReader(database)
    const applied = db.prepare<[], string>('SELECT name FROM migration ORDER BY rowid').pluck().all()
    return {
      kind: 'sqlite',
      database,
      version: db.prepare<[], string>('SELECT sqlite_version()').pluck().get()!,
      schema: statusOfSchema(applied),
      installation: null,
      vectors: 'bytes, compared in aichat',
      bytes: [database, `${database}-wal`].reduce(
        (sum, path) => sum + (statSync(path, { throwIfNoEntry: false })?.size ?? 0),
        0,
      ),
      contents: shownTables.flatMap((table) => contentOf(db!, table)),
    }
  } catch (reason) {
    throw sqliteTranslated(reason)
  } finally {
    db?.close()
  }
}

/** An older schema may lack the table; plugins are files. */
function contentOf(db: Sqlite, { name, sqlite = name, rows, only }: MovedTable): readonly Content[] {
  const there = db.prepare<[string], 1>(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?`).pluck()
  if (only === 'postgres' || !there.get(sqlite)) return []
  const count = db.prepare<[], number>(`SELECT count(*) FROM "${sqlite}"`).pluck().get()!
  return [{ rows, count, bytes: null }]
}

function statusOfSchema(applied: readonly string[]): DatabaseStatus['schema'] {
  const unknown = unknownTo(applied)
  const known = applied.filter((name) => !unknown.includes(name))
  return { newest: known.at(-1) ?? null, pending: applied.includes(schemaName) ? 0 : 1, unknown }
}
