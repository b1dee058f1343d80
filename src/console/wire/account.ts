import { type AskOptions, ask } from './client.ts'
import { beginSecret, forgetSecret, tellLoggedIn, tellLoggedOut } from './secret.ts'
import type { Me, SystemInfo } from './types.ts'

/** The answer to a login: its token went into a cookie that no script can read. */
interface LoggedIn {
  readonly user: Me['user']
}

export interface Credentials {
  readonly username: string
  readonly password: string
}

export interface Newcomer extends Credentials {
  readonly email?: string
}

export const systemInfo = (): Promise<SystemInfo> => ask('GET', '/api/auth/system-info')

export const whoAmI = (): Promise<Me> => ask('GET', '/api/auth/me')

export function logIn(body: Credentials): Promise<LoggedIn> {
  return entered('/api/auth/login', { body })
}

/** Creates the first administrator. Another machine needs the token that the service printed at its start. */
export function setUp(body: Newcomer, setupToken: string): Promise<LoggedIn> {
  return entered('/api/auth/setup', { body, ...(setupToken && { headers: { 'x-setup-token': setupToken } }) })
}

export function register(body: Newcomer): Promise<LoggedIn> {
  return entered('/api/auth/register', { body })
}

/** Begins a login, in all tabs of this browser. */
async function entered(path: string, options: AskOptions): Promise<LoggedIn> {
  beginSecret()
  const answer = await ask<LoggedIn>('POST', path, options)
  tellLoggedIn()
  return answer
}

export function changePassword(current_password: string, new_password: string): Promise<LoggedIn> {
  return ask('POST', '/api/auth/change-password', { body: { current_password, new_password } })
}

/** Ends the login, here and in the other tabs. */
export async function logOut(): Promise<void> {
  await ask('POST', '/api/auth/logout', { body: {} })
  forgetSecret()
  tellLoggedOut()
}
