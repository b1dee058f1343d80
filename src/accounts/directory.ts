import { AppError } from '../errors.ts'
import { type Newcomer, refuse, taken, takenProblems } from './logins.ts'
import { type Passwords, passwordProblems } from './passwords.ts'
import {
  type Account,
  type AccountChange,
  type AccountStore,
  emailProblems,
  type Role,
  type User,
  type UserQuery,
  usernameProblems,
} from './users.ts'

export interface DirectoryParts {
  readonly store: AccountStore
  readonly passwords: Passwords
  readonly clock: () => number
  readonly newId: () => string
  /** Called when logins may have ended. */
  readonly ended: () => void
}

/** The users, for administrators and for each user's own account. */
export function createDirectory({ store, passwords, clock, newId, ended }: DirectoryParts) {
  return {
    list: (query: UserQuery) => store.list(query),
    /** Throws `not_found`. */
    async get(id: string): Promise<Account> {
      const account = await store.byId(id)
      if (!account) throw unknownUser()
      return account
    },
    /** By name or address; throws `not_found`. */
    async named(name: string): Promise<Account> {
      const account = await store.byName(name)
      if (!account) throw unknownUser()
      return account
    },
    async create({ username, password, email, role }: Newcomer & { readonly role: Role }): Promise<User> {
      const address = email || null
      refuse('The user cannot be created', [
        ...usernameProblems(username),
        ...emailProblems(address),
        ...passwordProblems(password),
        ...(await takenProblems(store, username, address)),
      ])
      const passwordHash = await passwords.hash(password)
      const account = await store.insert(
        { id: newId(), username, email: address, passwordHash, role, mustChangePassword: false, createdAt: clock() },
        false,
      )
      if (typeof account === 'string') throw taken(account as Exclude<typeof account, 'not_first'>)
      return account.user
    },
    /** Throws `invalid` with every problem, and for the last administrator's role. */
    async update(id: string, change: AccountChange): Promise<User> {
      refuse('The user cannot be changed', [
        ...(change.username === undefined ? [] : usernameProblems(change.username)),
        ...(change.email === undefined ? [] : emailProblems(change.email)),
      ])
      const changed = await store.update(id, change, clock())
      if (changed === 'absent') throw unknownUser()
      if (changed === 'last_admin') throw lastAdministrator()
      if (typeof changed === 'string') throw taken(changed)
      if (change.role !== undefined) ended()
      return changed.user
    },
    /** Throws `invalid` for the last administrator. Removes everything the user owns. */
    async remove(id: string) {
      const outcome = await store.remove(id)
      if (outcome === 'absent') throw unknownUser()
      if (outcome === 'last_admin') throw lastAdministrator()
      ended()
    },
    counts: () => store.counts(clock()),
  }
}

function unknownUser(): AppError {
  return new AppError('not_found', 'There is no such user')
}

function lastAdministrator(): AppError {
  return new AppError('invalid', 'The last administrator cannot be removed', {
    details: ['Make another user an administrator first'],
  })
}
