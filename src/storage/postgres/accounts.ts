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
import { AppError } from '../../errors.ts'
import { accountOf, keysOf, type UserRow, userOf } from '../shared/account-rows.ts'
import { createSessionCache } from '../shared/session-cache.ts'
import { addEntry, closeSessions, countAccounts, findSessions, listEntries, openSession } from './accounts-sessions.ts'
import type { Context } from './context.ts'
import { inOneQuery } from './in-one-query.ts'
import { oneWriter } from './one-writer.ts'
import type { Sql, Transaction } from './sql.ts'

/** Accounts in PostgreSQL. Writers run one after the other: a check holds until its commit. */
export function createAccountStore({ db, changes }: Context): AccountStore {
  const session = createSessionCache(
    () => changes.mark('accounts'),
    inOneQuery((ids) => findSessions(db, ids)),
    changes.grace,
  )
  /** A write that may change a login: all processes drop their cached logins after it. */
  const writing = <R>(write: (tx: Transaction) => Promise<R>) =>
    changes.writing('accounts', async (tx) => {
      await oneWriter(tx, 'accounts')
      return write(tx)
    })

  return {
    isEmpty: () => isEmpty(db),
    async insert(account, onlyFirst) {
      const { adopt } = await loadOwnership()
      return writing(async (tx) => {
        const [first, conflict] = await Promise.all([isEmpty(tx), conflictOf(tx, account.id, account)])
        if (onlyFirst && !first) return 'not_first'
        if (conflict) return conflict
        await addAccount(tx, { ...account, role: first ? 'admin' : account.role })
        if (first) await adopt(tx, account.id)
        return (await byId(tx, account.id))!
      })
    },
    byId: (id) => byId(db, id),
    byName: async (text) => accountOf(text.includes('@') ? await addressed(db, text) : await named(db, text)),
    lookAlike: (username) => lookAlike(db, username, ''),
    list: (query) => listed(db, query),
    update: (id, change, now) =>
      writing(async (tx) => {
        const [before, conflict] = await Promise.all([byId(tx, id), conflictOf(tx, id, change)])
        if (!before) return 'absent'
        if (conflict) return conflict
        if (change.role !== undefined && change.role !== before.user.role) {
          if (!(await setRole(tx, id, change.role))) return 'last_admin'
          await closeSessions(tx, id)
        }
        await describe(tx, id, { ...before.user, ...change }, now)
        return (await byId(tx, id))!
      }),
    setPassword: (id, passwordHash, mustChange, now) =>
      writing(async (tx) => {
        const [, , account] = await Promise.all([
          tx.run(
            `UPDATE account SET password_hash = $2, must_change_password = $3, token_version = token_version + 1,
               updated_at = $4 WHERE id = $1`,
            [id, passwordHash, mustChange, now],
          ),
          closeSessions(tx, id),
          byId(tx, id),
        ])
        return account
      }),
    rehash: async (id, before, after) =>
      (await db.run('UPDATE account SET password_hash = $3 WHERE id = $1 AND password_hash = $2', [
        id,
        before,
        after,
      ])) > 0,
    async remove(id) {
      const { disown } = await loadOwnership()
      return writing(async (tx) => {
        if (!(await byId(tx, id))) return 'absent'
        if ((await tx.run(`DELETE FROM account WHERE id = $1 AND ${notTheLast}`, [id])) === 0) return 'last_admin'
        await disown(tx, id)
        return 'removed'
      })
    },
    counts: (now) => countAccounts(db, now),
    administrator: async (preferred = '') =>
      accountOf(
        await db.row<UserRow>(
          `SELECT * FROM account WHERE role = 'admin' ORDER BY username_key = $1 DESC, created_at, number LIMIT 1`,
          [nameKey(preferred)],
        ),
      ),
    openSession: (opened, passwordHash) => writing((tx) => openSession(tx, opened, passwordHash)),
    session,
    closeSession: (id) => writing(async (tx) => (await tx.run('DELETE FROM login_session WHERE id = $1', [id])) > 0),
    record: (entry) => addEntry(db, entry),
    audit: (query) => listEntries(db, query),
    pruneAudit: async (before) => void (await db.run('DELETE FROM audit WHERE at < $1', [before])),
  }
}

/** Loaded where accounts come and go: it knows every other store. */
function loadOwnership(): Promise<typeof import('./ownership.ts')> {
  return import('./ownership.ts')
}

/** The last administrator can be neither removed nor demoted: the statement that would do it decides. */
const notTheLast = `(role <> 'admin' OR (SELECT count(*) FROM account WHERE role = 'admin') > 1)`

/** Throws `configuration` where there were accounts: the first-time setup would open to anybody, see installation.ts. */
async function isEmpty(sql: Sql): Promise<boolean> {
  const found = await sql.row<{ has: boolean; had: boolean | null }>(
    'SELECT EXISTS (SELECT FROM account) AS has, (SELECT had_accounts FROM installation) AS had',
  )
  if (found!.has || !found!.had) return !found!.has
  throw new AppError('configuration', 'The accounts that were in the database are gone', {
    details: ['Restore it from a backup'],
  })
}

async function byId(sql: Sql, id: string): Promise<Account | undefined> {
  return accountOf(await sql.row<UserRow>('SELECT * FROM account WHERE id = $1', [id]))
}

function named(sql: Sql, text: string): Promise<UserRow | undefined> {
  return sql.row('SELECT * FROM account WHERE username_key = $1', [nameKey(text)])
}

function addressed(sql: Sql, text: string): Promise<UserRow | undefined> {
  return sql.row('SELECT * FROM account WHERE email_key = $1', [nameKey(text)])
}

/** The account with another id for which this name could be taken. */
async function lookAlike(sql: Sql, username: string, id: string): Promise<Account | undefined> {
  const looking = await sql.rows<UserRow>('SELECT * FROM account WHERE username_look = $1 AND id <> $2', [
    lookOf(username),
    id,
  ])
  return accountOf(looking.find((row) => isSpoof(row.username, username)))
}

/** Whether another account has the name or address. */
async function conflictOf(tx: Transaction, id: string, { username, email }: AccountChange): Promise<Taken | undefined> {
  const [owner, alike, reader] = await Promise.all([
    username === undefined ? undefined : named(tx, username),
    username === undefined ? undefined : lookAlike(tx, username, id),
    email ? addressed(tx, email) : undefined,
  ])
  if (owner && owner.id !== id) return 'username_taken'
  // An account keeps its own name, even one that looks like another's.
  if (!owner && alike) return 'username_alike'
  return reader && reader.id !== id ? 'email_taken' : undefined
}

async function addAccount(tx: Transaction, account: NewAccount): Promise<void> {
  const { id, username, email, passwordHash, role, mustChangePassword, createdAt } = account
  const { usernameKey, usernameLook, emailKey } = keysOf(account)
  await tx.run(
    `INSERT INTO account (id, username, username_key, username_look, email, email_key, password_hash, role,
       must_change_password, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10)`,
    [id, username, usernameKey, usernameLook, email, emailKey, passwordHash, role, mustChangePassword, createdAt],
  )
}

async function setRole(tx: Transaction, id: string, role: string): Promise<boolean> {
  const changed = await tx.run(
    `UPDATE account SET role = $2, token_version = token_version + 1 WHERE id = $1 AND ($2 = 'admin' OR ${notTheLast})`,
    [id, role],
  )
  return changed > 0
}

async function describe(
  tx: Transaction,
  id: string,
  { username, email }: Pick<User, 'username' | 'email'>,
  now: number,
): Promise<void> {
  const { usernameKey, usernameLook, emailKey } = keysOf({ username, email })
  await tx.run(
    `UPDATE account SET username = $2, username_key = $3, username_look = $4, email = $5, email_key = $6, updated_at = $7
     WHERE id = $1`,
    [id, username, usernameKey, usernameLook, email, emailKey, now],
  )
}

async function listed(sql: Sql, { limit, offset, q = '' }: UserQuery) {
  const where = `strpos(username_key, $1) > 0 OR strpos(coalesce(email_key, ''), $1) > 0`
  const part = nameKey(q)
  const [rows, counted] = await Promise.all([
    sql.rows<UserRow>(`SELECT * FROM account WHERE ${where} ORDER BY created_at, id LIMIT $2 OFFSET $3`, [
      part,
      limit,
      offset,
    ]),
    sql.row<{ total: number }>(`SELECT count(*) AS total FROM account WHERE ${where}`, [part]),
  ])
  return { users: rows.map(userOf), total: counted!.total }
}
