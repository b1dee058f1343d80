import type BetterSqlite3 from 'better-sqlite3'

/** An open database, as the stores take it. */
export type Database = BetterSqlite3.Database
