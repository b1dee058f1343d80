import { type ApiKeys, type Logins, type MaybePromise, whenThere } from '../accounts/accounts.ts'
import { AppError } from '../errors.ts'
import { Bag, type Kept } from '../process/process.ts'

/** How often the logins and keys of open streams are checked: milliseconds. Another process may have ended one. */
const intervalMs = 1000

/** The credential of a long answer: the id of a login, or the digest of an API key's secret. */
export type Credential = { readonly session: string } | { readonly key: string }

interface Watched {
  readonly credential: Credential
  readonly ended: (reason: AppError) => void
  isWatched: boolean
}

/**
 * Watches the logins and API keys of long answers. The returned function calls back once, with the reason, when the
 * credential ends: a login by logout, a new password, a new role, removal or expiry; a key by revocation, rotation, expiry
 * or the removal of its owner. At once when this process ended it, within a second otherwise. Its result stops watching.
 */
export function watchLogins(
  logins: Logins,
  keys: ApiKeys,
): (credential: Credential, ended: (reason: AppError) => void) => () => void {
  const watched = new Bag<Watched>()
  let timer: NodeJS.Timeout | undefined
  logins.onEnd(sweep)
  keys.onEnd(sweep)

  return (credential, ended) => {
    const kept = watched.add({ credential, ended, isWatched: true })
    timer ??= setInterval(sweep, intervalMs).unref()
    return () => {
      leave(kept)
      if (watched.size > 0) return
      clearInterval(timer)
      timer = undefined
    }
  }

  function sweep(): void {
    for (const entry of watched.items()) {
      if (!entry.isWatched) continue
      try {
        const reason = endOf(entry.credential)
        if (reason instanceof Promise) reason.then((found) => end(entry, found)).catch(() => undefined)
        else end(entry, reason)
      } catch {
        // A storage that cannot be asked tells nothing about the credential: the next sweep asks again.
      }
    }
  }

  function endOf(credential: Credential): MaybePromise<AppError | undefined> {
    if ('key' in credential) return keys.endOf(credential.key)
    return whenThere(logins.expiryOf(credential.session), (expiry) =>
      expiry === undefined ? new AppError('unauthenticated', 'The login has ended') : undefined,
    )
  }

  /** Calls back for a credential that has ended, once and only while it is watched. */
  function end(entry: Watched, reason: AppError | undefined): void {
    if (!reason || !entry.isWatched) return
    entry.isWatched = false
    entry.ended(reason)
  }

  function leave(kept: Kept<Watched>): void {
    kept.item.isWatched = false
    watched.remove(kept)
  }
}
