import { goesOn } from './removal.ts'
import type { Database } from './sql.ts'

/**
 * Has the server free the rows that were removed from these tables, in the background. It may take too long, wait behind a
 * reader of another process or be refused: the server's own vacuum does it later.
 */
export function vacuum(db: Database, tables: readonly string[]): void {
  if (goesOn(db)) db.run(`VACUUM (SKIP_LOCKED) ${tables.join(', ')}`).catch(() => {})
}
