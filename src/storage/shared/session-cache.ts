import type { MaybePromise } from '../../accounts/users.ts'

/**
 * Keeps live logins, or API keys, for as long as the mark of the accounts stays the same: a request that finds its own costs
 * no query and is answered synchronously. A row that was read while the mark changed is not kept.
 */
export function createSessionCache<Row extends object>(
  mark: () => string | undefined,
  read: (id: string) => MaybePromise<Row | undefined>,
): (id: string) => MaybePromise<Row | undefined> {
  let live = new Map<string, Row>()
  let at: string | undefined
  return (id) => {
    const now = mark()
    if (now === undefined || now !== at) {
      live = new Map()
      at = now
    }
    const known = live.get(id)
    if (known) return known
    const before = live
    const keep = (row: Row | undefined) => {
      if (row && at !== undefined && live === before && mark() === at) live.set(id, row)
      return row
    }
    const found = read(id)
    return found instanceof Promise ? found.then(keep) : keep(found)
  }
}
