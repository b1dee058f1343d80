import { openLogins, type TokenStorage } from '../../app/app.ts'
import { AppError } from '../../errors.ts'
import { readSecret, type Settings } from '../../settings/settings.ts'
import type { Cli } from '../terminal/cli.ts'

/** The server that commands are sent to, and the source of its address. */
export interface Target {
  /** Without a slash at its end. */
  readonly url: string
  readonly from: 'flag' | 'setting' | 'login'
}

interface FoundToken {
  readonly token: string
  readonly from: 'AICHAT_TOKEN' | TokenStorage
}

/**
 * The server of a command: `--server`, else AICHAT_SERVER or the setting, else the last login; undefined for this process.
 * Throws `usage` for options that exclude each other and for an invalid address.
 */
export async function findServer(cli: Pick<Cli, 'globals' | 'settings'>): Promise<Target | undefined> {
  const { server, local, as } = cli.globals()
  if (local && server !== undefined) throw new AppError('usage', 'Use either --local or --server, not both')
  if (local) return undefined
  const settings = await cli.settings()
  const target = namedServer(server, settings) ?? lastLogin(settings)
  if (target && as !== undefined)
    throw new AppError('usage', '--as works in this process only: log in as that user, or add --local')
  return target
}

function namedServer(option: string | undefined, settings: Settings): Target | undefined {
  if (option !== undefined) return { url: serverUrl(option), from: 'flag' }
  return settings.server === undefined ? undefined : { url: serverUrl(settings.server), from: 'setting' }
}

function lastLogin(settings: Settings): Target | undefined {
  const { current } = openLogins(settings).read()
  return current === null ? undefined : { url: current, from: 'login' }
}

/** Normalises a server's address. Throws `usage` unless it is http(s) without password, query and fragment. */
export function serverUrl(text: string): string {
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash)
    throw new AppError('usage', `Invalid server address "${text}": use http://127.0.0.1:3001 or https://HOST`)
  return `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, '')}`
}

/** The token for a server: AICHAT_TOKEN for that of --server or AICHAT_SERVER alone, a saved one for its own origin. */
export async function findToken(target: Target, settings: Settings): Promise<FoundToken | undefined> {
  const token = readSecret('AICHAT_TOKEN', settings.environment)?.value
  const named = settings.server === undefined ? undefined : serverUrl(settings.server)
  const mayGo = target.from !== 'login' && (named === undefined || new URL(named).origin === new URL(target.url).origin)
  if (token !== undefined && mayGo) return { token, from: 'AICHAT_TOKEN' }
  return openLogins(settings).token(target.url)
}
