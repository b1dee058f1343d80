import { AppError } from '../../errors.ts'
import { serviceUrl } from '../../http/service-url.ts'
import { changePassword, login, logout, register, setUp, whoAmI } from '../../operations/auth.ts'
import { findServer, findToken, openContexts, type SavedLogin, serverUrl, type Target } from '../remote/contexts.ts'
import { type Cli, note, show, table } from '../terminal/cli.ts'
import { askSecret, askText, readSecrets } from '../terminal/prompts.ts'
import { refuseBesideOtherDaemon } from './other-daemon.ts'

export interface NewcomerOptions {
  readonly username?: string
  readonly email?: string
  readonly passwordStdin?: boolean
}

export interface LoginOptions {
  readonly username?: string
  readonly passwordStdin?: boolean
  readonly tokenStdin?: boolean
  readonly insecureStorage?: boolean
}

/** Creates the administrator; exit 1 when there is one already. */
export async function setUpAdministrator(cli: Cli, options: NewcomerOptions): Promise<void> {
  await refuseBesideOtherDaemon(cli, 'setup')
  const answer = await cli.ask(setUp, await askNewcomer(cli, options))
  await show(cli, answer, ({ user }) => user.username)
  const target = await findServer(cli)
  note(cli, `aichat: ${answer.user.username} is the administrator${target ? ` of ${target.url}` : ''}`)
  if (target) note(cli, `aichat: log in there with: aichat login ${target.url}`)
}

export async function registerUser(cli: Cli, options: NewcomerOptions): Promise<void> {
  await refuseBesideOtherDaemon(cli, 'register')
  const answer = await cli.ask(register, await askNewcomer(cli, options))
  await show(cli, answer, ({ user }) => user.username)
}

/** Logs in and keeps the token; where it could not be kept, that is said before a password is asked. */
export async function logIn(cli: Cli, url: string | undefined, options: LoginOptions): Promise<void> {
  const settings = await cli.settings()
  const server = url === undefined ? await usualServer(cli) : serverUrl(url)
  const contexts = openContexts(settings)
  const { openRemote } = await import('../remote/client.ts')
  const insecure = cli.globals().insecure === true
  openRemote({ server, token: undefined, insecure })
  const storage = await contexts.chooseStorage(options.insecureStorage === true)
  const token = options.tokenStdin ? (await readSecrets(cli, 1))[0]!.trim() : await tokenForPassword()
  const { user, session, must_change_password } = await openRemote({ server, token, insecure }).ask(
    whoAmI,
    {},
    cli.signal(),
  )
  const saved: SavedLogin = { server, username: user.username, expires_at: session?.expires_at ?? 0, storage }
  await contexts.save(saved, token, true)
  await show(cli, { server, user, expires_at: saved.expires_at, storage }, () => '')
  note(cli, `aichat: logged in to ${server} as ${user.username} until ${dateOf(saved.expires_at)}`)
  if (storage === 'file') note(cli, 'aichat: no keychain works here; the token is in a file that only you can read')
  if (must_change_password) note(cli, 'aichat: choose a password of your own: aichat passwd')

  async function tokenForPassword(): Promise<string> {
    const username = options.username ?? (await askText(cli, 'Username', '--username'))
    const password = options.passwordStdin
      ? (await readSecrets(cli, 1))[0]!
      : await askSecret(cli, 'Password', '--password-stdin')
    const remote = openRemote({ server, token: undefined, insecure })
    return (await remote.ask(login, { username, password }, cli.signal())).token
  }
}

/** Ends the login on the server, and forgets its token also when the server cannot be asked. */
export async function logOut(cli: Cli): Promise<void> {
  const target = await findServer(cli)
  if (!target) throw notLoggedIn()
  const settings = await cli.settings()
  const contexts = openContexts(settings)
  const found = await findToken(target, settings).catch(() => undefined)
  const known = contexts.read().logins.some(({ server }) => server === target.url)
  if (!found && !known) throw notLoggedIn()
  const problem = await cli.ask(logout, {}).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  await contexts.forget(target.url)
  if (problem !== undefined && !(problem instanceof AppError)) throw problem
  await show(cli, { message: 'Logged out' }, () => '')
  if (problem) note(cli, `aichat: the token is forgotten, but the server did not confirm: ${problem.message}`)
  if (found?.from === 'AICHAT_TOKEN') note(cli, 'aichat: AICHAT_TOKEN is still set; it is of no use now')
}

export async function showSelf(cli: Cli): Promise<void> {
  const self = await cli.ask(whoAmI, {})
  await show(cli, self, ({ username, role }) => `${username} (${role})`)
  if (self.must_change_password) note(cli, 'aichat: choose a password of your own: aichat passwd')
}

/** Changes the own password; the login that was saved goes on under its new token. */
export async function changeOwnPassword(cli: Cli, options: { passwordStdin?: boolean }): Promise<void> {
  const [current, next] = options.passwordStdin
    ? await readSecrets(cli, 2)
    : [
        await askSecret(cli, 'Current password', '--password-stdin'),
        await askSecret(cli, 'New password', '--password-stdin', { twice: true }),
      ]
  const target = await findServer(cli)
  const found = target && (await findToken(target, await cli.settings()))
  const answer = await cli.ask(changePassword, { current_password: current!, new_password: next! })
  if (target) await keepNewToken(cli, target, found?.from, answer)
  await show(cli, answer, () => '')
  note(cli, 'aichat: the password is changed; every other login has ended')
}

async function keepNewToken(
  cli: Cli,
  target: Target,
  from: string | undefined,
  { token, expires_at }: { readonly token: string; readonly expires_at: number },
): Promise<void> {
  const contexts = openContexts(await cli.settings())
  const { current, logins } = contexts.read()
  const saved = logins.find(({ server }) => server === target.url)
  if (saved && from !== 'AICHAT_TOKEN') await contexts.save({ ...saved, expires_at }, token, current === target.url)
  else note(cli, 'aichat: the token in AICHAT_TOKEN has ended; --json prints the new one')
}

/** Where commands go and what is saved; no server is asked, and no token shown. */
export async function showLogins(cli: Cli): Promise<void> {
  const settings = await cli.settings()
  const target = await findServer(cli)
  const found = target && (await findToken(target, settings).catch(() => undefined))
  const { current, logins } = openContexts(settings).read()
  const status = {
    mode: target ? ('remote' as const) : ('local' as const),
    server: target?.url ?? null,
    named_by: target?.from ?? null,
    token_from: found?.from ?? null,
    logins: logins.map((saved) => ({ ...saved, current: saved.server === current })),
  }
  await show(cli, status, async () =>
    [
      target
        ? `Commands go to ${target.url} (${{ flag: '--server', setting: 'AICHAT_SERVER', login: 'login' }[target.from]}), ` +
          (found ? `with the token from ${found.from}` : 'without a token')
        : `Commands work in this process on ${settings.paths.data}`,
      await table(cli, status.logins, [
        ['SERVER', (row) => row.server],
        ['USER', (row) => row.username],
        ['UNTIL', (row) => dateOf(row.expires_at)],
        ['KEPT IN', (row) => row.storage],
        ['', (row) => (row.current ? 'current' : '')],
      ]),
    ].join('\n'),
  )
}

export async function printToken(cli: Cli): Promise<void> {
  const target = await findServer(cli)
  const found = target && (await findToken(target, await cli.settings()))
  if (!found) throw notLoggedIn()
  await show(cli, { token: found.token }, ({ token }) => token)
}

/** A name, perhaps an address, and a password, from flags, from stdin, or asked. */
async function askNewcomer(cli: Cli, { username, email, passwordStdin }: NewcomerOptions) {
  return {
    username: username ?? (await askText(cli, 'Username', '--username')),
    ...(email !== undefined && { email }),
    password: await newPassword(cli, passwordStdin === true),
  }
}

/** A new password, piped in or asked twice. */
export async function newPassword(cli: Cli, piped: boolean): Promise<string> {
  if (piped) return (await readSecrets(cli, 1))[0]!
  return askSecret(cli, 'Password', '--password-stdin', { twice: true })
}

/** Where one logs in who names no server: the one in use, else the one that `aichat serve` would be. */
async function usualServer(cli: Cli): Promise<string> {
  const { host, port } = (await cli.settings()).listen
  return (await findServer(cli))?.url ?? serviceUrl(host, port)
}

function notLoggedIn(): AppError {
  return new AppError('unauthenticated', 'There is no login', { details: ['Log in with: aichat login URL'] })
}

function dateOf(time: number): string {
  return new Date(time).toISOString().slice(0, 16).replace('T', ' ')
}
