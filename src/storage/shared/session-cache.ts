import type { MaybePromise } from '../../accounts/accounts.ts'
import type { Grace } from './changes.ts'

/** Logins and keys that may go on while the database is away: beyond, the one that was checked first goes. */
const mostGraced = 10_000

/** A row as it was checked last; milliseconds of the grace's clock. */
interface Checked<Row> {
  readonly row: Row
  at: number
}

/**
 * Keeps live logins, or API keys, for as long as the mark of the accounts stays the same: a request that finds its own costs
 * no query and is answered synchronously. A row that was read while the mark changed is not kept. With a grace, a row that was
 * used or read within it answers while the database is away.
 */
export function createSessionCache<Row extends object>(
  mark: () => string | undefined,
  read: (id: string) => MaybePromise<Row | undefined>,
  grace?: Grace,
): (id: string) => MaybePromise<Row | undefined> {
  let live = new Map<string, Checked<Row>>()
  let at: string | undefined
  const checked = new Map<string, Checked<Row>>()

  return (id) => {
    const now = mark()
    if (now === undefined || now !== at) {
      live = new Map()
      at = now
    }
    const known = live.get(id)
    if (known) {
      if (grace) known.at = grace.answeredAt()
      return known.row
    }
    const graced = grace?.isAway() ? gracedRow(id) : undefined
    if (graced) return graced
    const before = live
    const keep = (row: Row | undefined) => {
      const entry = row && { row, at: grace?.now() ?? 0 }
      if (entry && at !== undefined && live === before && mark() === at) live.set(id, entry)
      if (grace) remember(id, entry)
      return row
    }
    const found = read(id)
    if (!(found instanceof Promise)) return keep(found)
    if (!grace) return found.then(keep)
    return found.then(keep, (reason) => {
      const row = grace.forgives(reason) ? gracedRow(id) : undefined
      if (row) return row
      throw reason
    })
  }

  function gracedRow(id: string): Row | undefined {
    const entry = checked.get(id)
    return entry && grace!.now() - entry.at < grace!.ms ? entry.row : undefined
  }

  function remember(id: string, entry: Checked<Row> | undefined): void {
    checked.delete(id)
    if (!entry) return
    checked.set(id, entry)
    if (checked.size > mostGraced) checked.delete(checked.keys().next().value!)
  }
}
