import {
  type Account,
  type AccountChange,
  type AccountStore,
  type AuditEntry,
  type AuditQuery,
  type AuditRecord,
  isSpoof,
  lookOf,
  type NewAccount,
  nameKey,
  type Taken,
  type User,
} from '../../accounts/accounts.ts'
import { AppError } from '../../errors.ts'
import {
  nothing,
  position,
  row,
  rows,
  run,
  type Statement,
  type StoreDatabase,
  sql,
  together,
  type Work,
  word,
} from '../port/port.ts'
import { accountOf, keptEntries, keysOf, type UserRow, userOf } from '../shared/account-rows.ts'
import { account, closeSession, closeSessions, countAccounts, findSessions, openSession } from './account-sessions.ts'

/**
 * Accounts, their logins, and the audit table. Writers run one after the other: a check holds until its commit. `onAdded` is
 * called after an account was added, before it is acknowledged.
 */
export function createAccountStore(db: StoreDatabase, onAdded: () => void = () => {}): AccountStore {
  return {
    isEmpty: async () => db.read(isEmpty()),
    async insert(added, onlyFirst) {
      const ownership = await loadOwnership()
      const inserted = await db.write(() => insert(added, onlyFirst, ownership), 'accounts')
      if (typeof inserted !== 'string') onAdded()
      return inserted
    },
    byId: async (id) => db.read(byId(id)),
    byName: async (text) => accountOf(await db.read(text.includes('@') ? addressed(text) : named(text))),
    lookAlike: async (username) => db.read(lookAlike(username, '')),
    list: async (query) => db.read(list(query)),
    update: (id, change, now) => db.write(() => update(id, change, now), 'accounts'),
    setPassword: (id, hash, mustChange, now) => db.write(() => setPassword(id, hash, mustChange, now), 'accounts'),
    rehash: async (id, before, after) =>
      (await db.run(
        sql`UPDATE ${account} SET password_hash = ${after} WHERE id = ${id} AND password_hash = ${before}`,
      )) > 0,
    async remove(id) {
      const ownership = await loadOwnership()
      return db.write(() => remove(id, ownership), 'accounts')
    },
    counts: async (now) => db.read(countAccounts(now)),
    administrator: async (preferred) => db.read(administrator(preferred)),
    openSession: (session, passwordHash) => db.write(() => openSession(session, passwordHash), 'accounts'),
    session: db.cached('accounts', findSessions),
    closeSession: (id) => db.write(() => closeSession(id), 'accounts'),
    record: (entry) => addEntry(db, entry),
    audit: async (query) => db.read(listEntries(query)),
    pruneAudit: (before) => pruneEntries(db, before),
  }
}

type Ownership = typeof import('./ownership.ts')

/** Loaded where accounts come and go: it knows the other stores. */
function loadOwnership(): Promise<Ownership> {
  return import('./ownership.ts')
}

function* insert(added: NewAccount, onlyFirst: boolean, { adopt }: Ownership): Work<Account | Taken | 'not_first'> {
  const [first, conflict] = yield* together(isEmpty(), conflictOf(added.id, added))
  if (onlyFirst && !first) return 'not_first'
  if (conflict) return conflict
  const { id, username, email, passwordHash, mustChangePassword, createdAt } = added
  const { usernameKey, usernameLook, emailKey } = keysOf(added)
  yield* run(
    sql`INSERT INTO ${account} (id, username, username_key, username_look, email, email_key, password_hash, role,
          must_change_password, created_at, updated_at)
        VALUES (${id}, ${username}, ${usernameKey}, ${usernameLook}, ${email}, ${emailKey}, ${passwordHash},
          ${first ? 'admin' : added.role}, ${mustChangePassword}, ${createdAt}, ${createdAt})`,
  )
  if (first) yield* adopt(id)
  return (yield* byId(id))!
}

function* update(id: string, change: AccountChange, now: number) {
  const [before, conflict] = yield* together(byId(id), conflictOf(id, change))
  if (!before) return 'absent'
  if (conflict) return conflict
  if (change.role !== undefined && change.role !== before.user.role) {
    if (!(yield* setRole(id, change.role))) return 'last_admin'
    yield* closeSessions(id)
  }
  yield* describe(id, { ...before.user, ...change }, now)
  return (yield* byId(id))!
}

function* setPassword(id: string, hash: string, mustChange: boolean, now: number) {
  const [, , changed] = yield* together(
    run(
      sql`UPDATE ${account} SET password_hash = ${hash}, must_change_password = ${mustChange},
            token_version = token_version + 1, updated_at = ${now} WHERE id = ${id}`,
    ),
    closeSessions(id),
    byId(id),
  )
  return changed
}

function* remove(id: string, { disown }: Ownership) {
  if (!(yield* byId(id))) return 'absent'
  if ((yield* run(sql`DELETE FROM ${account} WHERE id = ${id} AND ${notTheLast}`)) === 0) return 'last_admin'
  yield* disown(id)
  return 'removed'
}

/** The last administrator can be neither removed nor demoted: the statement that would do it decides. */
const notTheLast = sql`(role <> 'admin' OR (SELECT count(*) FROM ${account} WHERE role = 'admin') > 1)`

/** Whether there were accounts, by a mark in a shared database; the file of one machine is checked when it is opened. */
const hadAccounts = word('0', '(SELECT had_accounts FROM installation)')

/** Throws `configuration` where there were accounts: the first-time setup would open to anybody. */
function* isEmpty(): Work<boolean> {
  const found = yield* row<{ has: 0 | 1 | boolean; had: 0 | boolean | null }>(
    sql`SELECT EXISTS (SELECT 1 FROM ${account}) AS has, ${hadAccounts} AS had`,
  )
  if (found!.has || !found!.had) return !found!.has
  throw new AppError('configuration', 'The accounts that were in the database are gone', {
    details: ['Restore it from a backup'],
  })
}

function* byId(id: string): Work<Account | undefined> {
  return accountOf(yield* row<UserRow>(sql`SELECT * FROM ${account} WHERE id = ${id}`))
}

function named(text: string): Work<UserRow | undefined> {
  return row(sql`SELECT * FROM ${account} WHERE username_key = ${nameKey(text)}`)
}

function addressed(text: string): Work<UserRow | undefined> {
  return row(sql`SELECT * FROM ${account} WHERE email_key = ${nameKey(text)}`)
}

/** The order in which accounts were made. */
const number = word('rowid', 'number')

function* administrator(preferred = ''): Work<Account | undefined> {
  return accountOf(
    yield* row<UserRow>(
      sql`SELECT * FROM ${account} WHERE role = 'admin'
          ORDER BY username_key = ${nameKey(preferred)} DESC, created_at, ${number} LIMIT 1`,
    ),
  )
}

/** The account with another id for which this name could be taken. */
function* lookAlike(username: string, id: string): Work<Account | undefined> {
  const looking = yield* rows<UserRow>(
    sql`SELECT * FROM ${account} WHERE username_look = ${lookOf(username)} AND id <> ${id}`,
  )
  return accountOf(looking.find((other) => isSpoof(other.username, username)))
}

/** Whether another account has the name or address. */
function* conflictOf(id: string, { username, email }: AccountChange): Work<Taken | undefined> {
  const [owner, alike, reader] = yield* together(
    username === undefined ? nothing() : named(username),
    username === undefined ? nothing() : lookAlike(username, id),
    email ? addressed(email) : nothing(),
  )
  if (owner && owner.id !== id) return 'username_taken'
  // An account keeps its own name, even one that looks like another's.
  if (!owner && alike) return 'username_alike'
  return reader && reader.id !== id ? 'email_taken' : undefined
}

function* setRole(id: string, role: string): Work<boolean> {
  const changed = yield* run(
    sql`UPDATE ${account} SET role = ${role}, token_version = token_version + 1
        WHERE id = ${id} AND (${role === 'admin'} OR ${notTheLast})`,
  )
  return changed > 0
}

function* describe(id: string, { username, email }: Pick<User, 'username' | 'email'>, now: number): Work<void> {
  const { usernameKey, usernameLook, emailKey } = keysOf({ username, email })
  yield* run(
    sql`UPDATE ${account} SET username = ${username}, username_key = ${usernameKey}, username_look = ${usernameLook},
          email = ${email}, email_key = ${emailKey}, updated_at = ${now} WHERE id = ${id}`,
  )
}

function* list({ limit, offset, q = '' }: Parameters<AccountStore['list']>[0]) {
  const part = nameKey(q)
  const isWanted = sql`${position}(username_key, ${part}) > 0 OR ${position}(coalesce(email_key, ''), ${part}) > 0`
  const [found, counted] = yield* together(
    rows<UserRow>(
      sql`SELECT * FROM ${account} WHERE ${isWanted} ORDER BY created_at, id LIMIT ${limit} OFFSET ${offset}`,
    ),
    row<{ total: number }>(sql`SELECT count(*) AS total FROM ${account} WHERE ${isWanted}`),
  )
  return { users: found.map(userOf), total: counted!.total }
}

/** In SQLite a trigger drops the oldest entries. */
const added = {
  begin: word('', 'WITH added AS ('),
  end: word('', ` RETURNING id) DELETE FROM audit USING added WHERE audit.id <= added.id - ${keptEntries}`),
} as const

/** Adds an entry to the audit table, of which the newest stay: failed logins must not fill a disk. */
async function addEntry(db: StoreDatabase, entry: AuditEntry): Promise<void> {
  const { at, action, outcome, actor, actorName, target, targetName, address } = entry
  await db.run(
    sql`${added.begin}INSERT INTO audit (at, action, actor, actor_name, target, target_name, address, outcome)
        VALUES (${at}, ${action}, ${actor}, ${actorName}, ${target}, ${targetName}, ${address}, ${outcome})${added.end}`,
  )
}

/** Entries of the audit table, the newest first, and how many the query chooses in all. */
function* listEntries(query: AuditQuery) {
  const where = auditCondition(query)
  const [entries, counted] = yield* together(
    rows<AuditRecord>(
      sql`SELECT at, actor, actor_name, action, target AS subject, target_name AS subject_name, address, outcome
          FROM audit WHERE ${where} ORDER BY at DESC, id DESC LIMIT ${query.limit} OFFSET ${query.offset}`,
    ),
    row<{ total: number }>(sql`SELECT count(*) AS total FROM audit WHERE ${where}`),
  )
  return { entries, total: counted!.total }
}

/** The condition on the audit table that a query makes. */
export function auditCondition({ actor, action, since, until }: Omit<AuditQuery, 'limit' | 'offset'>): Statement {
  const conditions: Statement[] = []
  if (actor !== undefined) conditions.push(sql`actor = ${actor}`)
  if (action !== undefined)
    // Of an area: what begins with its name and a dot, after which a slash is the next character.
    conditions.push(sql`(action = ${action} OR (action >= ${`${action}.`} AND action < ${`${action}/`}))`)
  if (since !== undefined) conditions.push(sql`at >= ${since}`)
  if (until !== undefined) conditions.push(sql`at <= ${until}`)
  return conditions.reduce((all, condition) => sql`${all} AND ${condition}`, sql`true`)
}

/** Drops what is older than that time, in milliseconds since 1970. */
async function pruneEntries(db: StoreDatabase, before: number): Promise<void> {
  await db.run(sql`DELETE FROM audit WHERE at < ${before}`)
}
