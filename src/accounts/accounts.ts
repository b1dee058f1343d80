import { AppError } from '../errors.ts'
import { createDirectory, type Directory } from './directory.ts'
import { createLogins, type LoginParts, type LoginRules, type Logins } from './logins.ts'
import { longestPassword, type Passwords, passwordProblems, randomPassword } from './passwords.ts'
import type { Tokens } from './tokens.ts'
import { type Account, type AccountStore, type AuditEntry, emailProblems, usernameProblems } from './users.ts'

/** Who may use this installation: logging in, the users, and setting up. */
export interface Accounts {
  readonly logins: Logins
  readonly users: Directory
  readonly rules: AccountRules
  /** True while there is no user. */
  needsSetup(): boolean
  /** In single-user mode the only one who may log in: the administrator of the configured name, else the oldest. */
  isDefaultAdministrator(id: string): boolean
  /** In whose name this process works: a named user (throws `not_found`), else an administrator; nobody while there is none. */
  local(username?: string): Account | undefined
  /**
   * At a service's start. Throws `configuration` when the secret of the tokens cannot be used; creates the default
   * administrator while there is no user, where the configuration says so, and returns what to log in with.
   */
  prepareService(): Promise<Prepared>
  /** Keeps what was done in the audit table. */
  record(entry: Omit<AuditEntry, 'at'>): void
}

export interface AccountRules extends LoginRules {
  readonly administrator: { readonly username: string; readonly email: string }
  readonly production: boolean
}

export interface Prepared {
  readonly administrator: FirstAdministrator | undefined
  /** What would be refused in production. */
  readonly warnings: readonly string[]
}

export interface FirstAdministrator {
  readonly username: string
  readonly password: string
  /** True when nobody chose the password. */
  readonly generated: boolean
}

export interface AccountParts {
  readonly store: AccountStore
  readonly passwords: Passwords
  readonly tokens: Tokens
  readonly rules: AccountRules
  /** DEFAULT_ADMIN_PASSWORD. */
  readonly initialPassword: () => string | undefined
  /** What is wrong with the secret of the tokens. */
  readonly secretWarnings: () => readonly string[]
  readonly now: () => number
  readonly clock: () => number
  readonly newId: () => string
}

/** The area as one value, over its store. */
export function createAccounts(parts: AccountParts): Accounts {
  const { store, passwords, tokens, rules, clock, newId } = parts
  const isDefaultAdministrator = (id: string) => store.administrator(rules.administrator.username)?.user.id === id
  const loginParts: LoginParts = { ...parts, isDefaultAdministrator }
  const logins = createLogins(loginParts)

  return {
    logins,
    users: createDirectory({ store, passwords, clock, newId, ended: logins.sweep }),
    rules,
    needsSetup: () => store.isEmpty(),
    isDefaultAdministrator,
    local(username) {
      if (username === undefined)
        return store.administrator(rules.singleUserMode ? rules.administrator.username : undefined)
      const account = store.byName(username)
      if (!account) throw new AppError('not_found', `There is no user "${username}"`)
      return account
    },
    async prepareService() {
      tokens.check()
      const warnings = [...parts.secretWarnings()]
      const chosen = parts.initialPassword()
      if (!store.isEmpty() || (chosen === undefined && !rules.singleUserMode))
        return { administrator: undefined, warnings }
      const password = chosen ?? randomPassword()
      warnings.push(...judgeAdministrator(password))
      const account = store.insert(
        {
          id: newId(),
          ...rules.administrator,
          passwordHash: await passwords.hash(password),
          role: 'admin',
          mustChangePassword: true,
          createdAt: clock(),
        },
        true,
      )
      // Another process was faster: its administrator stands.
      if (typeof account === 'string') return { administrator: undefined, warnings }
      store.record({ at: clock(), action: 'setup', target: account.user.id, outcome: 'ok' })
      const { username } = account.user
      return { administrator: { username, password, generated: chosen === undefined }, warnings }
    },
    record: (entry) => store.record({ at: clock(), ...entry }),
  }

  /** What is wrong with the configured administrator; in production, and where it could not work, that is an error. */
  function judgeAdministrator(password: string): readonly string[] {
    const { username, email } = rules.administrator
    const problems = passwordProblems(password).map((line) => line.replace(/^password:/, 'DEFAULT_ADMIN_PASSWORD'))
    const fatal = [
      ...usernameProblems(username).map((line) => line.replace(/^username:/, 'DEFAULT_ADMIN_USERNAME')),
      ...emailProblems(email).map((line) => line.replace(/^email:/, 'DEFAULT_ADMIN_EMAIL')),
      ...(rules.production || Buffer.byteLength(password) > longestPassword ? problems : []),
    ]
    if (fatal.length > 0)
      throw new AppError('configuration', 'The default administrator cannot be created', { details: fatal })
    return problems
  }
}
