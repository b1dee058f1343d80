/**
 * A value: texts, numbers, lists of different terms for `tsvector`, and bytes as SQLite keeps them, with vectors as
 * little-endian float32.
 */
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

/** A row as SQLite gives it, by the names of `columns`. */
export type SqliteRow = Readonly<Record<string, Value>>

/** A column of a table in PostgreSQL, and where its values come from in SQLite. */
export interface Column {
  readonly type: ColumnType
  /** SQLite's column, where it has another name there. */
  readonly sqlite?: string
  /** An expression of SQLite, for a column that is not there. */
  readonly expression?: string
  /** Computed from the row, for a column that SQLite does not have. */
  readonly derived?: (row: SqliteRow) => Value
  /** Follows from other columns in another way on each side: not compared. */
  readonly compared?: false
}

/** A table that both databases have, as a transfer moves it. */
export interface TransferTable {
  /** Its name in PostgreSQL. */
  readonly name: string
  /** Its name in SQLite, where that is another one. */
  readonly sqlite?: string
  /** Its rows in words, such as `memories`. */
  readonly rows: string
  readonly columns: Readonly<Record<string, Column>>
  /** The unique columns by which rows are put in order; the same order on both sides. */
  readonly order: string
  /** SQL of both databases for the rows that are not on their way out. */
  readonly where?: string
  /** Columns that SQLite alone has, computed from the row. */
  readonly sqliteOnly?: Readonly<Record<string, (row: SqliteRow) => Value>>
  /** More expressions of SQLite by their names, which `derived` needs. */
  readonly reads?: Readonly<Record<string, string>>
  /** Kept in files of the data folder, and in no table there; or made anew on each side. */
  readonly isInFiles?: true
  /** Has rows in a new database. */
  readonly isNeverEmpty?: true
}

/** The columns that must be equal on both sides. */
export function comparedColumns({ columns }: TransferTable): readonly [string, Column][] {
  return Object.entries(columns).filter(([, { compared }]) => compared !== false)
}

/** Columns of these types, which have the same names in both databases. */
export function plain(type: ColumnType, names: string): Record<string, Column> {
  return Object.fromEntries(names.split(' ').map((name) => [name, { type }]))
}
