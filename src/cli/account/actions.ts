import { passwordRules } from '../../accounts/accounts.ts'
import { type Logins, openLogins, type SavedLogin, type TokenStorage } from '../../app/app.ts'
import { AppError } from '../../errors.ts'
import { counted } from '../../formats/formats.ts'
import { serviceUrl } from '../../http/http.ts'
import { changePassword, login, logout, register, setUp, whoAmI } from '../../operations/operations.ts'
import { findServer, findToken, serverUrl, type Target } from '../remote/target.ts'
import type { Cli } from '../terminal/cli.ts'
import { fieldsOf } from '../terminal/fields.ts'
import { note, print } from '../terminal/output.ts'
import { askSecret, askTerminal, askText, canAsk, readSecrets } from '../terminal/prompts.ts'
import { table } from '../terminal/table.ts'
import { momentText } from '../terminal/times.ts'
import { refuseBesideOtherDaemon } from './other-daemon.ts'

export interface NewUserOptions {
  readonly username?: string
  readonly passwordStdin?: boolean
}

export interface LoginOptions {
  readonly username?: string
  readonly passwordStdin?: boolean
  readonly tokenStdin?: boolean
  readonly insecureStorage?: boolean
}

/** Creates the administrator; exit 1 when there is one already. */
export async function setUpAdministrator(cli: Cli, options: NewUserOptions): Promise<void> {
  await refuseBesideOtherDaemon(cli, 'setup')
  const answer = await cli.ask(setUp, await askNewUser(cli, options))
  await print(cli, answer, ({ user }) => user.username)
  const target = await findServer(cli)
  note(cli, `aichat: ${answer.user.username} is the administrator${target ? ` of ${target.url}` : ''}`)
  if (target) note(cli, `aichat: log in there with: aichat login ${target.url}`)
}

/** Creates the caller's own account. */
export async function registerUser(cli: Cli, options: NewUserOptions): Promise<void> {
  await refuseBesideOtherDaemon(cli, 'register')
  const answer = await cli.ask(register, await askNewUser(cli, options))
  await print(cli, answer, ({ user }) => user.username)
}

/** Logs in and keeps the token; where it cannot be kept, logs out again. Asks the server before the keychain. */
export async function logIn(cli: Cli, url: string | undefined, options: LoginOptions): Promise<void> {
  const settings = await cli.settings()
  const server = url === undefined ? await defaultServer(cli) : serverUrl(url)
  const logins = openLogins(settings)
  const { openRemote } = await import('../remote/client.ts')
  const insecure = cli.globals().insecure === true
  openRemote({ server, token: undefined, insecure })
  const token = options.tokenStdin ? (await readSecrets(cli, 1))[0]!.trim() : await tokenForPassword()
  const remote = openRemote({ server, token, insecure })
  const { user, session, must_change_password } = await remote.ask(whoAmI, {}, cli.signal())
  const storage = await chooseStorage(cli, logins, options.insecureStorage === true).catch(async (reason) => {
    // A token that was piped in belongs to its sender.
    if (!options.tokenStdin) await remote.ask(logout, {}, cli.signal()).catch(() => {})
    throw reason
  })
  const saved: SavedLogin = { server, username: user.username, expires_at: session?.expires_at ?? 0, storage }
  await logins.save(saved, token, true)
  await print(cli, { server, user, expires_at: saved.expires_at, storage }, () => '')
  note(cli, `aichat: logged in to ${server} as ${user.username} until ${momentText(cli, saved.expires_at)}`)
  if (storage === 'file') note(cli, 'aichat: no keychain found; the token is in a file that only you can read')
  if (must_change_password) note(cli, 'aichat: choose your own password: aichat passwd')

  async function tokenForPassword(): Promise<string> {
    const username = options.username ?? (await askText(cli, 'Username', '--username'))
    const password = await askSecret(cli, 'Password', '--password-stdin', { piped: options.passwordStdin })
    const remote = openRemote({ server, token: undefined, insecure })
    return (await remote.ask(login, { username, password }, cli.signal())).token
  }
}

/** The place of a token. Without a keychain a user on a terminal is asked about the file, so that nothing is typed twice. */
async function chooseStorage(cli: Cli, logins: Logins, fileAllowed: boolean): Promise<TokenStorage> {
  try {
    return await logins.chooseStorage(fileAllowed)
  } catch (reason) {
    if (!(await canAsk(cli))) throw reason
    const message = 'No keychain works here. Keep the token in a file that only you can read?'
    if (await askTerminal<boolean>(cli, { type: 'confirm', message, default: false })) return 'file'
    throw reason
  }
}

/** Ends the login on the server, and deletes its token even when the server does not answer. */
export async function logOut(cli: Cli): Promise<void> {
  const target = await findServer(cli)
  if (!target) throw notLoggedIn()
  const settings = await cli.settings()
  const logins = openLogins(settings)
  const found = await findToken(target, settings).catch(() => undefined)
  const known = logins.read().logins.some(({ server }) => server === target.url)
  if (!found && !known) throw notLoggedIn()
  const problem = await cli.ask(logout, {}).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  await logins.forget(target.url)
  if (problem !== undefined && !(problem instanceof AppError)) throw problem
  await print(cli, { message: 'Logged out' }, () => '')
  if (problem) note(cli, `aichat: the token is deleted, but the server did not confirm: ${problem.message}`)
  if (found?.from === 'AICHAT_TOKEN') note(cli, 'aichat: AICHAT_TOKEN is still set; unset it, its token has ended')
}

/** Prints the user that commands act as. */
export async function showSelf(cli: Cli): Promise<void> {
  const self = await cli.ask(whoAmI, {})
  await print(cli, self, ({ username, role }) => `${username} (${role})`)
  if (self.must_change_password) note(cli, 'aichat: choose your own password: aichat passwd')
}

/** Changes the caller's password and saves the new token of the current login. */
export async function changeOwnPassword(cli: Cli, { passwordStdin }: { passwordStdin?: boolean }): Promise<void> {
  const [current, next] = passwordStdin
    ? await readSecrets(cli, 2)
    : [await askSecret(cli, 'Current password', '--password-stdin'), await askNewPassword(cli, 'New password')]
  const target = await findServer(cli)
  const found = target && (await findToken(target, await cli.settings()))
  const passwords = { current_password: current!, new_password: next! }
  const answer = await cli.ask(changePassword, { ...(fieldsOf(cli, changePassword) as object), ...passwords })
  if (target) await keepNewToken(cli, target, found?.from, answer)
  await print(cli, answer, () => '')
  note(cli, 'aichat: password changed; your other logins have ended')
  noteLiveKeys(cli, answer, answer.user.username)
}

async function keepNewToken(
  cli: Cli,
  target: Target,
  from: string | undefined,
  { token, expires_at }: { readonly token: string; readonly expires_at: number },
): Promise<void> {
  const store = openLogins(await cli.settings())
  const { current, logins } = store.read()
  const saved = logins.find(({ server }) => server === target.url)
  if (saved && from !== 'AICHAT_TOKEN') await store.save({ ...saved, expires_at }, token, current === target.url)
  else note(cli, 'aichat: the token in AICHAT_TOKEN has ended; --json prints the new one')
}

/** Prints the target of commands and the saved logins, without a request and without tokens. */
export async function showLogins(cli: Cli): Promise<void> {
  const settings = await cli.settings()
  const target = await findServer(cli)
  const found = target && (await findToken(target, settings).catch(() => undefined))
  const { current, logins } = openLogins(settings).read()
  const status = {
    mode: target ? ('remote' as const) : ('local' as const),
    server: target?.url ?? null,
    named_by: target?.from ?? null,
    token_from: found?.from ?? null,
    logins: logins.map((saved) => ({ ...saved, current: saved.server === current })),
  }
  await print(cli, status, async () =>
    [
      target
        ? `Commands go to ${target.url} (${{ flag: '--server', setting: 'AICHAT_SERVER', login: 'login' }[target.from]}), ` +
          (found ? `with the token from ${found.from}` : 'without a token')
        : `Commands work in this process on ${settings.paths.data}`,
      await table(cli, status.logins, [
        ['SERVER', (row) => row.server],
        ['USER', (row) => row.username],
        ['UNTIL', (row) => momentText(cli, row.expires_at)],
        ['KEPT IN', (row) => row.storage],
        ['', (row) => (row.current ? 'current' : '')],
      ]),
    ].join('\n'),
  )
}

/** Prints the token. Throws `unauthenticated` without a login. */
export async function printToken(cli: Cli): Promise<void> {
  const target = await findServer(cli)
  const found = target && (await findToken(target, await cli.settings()))
  if (!found) throw notLoggedIn()
  await print(cli, { token: found.token }, ({ token }) => token)
}

/** Collects name, email address and password from options, stdin or prompts. */
async function askNewUser(cli: Cli, { username, passwordStdin }: NewUserOptions) {
  return {
    ...fieldsOf(cli, register),
    username: username ?? (await askText(cli, 'Username', '--username')),
    password: await newPassword(cli, passwordStdin === true),
  }
}

/** Reads a new password from stdin, or asks for it twice. */
export async function newPassword(cli: Cli, piped: boolean): Promise<string> {
  if (piped) return (await readSecrets(cli, 1))[0]!
  return askNewPassword(cli, 'Password')
}

/** Says the rules, then asks for a new password twice. Throws `usage` where it cannot ask. */
async function askNewPassword(cli: Cli, question: string): Promise<string> {
  if (await canAsk(cli)) note(cli, `aichat: a password has ${passwordRules}`)
  return askSecret(cli, question, '--password-stdin', { twice: true })
}

/** The server of a `login` without an address: the one in use, else the address of `aichat serve`. */
async function defaultServer(cli: Cli): Promise<string> {
  const { host, port } = (await cli.settings()).listen
  return (await findServer(cli))?.url ?? serviceUrl(host, port)
}

function notLoggedIn(): AppError {
  return new AppError('unauthenticated', 'Login not found', { details: ['Log in with: aichat login URL'] })
}

/** Tells on stderr how many API keys a new password revoked, and how many it left alive. */
export function noteLiveKeys(
  cli: Cli,
  { live_keys: live, revoked_keys: revoked }: { readonly live_keys: number; readonly revoked_keys: number },
  username: string,
): void {
  if (revoked > 0) note(cli, `aichat: ${counted(revoked, 'API key')} of ${username} revoked`)
  if (live > 0)
    note(
      cli,
      `aichat: ${counted(live, 'API key')} of ${username} still ${live === 1 ? 'works' : 'work'}; --revoke-keys ends them`,
    )
}
