import BetterSqlite3 from 'better-sqlite3'
import type { Database } from './connection.ts'

/** A connection that only reads, in addition to the one that writes in this process or another. */
export function openReader(path: string): Database {
  return new BetterSqlite3(path, { readonly: true, fileMustExist: true, timeout: 5000 })
}

/** A connection for work that lets no other process in; it waits half a second for others. */
export function openAlone(path: string): Database {
  return new BetterSqlite3(path, { fileMustExist: true, timeout: 500 })
}
