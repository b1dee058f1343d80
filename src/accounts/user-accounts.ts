import { AppError } from '../errors.ts'
import { createDirectory } from './directory.ts'
import type { LoginFailureStore } from './login-failures.ts'
import { createLogins, type LoginParts, type LoginRules } from './logins.ts'
import { longestPassword, type Passwords, passwordProblems, randomPassword } from './passwords.ts'
import type { Tokens } from './tokens.ts'
import {
  type Account,
  type AccountStore,
  type AuditEntry,
  type AuditQuery,
  emailProblems,
  usernameProblems,
} from './users.ts'

/** Access to this installation: logins, users, and the first-time setup. */
export type Accounts = ReturnType<typeof createAccounts>

/** Read at each use: a reload of the settings changes them. */
export interface AccountRules extends LoginRules {
  readonly defaultAdmin: { readonly username: string; readonly email: string }
  readonly production: boolean
}

export interface Prepared {
  readonly administrator: FirstAdministrator | undefined
  /** Settings that production refuses. */
  readonly warnings: readonly string[]
}

export interface FirstAdministrator {
  readonly username: string
  readonly password: string
  /** True for a random password. */
  readonly generated: boolean
}

export interface AccountParts {
  readonly store: AccountStore
  readonly failures: LoginFailureStore
  readonly passwords: Passwords
  readonly tokens: Tokens
  readonly rules: AccountRules
  /** DEFAULT_ADMIN_PASSWORD. */
  readonly initialPassword: () => string | undefined
  /** Problems of the secret of the tokens. */
  readonly secretWarnings: () => readonly string[]
  /** Milliseconds that only go forward. */
  readonly now: () => number
  readonly clock: () => number
  readonly newId: () => string
}

/** The area as one value, over its store. */
export function createAccounts(parts: AccountParts) {
  const { store, passwords, tokens, rules, clock, newId } = parts
  /** In single-user mode the only user that may log in: the administrator of the configured name, else the oldest. */
  const isDefaultAdministrator = async (id: string) =>
    (await store.administrator(rules.defaultAdmin.username))?.user.id === id
  const loginParts: LoginParts = { ...parts, isDefaultAdministrator }
  const logins = createLogins(loginParts)

  return {
    logins,
    users: createDirectory({ store, passwords, clock, newId, ended: logins.sweep }),
    rules,
    /** True while there is no user. */
    needsSetup: () => store.isEmpty(),
    isDefaultAdministrator,
    /** The account of a local command: a named user (throws `not_found`), else an administrator, else undefined. */
    async local(username?: string): Promise<Account | undefined> {
      if (username === undefined)
        return store.administrator(rules.singleUserMode ? rules.defaultAdmin.username : undefined)
      const account = await store.byName(username)
      if (!account) throw new AppError('not_found', `User "${username}" not found`)
      return account
    },
    /**
     * At a service's start. Throws `configuration` when the secret of the tokens cannot be used; creates the default
     * administrator while there is no user, where the configuration says so, and returns its name and password.
     */
    async prepareService(): Promise<Prepared> {
      tokens.check()
      const warnings = [...parts.secretWarnings()]
      const chosen = parts.initialPassword()
      if (!(await store.isEmpty()) || (chosen === undefined && !rules.singleUserMode))
        return { administrator: undefined, warnings }
      const password = chosen ?? randomPassword()
      warnings.push(...refuseAdministrator(password))
      const account = await store.insert(
        {
          id: newId(),
          ...rules.defaultAdmin,
          passwordHash: await passwords.hash(password),
          role: 'admin',
          mustChangePassword: true,
          createdAt: clock(),
        },
        true,
      )
      // Another process was faster: its administrator stands.
      if (typeof account === 'string') return { administrator: undefined, warnings }
      const { id: target, username } = account.user
      await store.record({ at: clock(), action: 'setup', target, targetName: username, outcome: 'ok' })
      return { administrator: { username, password, generated: chosen === undefined }, warnings }
    },
    /** Writes to the audit table. */
    record: (entry: Omit<AuditEntry, 'at'>) => store.record({ at: clock(), ...entry }),
    /** Reads it, the newest first. */
    audit: (query: AuditQuery) => store.audit(query),
    pruneAudit: (before: number) => store.pruneAudit(before),
  }

  /** Problems of the configured administrator; throws `configuration` in production, and where it could not log in. */
  function refuseAdministrator(password: string): readonly string[] {
    const { username, email } = rules.defaultAdmin
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
