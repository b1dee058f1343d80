/** Texts, numbers, lists of terms for `tsvector`, bytes as SQLite keeps them, vectors as little-endian float32. */
export type Value = string | number | boolean | Uint8Array | readonly string[] | null

/** The types of columns in PostgreSQL; `vector` is bytea where the extension is not there. */
export type ColumnType =
  | 'text'
  | 'int2'
  | 'int4'
  | 'int8'
  | 'float8'
  | 'bool'
  | 'bytea'
  | 'varbit'
  | 'vector'
  | 'tsvector'
  | 'timestamptz'
  | 'numeric'

/** A row as SQLite gives it, by the names of `columns`. */
export type SqliteRow = Readonly<Record<string, Value>>

/** A column of a table. What is not said to be of one database holds for both. */
export interface Column {
  readonly type: ColumnType
  /** Whether it may be NULL; in PostgreSQL alone for `postgres`. */
  readonly isOptional?: boolean | 'postgres'
  readonly default?: string | number | boolean
  /** In SQLite alone for `sqlite`. */
  readonly isUnique?: true | 'sqlite'
  /** A condition in the SQL of both databases. PostgreSQL needs none for `bool`. */
  readonly check?: string
  /** The key, as `persona.id`, of a row with which this one is removed. */
  readonly goesWith?: string
  /** The key of a row that must be there. */
  readonly refersTo?: string
  /** PostgreSQL numbers new rows. SQLite does so for each table with one number as its key. */
  readonly isNumbered?: true
  /** Numbers of removed rows are never used again in SQLite, as in PostgreSQL. */
  readonly isNeverReused?: true
  /** The database that alone has the column. */
  readonly only?: 'sqlite' | 'postgres'
  /** The end of its definition in PostgreSQL. */
  readonly postgres?: string

  /** SQLite's column, where it has another name there. */
  readonly sqlite?: string
  /** An expression of SQLite, for a column that is not there. */
  readonly expression?: string
  /** Computed from the row of SQLite, for a column that is not there; for one of SQLite alone, from that of PostgreSQL. */
  readonly derived?: (row: SqliteRow) => Value
  /** Follows from other columns in another way on each side: a transfer does not compare it. */
  readonly compared?: false
}

/** An index: the columns and what follows them, in both databases or by database. */
export type Index = string | { readonly sqlite?: string; readonly postgres?: string }

/**
 * A table of both databases. Their schemas are made of this description, a transfer moves its rows by it, `db check` reads
 * them, and a backup is compared with it. A new column is added here, with a default or optional, and `schemaVersion` is raised.
 */
export interface Table {
  /** Its name in PostgreSQL. */
  readonly name: string
  /** Its name in SQLite, where that is another one. */
  readonly sqlite?: string
  /** The database that alone has the table. The rows of one that is moved are files in a data folder. */
  readonly only?: 'sqlite' | 'postgres'
  readonly columns: Readonly<Record<string, Column>>
  /** The columns of the primary key; none for a table without. */
  readonly key?: string
  /** More lists of columns that are unique together. */
  readonly unique?: readonly string[]
  readonly indexes?: Readonly<Record<string, Index>>
  readonly uniqueIndexes?: Readonly<Record<string, Index>>
  /** In SQLite the rows are in the order of the key. */
  readonly isWithoutRowid?: true
  /** The share of a page that PostgreSQL fills at first, in per cent, for rows that change often. */
  readonly fillfactor?: number
  /** Made apart in PostgreSQL: see vectors-table.ts. */
  readonly isMadeApart?: true
  /** The values of its first row, or rows, in a new database. */
  readonly firstRows?: string

  /** Its rows in words, such as `memories`; none where a transfer does not move them. */
  readonly rows?: string
  /** SQL of both databases for the rows that are not on their way out. */
  readonly where?: string
  /** More expressions of SQLite by their names, which `derived` needs. */
  readonly reads?: Readonly<Record<string, string>>
}

/** Columns of these types, which are never NULL. */
export function required(type: ColumnType, names: string): Record<string, Column> {
  return Object.fromEntries(names.split(' ').map((name) => [name, { type }]))
}

/** Columns of these types, which may be NULL. */
export function optional(type: ColumnType, names: string): Record<string, Column> {
  return Object.fromEntries(names.split(' ').map((name) => [name, { type, isOptional: true }]))
}

/** The columns that a transfer moves, by their names in PostgreSQL. */
export function movedColumns({ columns }: Table): readonly [string, Column][] {
  return Object.entries(columns).filter(([, { only }]) => only === undefined)
}

/** The columns that SQLite has, by their names there. */
export function sqliteColumns({ columns }: Table): readonly [string, Column][] {
  return Object.entries(columns).flatMap(([name, column]): [string, Column][] => {
    const { only, expression, derived, sqlite = name } = column
    if (only === 'sqlite') return [[name, column]]
    const isAbsent = only === 'postgres' || expression !== undefined || derived !== undefined || sqlite === 'rowid'
    return isAbsent ? [] : [[sqlite, column]]
  })
}
