import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../errors.ts'
import { chooseStorage, createKeychain, type Keychain } from '../keychain/keychain.ts'
import type { Settings } from '../settings/settings.ts'
import { openSecretFile, replaceFile, whileLocked } from '../storage/storage.ts'

/** A saved login: everything but its token, which is kept in `storage`. */
export interface SavedLogin {
  /** The server's address, without a slash at its end. */
  readonly server: string
  readonly username: string
  /** Milliseconds since 1970 UTC. */
  readonly expires_at: number
  readonly storage: TokenStorage
}

export type TokenStorage = 'keychain' | 'file'

/** The logins to servers, saved on this machine; tokens belong to an origin. */
export interface Logins {
  read(): { readonly current: string | null; readonly logins: readonly SavedLogin[] }
  token(server: string): Promise<{ readonly token: string; readonly from: TokenStorage } | undefined>
  /** The keychain, else, if allowed, a file with mode 600. Throws `unavailable` where neither can be used. */
  chooseStorage(fileAllowed: boolean): Promise<TokenStorage>
  save(login: SavedLogin, token: string, current: boolean): Promise<void>
  forget(server: string): Promise<void>
}

/** Opens the saved logins. `read` throws `configuration` for a file that does not parse. */
export function openLogins({ paths }: Pick<Settings, 'paths'>, keychain: Keychain = createKeychain()): Logins {
  const path = join(paths.config, 'logins.json')
  const file = openSecretFile(join(paths.config, 'tokens.json'))
  const placeOf = (storage: TokenStorage = 'file') => (storage === 'keychain' ? keychain : file)
  return {
    read,
    async token(server) {
      const login = find(server)
      if (!login) return undefined
      const name = originOf(login.server)
      const token = await placeOf(login.storage).get(name)
      return token === undefined ? undefined : { token, from: login.storage }
    },
    chooseStorage: (fileAllowed) => chooseStorage(keychain, fileAllowed),
    async save(login, token, current) {
      const name = originOf(login.server)
      await placeOf(login.storage).set(name, token)
      change((before) => ({
        current: current ? login.server : before.current,
        logins: [...others(before, login.server), login],
      }))
    },
    async forget(server) {
      const name = originOf(server)
      await placeOf(find(server)?.storage).remove(name)
      change((before) => {
        const isCurrent = before.current !== null && originOf(before.current) === name
        return { current: isCurrent ? null : before.current, logins: others(before, server) }
      })
    },
  }

  function find(server: string): SavedLogin | undefined {
    return read().logins.find((login) => originOf(login.server) === originOf(server))
  }

  function others({ logins }: ReturnType<Logins['read']>, server: string): readonly SavedLogin[] {
    return logins.filter((login) => originOf(login.server) !== originOf(server))
  }

  function read(): ReturnType<Logins['read']> {
    let text: string
    try {
      text = readFileSync(path, 'utf8')
    } catch (reason) {
      if ((reason as NodeJS.ErrnoException).code === 'ENOENT') return { current: null, logins: [] }
      throw reason
    }
    try {
      return JSON.parse(text) as ReturnType<Logins['read']>
    } catch (cause) {
      throw new AppError('configuration', `Invalid JSON in ${path}: remove the file and log in again`, { cause })
    }
  }

  function change(alter: (before: ReturnType<Logins['read']>) => ReturnType<Logins['read']>): void {
    whileLocked(path, () => replaceFile(path, `${JSON.stringify(alter(read()), null, 2)}\n`))
  }
}

function originOf(url: string): string {
  return new URL(url).origin
}
