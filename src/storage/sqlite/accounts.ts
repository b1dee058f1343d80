import { isSpoof, lookOf } from '../../accounts/look-alikes.ts'
import {
  type Account,
  type AccountChange,
  type AccountStore,
  type NewAccount,
  nameKey,
  type Taken,
  type User,
  type UserQuery,
} from '../../accounts/users.ts'
import { accountOf, keysOf, type UserRow, userOf } from '../shared/account-rows.ts'
import { createSessionCache } from '../shared/session-cache.ts'
import { markAccounts, preparedIsEmpty } from './accounts-mark.ts'
import { sessionStatements } from './accounts-sessions.ts'
import type { OwnChanges } from './changes.ts'
import type { Database } from './connection.ts'

/** Accounts in SQLite. */
export function createAccountStore(db: Database, changes: OwnChanges): AccountStore {
  const rows = userStatements(db)
  const sessions = sessionStatements(db)
  const session = createSessionCache(() => changes.mark('accounts'), sessions.find)

  type Inserted = Account | Taken | 'not_first'
  const insert = db.transaction((account: NewAccount, onlyFirst: boolean, { adopt }: Ownership): Inserted => {
    const first = rows.isEmpty()
    if (onlyFirst && !first) return 'not_first'
    const conflict = rows.conflict(account.id, account)
    if (conflict) return conflict
    rows.insert({ ...account, role: first ? 'admin' : account.role })
    if (first) adopt(db, account.id)
    return rows.byId(account.id)!
  })
  const update = db.transaction((id: string, change: AccountChange, now: number) => {
    const before = rows.byId(id)
    if (!before) return 'absent'
    const conflict = rows.conflict(id, change)
    if (conflict) return conflict
    if (change.role !== undefined && change.role !== before.user.role) {
      if (!rows.setRole(id, change.role)) return 'last_admin'
      sessions.closeAll(id)
    }
    rows.describe(id, { ...before.user, ...change }, now)
    return rows.byId(id)!
  })
  const setPassword = db.transaction((id: string, hash: string, mustChange: boolean, now: number) => {
    rows.setPassword(id, hash, mustChange, now)
    sessions.closeAll(id)
    return rows.byId(id)
  })
  const remove = db.transaction((id: string, { disown }: Ownership) => {
    if (!rows.byId(id)) return 'absent'
    if (!rows.remove(id)) return 'last_admin'
    disown(db, id)
    return 'removed'
  })

  /** A write that may change a login: cached logins are dropped after it, whether it succeeded or not. */
  const writing = <A extends unknown[], R>(write: (...given: A) => R) => {
    return async (...given: A): Promise<R> => {
      try {
        return write(...given)
      } finally {
        changes.wroteAccounts()
      }
    }
  }

  const removing = writing(remove.immediate)

  return {
    isEmpty: async () => rows.isEmpty(),
    async insert(account, onlyFirst) {
      const inserted = insert.immediate(account, onlyFirst, await loadOwnership())
      // Marked before the account is acknowledged.
      if (typeof inserted !== 'string') markAccounts(db)
      return inserted
    },
    byId: async (id) => rows.byId(id),
    byName: async (text) => rows.byName(text),
    lookAlike: async (username) => rows.lookAlike(username, ''),
    list: async (query) => listed(db, query),
    update: writing(update.immediate),
    setPassword: writing(setPassword.immediate),
    rehash: async (id, before, after) => rows.rehash(id, before, after),
    remove: async (id) => removing(id, await loadOwnership()),
    counts: async (now) => sessions.counts(now),
    administrator: async (preferred) => rows.administrator(preferred),
    openSession: writing(sessions.open),
    session,
    closeSession: writing(sessions.close),
    record: async (entry) => sessions.record(entry),
    audit: async (query) => sessions.audit(query),
    pruneAudit: async (before) => sessions.pruneAudit(before),
  }
}

type Ownership = typeof import('./ownership.ts')

/** Loaded where accounts come and go: it knows every other store. */
function loadOwnership(): Promise<Ownership> {
  return import('./ownership.ts')
}

function userStatements(db: Database) {
  const one = db.prepare<[string], UserRow>('SELECT * FROM user WHERE id = ?')
  const named = db.prepare<[string], UserRow>('SELECT * FROM user WHERE username_key = ?')
  const addressed = db.prepare<[string], UserRow>('SELECT * FROM user WHERE email_key = ?')
  const administrator = db.prepare<[string], UserRow>(
    `SELECT * FROM user WHERE role = 'admin' ORDER BY username_key = ? DESC, created_at, rowid LIMIT 1`,
  )
  const insert = db.prepare(
    `INSERT INTO user (id, username, username_key, username_look, email, email_key, password_hash, role, must_change_password, created_at, updated_at)
     VALUES (:id, :username, :usernameKey, :usernameLook, :email, :emailKey, :passwordHash, :role, :mustChange, :createdAt, :createdAt)`,
  )
  // The last administrator can be neither removed nor demoted: the statement that would do it decides.
  const notTheLast = `(role <> 'admin' OR (SELECT count(*) FROM user WHERE role = 'admin') > 1)`
  const remove = db.prepare<[string]>(`DELETE FROM user WHERE id = ? AND ${notTheLast}`)
  const setRole = db.prepare(
    `UPDATE user SET role = :role, token_version = token_version + 1 WHERE id = :id AND (:role = 'admin' OR ${notTheLast})`,
  )
  const describe = db.prepare(
    `UPDATE user SET username = :username, username_key = :usernameKey, username_look = :usernameLook, email = :email, email_key = :emailKey,
       updated_at = :now WHERE id = :id`,
  )
  const setPassword = db.prepare(
    `UPDATE user SET password_hash = :hash, must_change_password = :mustChange, token_version = token_version + 1,
       updated_at = :now WHERE id = :id`,
  )
  const rehash = db.prepare('UPDATE user SET password_hash = :after WHERE id = :id AND password_hash = :before')

  const looking = db.prepare<[string, string], UserRow>('SELECT * FROM user WHERE username_look = ? AND id <> ?')
  /** The account with another id for which this name could be taken. */
  const lookAlike = (username: string, id: string) =>
    accountOf(looking.all(lookOf(username), id).find((row) => isSpoof(row.username, username)))

  return {
    lookAlike,
    isEmpty: preparedIsEmpty(db),
    byId: (id: string) => accountOf(one.get(id)),
    byName: (text: string) => accountOf((text.includes('@') ? addressed : named).get(nameKey(text))),
    administrator: (preferred = '') => accountOf(administrator.get(nameKey(preferred))),
    /** Whether another account has the name or address. */
    conflict(id: string, { username, email }: AccountChange): Taken | undefined {
      const owner = username === undefined ? undefined : named.get(nameKey(username))
      if (owner && owner.id !== id) return 'username_taken'
      // An account keeps its own name, even one that looks like another's.
      if (username !== undefined && !owner && lookAlike(username, id)) return 'username_alike'
      const reader = email ? addressed.get(nameKey(email)) : undefined
      return reader && reader.id !== id ? 'email_taken' : undefined
    },
    insert: (account: NewAccount) =>
      void insert.run({ ...account, ...keysOf(account), mustChange: account.mustChangePassword ? 1 : 0 }),
    remove: (id: string) => remove.run(id).changes > 0,
    setRole: (id: string, role: string) => setRole.run({ id, role }).changes > 0,
    describe: (id: string, { username, email }: Pick<User, 'username' | 'email'>, now: number) =>
      void describe.run({ id, username, email, ...keysOf({ username, email }), now }),
    setPassword: (id: string, hash: string, mustChange: boolean, now: number) =>
      void setPassword.run({ id, hash, mustChange: mustChange ? 1 : 0, now }),
    rehash: (id: string, before: string, after: string) => rehash.run({ id, before, after }).changes > 0,
  }
}

function listed(db: Database, { limit, offset, q = '' }: UserQuery) {
  const where = `instr(username_key, :q) > 0 OR instr(coalesce(email_key, ''), :q) > 0`
  const values = { q: nameKey(q), limit, offset }
  const rows = db
    .prepare<[typeof values], UserRow>(
      `SELECT * FROM user WHERE ${where} ORDER BY created_at, id LIMIT :limit OFFSET :offset`,
    )
    .all(values)
  const total = db
    .prepare<[{ q: string }], number>(`SELECT count(*) FROM user WHERE ${where}`)
    .pluck()
    .get({ q: values.q })
  return { users: rows.map(userOf), total: total! }
}
