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
  type UserCounts,
  type UserQuery,
  usernameProblems,
} from './users.ts'

/** The users, for administrators and for each user's own account. */
export interface Directory {
  list(query: UserQuery): Promise<{ readonly users: readonly User[]; readonly total: number }>
  /** Throws `not_found`. */
  get(id: string): Promise<Account>
  /** By name or address; throws `not_found`. */
  named(name: string): Promise<Account>
  create(newcomer: Newcomer & { readonly role: Role }): Promise<User>
  /** Throws `invalid` with every problem, and for the last administrator's role. */
  update(id: string, change: AccountChange): Promise<User>
  /** Throws `invalid` for the last administrator. Removes everything the user owns. */
  remove(id: string): Promise<void>
  counts(): Promise<UserCounts>
}

export interface DirectoryParts {
  readonly store: AccountStore
  readonly passwords: Passwords
  readonly clock: () => number
  readonly newId: () => string
  /** Called when logins may have ended. */
  readonly ended: () => void
}

export function createDirectory({ store, passwords, clock, newId, ended }: DirectoryParts): Directory {
  return {
    list: (query) => store.list(query),
    async get(id) {
      const account = await store.byId(id)
      if (!account) throw unknownUser()
      return account
    },
    async named(name) {
      const account = await store.byName(name)
      if (!account) throw unknownUser()
      return account
    },
    async create({ username, password, email, role }) {
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
    async update(id, change) {
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
    async remove(id) {
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
