import { randomBytes } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { AppError } from '../../errors.ts'
import { refuseMoved } from '../files/moved-mark.ts'
import { unknownTo } from '../schema/version.ts'
import type { CarriedOver, CopyFacts, RestoredAccounts, StorageCopies } from '../shared/copies.ts'
import type { Database } from './connection.ts'
import { refuseDamaged } from './database.ts'
import { translated } from './errors.ts'
import { holdDatabase } from './hold.ts'
import { bringUp } from './schema.ts'

/** Pages that are copied between two reports of progress: 4 MiB. */
const pagesAtOnce = 500

const mostNames = 20

/** Copies of the database of a data folder. */
export function sqliteCopies(folder: string): StorageCopies {
  const path = join(folder, 'aichat.db')
  const mine = <R>(work: () => R): R => {
    try {
      return work()
    } catch (reason) {
      throw translated(reason)
    }
  }
  return {
    kind: 'sqlite',
    path,
    keepsFiles: false,
    async take(to, onProgress) {
      refuseMoved(folder)
      if (!existsSync(path)) throw new AppError('not_found', `There is no database in ${folder} yet`)
      try {
        await copyOf(path, to, onProgress)
      } catch (reason) {
        throw translated(reason)
      }
    },
    check: (copy) => mine(() => factsOf(copy)),
    prepare: (copy, carried, at) => mine(() => prepared(copy, carried, at)),
    holdAlone() {
      const { db, release } = holdDatabase(path)
      return { accounts: () => db && accountsOf(db), release }
    },
  }
}

/**
 * Copies the database as it is at one moment: the read transaction holds that moment while others go on writing, so that
 * the copy neither waits for them nor begins again with each of their commits
 * (https://sqlite.org/c3ref/backup_finish.html#sqlite3backupstep).
 */
async function copyOf(path: string, to: string, onProgress: (share: number) => void): Promise<void> {
  const db = new BetterSqlite3(path, { readonly: true, fileMustExist: true, timeout: 5000 })
  try {
    db.exec('BEGIN')
    db.prepare('SELECT count(*) FROM sqlite_schema').get()
    await db.backup(to, {
      progress({ totalPages, remainingPages }) {
        if (totalPages > 0) onProgress(1 - remainingPages / totalPages)
        return pagesAtOnce
      },
    })
  } finally {
    db.close()
  }
  // One file: a packed copy has no log next to it.
  const copy = new BetterSqlite3(to)
  copy.pragma('journal_mode = DELETE')
  copy.close()
}

/** Reads a whole copy. Throws `configuration` when it is damaged, no database of ours, or of a newer aichat. */
function factsOf(path: string): CopyFacts {
  refuseDamaged(path)
  const db = new BetterSqlite3(path, { readonly: true, fileMustExist: true })
  try {
    const hasTable = db.prepare<[string], 1>("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").pluck()
    if (!hasTable.get('migration') || !hasTable.get('user'))
      throw new AppError('configuration', 'The database of the backup is not one of aichat')
    const applied = db.prepare<[], string>('SELECT name FROM migration ORDER BY rowid').pluck().all()
    const unknown = unknownTo(applied)
    if (unknown.length > 0)
      throw new AppError('configuration', 'The backup was made by a newer aichat: update this one first', {
        details: unknown.map((name) => `unknown change of schema: ${name}`),
      })
    const users = db.prepare<[], number>('SELECT count(*) FROM user').pluck().get()!
    return { kind: 'sqlite', schema: applied.at(-1) ?? '', users, bytes: statSync(path).size }
  } finally {
    db.close()
  }
}

/** The accounts that may log in by a database, as far as it can be read; undefined where it cannot. */
function accountsOf(db: Database): CarriedOver | undefined {
  try {
    const users = db.prepare<[], CarriedUser>(`SELECT ${userColumns} FROM user`).all()
    const keys = db.prepare<[], string>('SELECT id FROM api_key WHERE revoked_at IS NULL').pluck().all()
    if (users.length === 0) return undefined
    return { users: new Map(users.map((user) => [user.id, user])), liveKeys: new Set(keys) }
  } catch {
    return undefined
  }
}

type CarriedUser = CarriedOver['users'] extends ReadonlyMap<string, infer User> ? User : never

const userColumns = 'id, username, password_hash, role, must_change_password, token_version'

/**
 * Makes a copy safe to go on with: every login in it ends, and with `carried` passwords, roles and revocations are those of
 * the present database. Users that are gone from it come back without a password that works.
 */
function prepared(path: string, carried: CarriedOver | 'as-backed-up' | undefined, at: number): RestoredAccounts {
  const db = new BetterSqlite3(path, { fileMustExist: true })
  try {
    db.pragma('secure_delete = ON')
    const result = db.transaction(() => {
      // Triggers and views are made again in any case: one of another program would go on working in the restored database.
      bringUp(db, new Set(db.prepare<[], string>('SELECT name FROM migration').pluck().all()), at)
      const logins = db.prepare('DELETE FROM login_session').run().changes
      const accounts = carried === 'as-backed-up' ? untouched : carryOver(db, carried, at)
      db.prepare(
        `INSERT INTO audit (at, action, actor, target, address, outcome) VALUES (?, 'backups.restore', 'local', NULL, NULL, 'ok')`,
      ).run(at)
      return { logins, ...accounts }
    })()
    db.pragma('journal_mode = DELETE')
    return result
  } finally {
    db.close()
  }
}

const untouched = { lockedUsers: [], locked: 0, revokedKeys: 0 }

function carryOver(db: Database, carried: CarriedOver | undefined, at: number): Omit<RestoredAccounts, 'logins'> {
  const backedUp = db.prepare<[], CarriedUser>(`SELECT ${userColumns} FROM user`).all()
  const write = db.prepare(
    `UPDATE user SET password_hash = @password_hash, role = @role, must_change_password = @must_change_password,
       token_version = @token_version WHERE id = @id`,
  )
  const locked: string[] = []
  // Without an administrator of today in the backup, its own stay: an installation needs one.
  const hasAdmin = backedUp.some(({ id }) => carried?.users.get(id)?.role === 'admin')
  for (const user of carried ? backedUp : []) {
    const today = carried!.users.get(user.id)
    const stays = !hasAdmin && user.role === 'admin'
    if (!today && !stays) locked.push(user.username)
    write.run({
      ...user,
      ...(today && { password_hash: today.password_hash, must_change_password: today.must_change_password }),
      ...(today && !stays && { role: today.role }),
      ...(!today && !stays && { password_hash: unusableHash() }),
      token_version: Math.max(user.token_version, today?.token_version ?? 0) + 1,
    })
  }
  const live = db.prepare<[], string>('SELECT id FROM api_key WHERE revoked_at IS NULL').pluck().all()
  const revoke = db.prepare('UPDATE api_key SET revoked_at = ?, updated_at = ? WHERE id = ?')
  const doomed = live.filter((id) => !carried?.liveKeys.has(id))
  for (const id of doomed) revoke.run(at, at, id)
  return { lockedUsers: locked.slice(0, mostNames), locked: locked.length, revokedKeys: doomed.length }
}

/** The form of a bcrypt hash of cost 12 that belongs to no known password. */
function unusableHash(): string {
  return `$2b$12$${randomBytes(40).toString('base64').replaceAll(/[+=]/g, '.').slice(0, 53)}`
}
