import { existsSync, readdirSync, readlinkSync, realpathSync } from 'node:fs'
import { AppError } from '../../errors.ts'
import type { Database } from './connection.ts'
import { translated } from './errors.ts'
import { openAlone } from './reader.ts'

/** A database that no other process can open; undefined where there is none or it cannot be read. */
export interface Hold {
  readonly db: Database | undefined
  release(): void
}

/**
 * Holds the database so that no other process can open it; throws `busy` when one has it open. In WAL mode each open
 * connection holds a lock for as long as it lives, without which the journal's mode can be changed; a damaged database takes
 * no locks, so that the open files of processes are looked at.
 */
export function holdDatabase(path: string): Hold {
  if (!existsSync(path)) return nothing
  let db: Database | undefined
  try {
    db = openAlone(path)
    if (db.pragma('journal_mode = DELETE', { simple: true }) !== 'delete') throw inUse(path)
    db.exec('BEGIN EXCLUSIVE')
    const held = db
    return { db: held, release: () => held.close() }
  } catch (reason) {
    db?.close()
    const code = String((reason as { code?: unknown }).code ?? '')
    if (/^SQLITE_(?:BUSY|LOCKED)/.test(code)) throw inUse(path, reason)
    if (reason instanceof AppError) throw reason
    if (isOpenElsewhere(path)) throw inUse(path, reason)
    if (/^SQLITE_(?:NOTADB|CORRUPT|IOERR)/.test(code)) return nothing
    throw translated(reason)
  }
}

const nothing: Hold = { db: undefined, release: () => {} }

function inUse(path: string, cause?: unknown): AppError {
  return new AppError('busy', `A process of aichat has ${path} open: stop the daemon and other commands first`, {
    details: ['systemctl --user stop aichat, or end `aichat serve`'],
    cause,
  })
}

/** Whether another process of this user has the file open, as far as Linux's /proc tells; false on other systems. */
function isOpenElsewhere(path: string): boolean {
  const real = realpathSync(path)
  return idsIn('/proc').some(
    (pid) =>
      pid !== String(process.pid) &&
      idsIn(`/proc/${pid}/fd`).some((file) => targetOf(`/proc/${pid}/fd/${file}`) === real),
  )
}

function idsIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => /^\d+$/.test(name))
  } catch {
    // Of another user, or gone meanwhile.
    return []
  }
}

function targetOf(link: string): string | undefined {
  try {
    return readlinkSync(link)
  } catch {
    return undefined
  }
}
