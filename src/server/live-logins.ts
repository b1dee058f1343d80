import type { Logins } from '../accounts/logins.ts'

/** How often the logins of open streams are checked: milliseconds. Another process may have ended one. */
const intervalMs = 1000

interface Watched {
  readonly session: string
  readonly ended: () => void
}

/**
 * Watches the logins of long answers. The returned function calls back once when its login ends, by logout, a new password,
 * a new role, removal or expiry: at once when this process ended it, within a second otherwise. Its result stops watching.
 */
export function watchLogins(logins: Logins): (session: string, ended: () => void) => () => void {
  const watched = new Set<Watched>()
  let timer: NodeJS.Timeout | undefined
  logins.onEnd(sweep)

  return (session, ended) => {
    const entry = { session, ended }
    watched.add(entry)
    timer ??= setInterval(sweep, intervalMs).unref()
    return () => {
      watched.delete(entry)
      if (watched.size > 0) return
      clearInterval(timer)
      timer = undefined
    }
  }

  function sweep(): void {
    for (const entry of [...watched]) {
      const expiry = logins.expiryOf(entry.session)
      if (expiry instanceof Promise) {
        // A storage that cannot be asked tells nothing about the login: the next sweep asks again.
        expiry.then((found) => end(entry, found)).catch(() => undefined)
      } else end(entry, expiry)
    }
  }

  /** Calls back for a login that has ended, once and only while it is watched. */
  function end(entry: Watched, expiry: number | undefined): void {
    if (expiry === undefined && watched.delete(entry)) entry.ended()
  }
}
