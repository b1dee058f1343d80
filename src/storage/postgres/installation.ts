import { randomBytes } from 'node:crypto'
import { AppError } from '../../errors.ts'
import { installationMarkOf, readInstallationMark } from '../../installation-id.ts'
import { replaceFile } from '../files/atomic.ts'
import { codeOf } from './errors.ts'
import type { Database, Sql } from './sql.ts'

interface InstallationRow {
  readonly id: string
  readonly secret_print: Buffer | null
  readonly had_accounts: boolean
  readonly has_accounts: boolean
}

/** The facts by which this instance recognises its database. */
export interface InstallationParts {
  /** The data folder, which keeps the id of the installation. */
  readonly folder: string
  /** Fingerprints of JWT_SECRET and of JWT_SECRET_PREVIOUS, in hexadecimal; none are checked where there are none. */
  readonly secretPrints?: readonly string[] | undefined
}

/** SQLSTATE of a table that is not there. */
const undefinedTable = '42P01'

/** The row of a database that fits this instance. */
interface Found {
  readonly id: string
  /** Whether it knows the JWT_SECRET of this instance as the one in force. */
  readonly isCurrent: boolean
}

/**
 * Refuses, with a `configuration` AppError, a database that is not the one of this instance's data folder, that was emptied,
 * or that another JWT_SECRET goes with: it would open the first-time setup to anybody, or end every login. Writes nothing.
 * Resolves with undefined for a database that is new.
 */
export async function refuseMistaken(
  db: Database,
  { folder, secretPrints }: InstallationParts,
): Promise<Found | undefined> {
  const known = readInstallationMark(folder)
  const row = await read(db)
  if (!row) {
    if (known !== undefined) throw emptied(db, folder)
    return undefined
  }
  if (known !== undefined && known !== row.id) throw another(db, folder)
  if (row.had_accounts && !row.has_accounts) throw lostAccounts(db, folder)
  const print = row.secret_print?.toString('hex')
  if (secretPrints && print !== undefined && !secretPrints.includes(print)) throw otherSecret(db)
  return { id: row.id, isCurrent: print === secretPrints?.[0] }
}

/**
 * Makes a new database one of this installation, where it is none yet, and keeps the id in the data folder: instances
 * that start together get the same. A new JWT_SECRET replaces the stored one where its JWT_SECRET_PREVIOUS is the
 * stored one. `found` is the result of `refuseMistaken`; throws as that does.
 */
export async function joinInstallation(
  db: Database,
  parts: InstallationParts,
  found: Found | undefined,
): Promise<string> {
  const current = parts.secretPrints?.[0] === undefined ? null : Buffer.from(parts.secretPrints[0], 'hex')
  if (!found)
    await db.run('INSERT INTO installation (id, secret_print) VALUES ($1, $2) ON CONFLICT DO NOTHING', [
      randomBytes(16).toString('hex'),
      current,
    ])
  const { id, isCurrent } = found ?? (await refuseMistaken(db, parts))!
  if (current && !isCurrent) await db.run('UPDATE installation SET secret_print = $1', [current])
  if (readInstallationMark(parts.folder) === undefined) replaceFile(installationMarkOf(parts.folder), `${id}\n`)
  return id
}

async function read(sql: Sql): Promise<InstallationRow | undefined> {
  try {
    return await sql.row<InstallationRow>(
      'SELECT id, secret_print, had_accounts, EXISTS (SELECT FROM account) AS has_accounts FROM installation',
    )
  } catch (reason) {
    if (codeOf(reason) === undefinedTable) return undefined
    throw reason
  }
}

function another(db: Database, folder: string): AppError {
  return new AppError('configuration', `The database ${db.name} is not the one of this installation`, {
    details: [
      'Check DATABASE_URL: the data folder belongs to another database',
      `or, to use this one from now on, remove ${installationMarkOf(folder)}`,
    ],
  })
}

function emptied(db: Database, folder: string): AppError {
  return new AppError('configuration', `The database ${db.name} is empty, and this installation had one before`, {
    details: [
      'Check DATABASE_URL, or restore the database from a backup',
      `or, to begin anew, remove ${installationMarkOf(folder)} on every instance`,
    ],
  })
}

function lostAccounts(db: Database, folder: string): AppError {
  return new AppError('configuration', `The accounts that were in the database ${db.name} are gone`, {
    details: [
      'Restore it from a backup',
      `or, to begin anew, use an empty database, and remove ${installationMarkOf(folder)} on every instance`,
    ],
  })
}

function otherSecret(db: Database): AppError {
  return new AppError('configuration', `JWT_SECRET is not the one of the other instances on ${db.name}`, {
    details: [
      'Give every instance the same JWT_SECRET',
      'or, to replace it, set the old one as JWT_SECRET_PREVIOUS beside the new one',
    ],
  })
}
