import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../errors.ts'
import { createKeychain, type Keychain } from '../../keychain/keychain.ts'
import { readSecret, type Settings } from '../../settings/settings.ts'
import { replaceFile } from '../../storage/files/atomic.ts'
import { openSecretFile } from '../../storage/files/secrets.ts'
import type { Cli } from '../terminal/cli.ts'

/** A server that commands are sent to, and what named it. */
export interface Target {
  /** Without a slash at its end. */
  readonly url: string
  readonly from: 'flag' | 'setting' | 'login'
}

/** A login that was saved: everything but its token, which lies where `storage` says. */
export interface SavedLogin {
  readonly server: string
  readonly username: string
  readonly expires_at: number
  readonly storage: TokenStorage
}

export type TokenStorage = 'keychain' | 'file'

/** Where a token came from. */
export interface FoundToken {
  readonly token: string
  readonly from: 'AICHAT_TOKEN' | TokenStorage
}

/**
 * The server for a command: `--server`, else AICHAT_SERVER or the setting, else the last login; undefined is this
 * process. Throws `usage` for flags that exclude each other and for what is no address.
 */
export async function findServer(cli: Cli): Promise<Target | undefined> {
  const { server, local, as } = cli.globals()
  if (local && server !== undefined) throw new AppError('usage', 'Say either --local or --server')
  if (local) return undefined
  const settings = await cli.settings()
  const target = namedServer(server, settings) ?? lastLogin(settings)
  if (target && as !== undefined)
    throw new AppError('usage', '--as works in this process only: log in as that user, or say --local')
  return target
}

function namedServer(flag: string | undefined, settings: Settings): Target | undefined {
  if (flag !== undefined) return { url: serverUrl(flag), from: 'flag' }
  return settings.server === undefined ? undefined : { url: serverUrl(settings.server), from: 'setting' }
}

function lastLogin(settings: Settings): Target | undefined {
  const { current } = openContexts(settings).read()
  return current === null ? undefined : { url: current, from: 'login' }
}

/** An address as it is kept and compared. Throws `usage` for one that is not http(s), or holds a password. */
export function serverUrl(text: string): string {
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    throw new AppError('usage', `"${text}" is no address of a server: write http://127.0.0.1:3001 or https://HOST`)
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}

/**
 * The token for a server, from nowhere but a place that belongs to it: AICHAT_TOKEN goes with the server that a flag or
 * AICHAT_SERVER names, and to no other host than that of AICHAT_SERVER; a saved login goes to its own origin.
 */
export async function findToken(target: Target, settings: Settings): Promise<FoundToken | undefined> {
  const given = readSecret('AICHAT_TOKEN', settings.environment)?.value
  const named = settings.server === undefined ? undefined : serverUrl(settings.server)
  const mayGo = target.from !== 'login' && (named === undefined || originOf(named) === originOf(target.url))
  if (given !== undefined && mayGo) return { token: given, from: 'AICHAT_TOKEN' }
  return openContexts(settings).token(target.url)
}

/** The saved logins of this user on this machine. */
export interface Contexts {
  read(): { readonly current: string | null; readonly logins: readonly SavedLogin[] }
  token(server: string): Promise<FoundToken | undefined>
  /**
   * Where a token would be kept: in the keychain, or where that does not work and a file is allowed, in a file only its
   * owner can read. Throws `unavailable` where neither may be.
   */
  chooseStorage(fileAllowed: boolean): Promise<TokenStorage>
  save(login: SavedLogin, token: string, current: boolean): Promise<void>
  forget(server: string): Promise<void>
}

export function openContexts(settings: Settings, keychain: Keychain = createKeychain()): Contexts {
  const path = join(settings.paths.config, 'logins.json')
  const file = openSecretFile(join(settings.paths.config, 'tokens.json'))
  return {
    read,
    async token(server) {
      const login = read().logins.find((saved) => originOf(saved.server) === originOf(server))
      if (!login) return undefined
      const { storage } = login
      const name = originOf(login.server)
      const token = storage === 'keychain' ? await keychain.get(name) : file.get(name)
      return token === undefined ? undefined : { token, from: storage }
    },
    async chooseStorage(fileAllowed) {
      try {
        await keychain.probe()
        return 'keychain'
      } catch (reason) {
        if (fileAllowed) return 'file'
        throw reason
      }
    },
    async save(login, token, current) {
      const name = originOf(login.server)
      if (login.storage === 'keychain') await keychain.set(name, token)
      else file.set(name, token)
      const before = read()
      const others = before.logins.filter((saved) => originOf(saved.server) !== name)
      write({ current: current ? login.server : before.current, logins: [...others, login] })
    },
    async forget(server) {
      const name = originOf(server)
      const { current, logins } = read()
      const saved = logins.find((login) => originOf(login.server) === name)
      if (saved?.storage === 'keychain') await keychain.remove(name)
      else file.remove(name)
      write({
        current: current !== null && originOf(current) === name ? null : current,
        logins: logins.filter((login) => originOf(login.server) !== name),
      })
    },
  }

  function read(): ReturnType<Contexts['read']> {
    let text: string
    try {
      text = readFileSync(path, 'utf8')
    } catch (reason) {
      if ((reason as NodeJS.ErrnoException).code === 'ENOENT') return { current: null, logins: [] }
      throw reason
    }
    try {
      return JSON.parse(text) as ReturnType<Contexts['read']>
    } catch (cause) {
      throw new AppError('configuration', `The saved logins in ${path} cannot be read: remove the file`, { cause })
    }
  }

  function write(content: ReturnType<Contexts['read']>): void {
    replaceFile(path, `${JSON.stringify(content, null, 2)}\n`)
  }
}

function originOf(url: string): string {
  return new URL(url).origin
}
