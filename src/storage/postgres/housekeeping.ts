import type { Database } from './sql.ts'

const stopping = new WeakSet<Database>()

/** Has work in slices that can be done at the next start end with the slice that is under way: for a service that stops. */
export function deferCleanup(db: Database): void {
  stopping.add(db)
}

/** Whether work in slices may go on. */
export function goesOn(db: Database): boolean {
  return !stopping.has(db)
}

/**
 * Has the server free the rows that were removed from these tables, in the background. It may take too long, wait behind a
 * reader of another process or be refused: the server's own vacuum does it later.
 */
export function vacuum(db: Database, tables: readonly string[]): void {
  if (goesOn(db)) db.run(`VACUUM (SKIP_LOCKED) ${tables.join(', ')}`).catch(() => {})
}
