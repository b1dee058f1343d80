import type { AccountStore, LiveSession } from '../../accounts/users.ts'

/**
 * Keeps live logins for as long as the mark of the accounts stays the same: a request that finds its own costs no query
 * and is answered synchronously. A login that was read while the mark changed is not kept.
 */
export function createSessionCache(
  mark: () => string | undefined,
  read: AccountStore['session'],
): AccountStore['session'] {
  let live = new Map<string, LiveSession>()
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
    const keep = (session: LiveSession | undefined) => {
      if (session && at !== undefined && live === before && mark() === at) live.set(id, session)
      return session
    }
    const found = read(id)
    return found instanceof Promise ? found.then(keep) : keep(found)
  }
}
