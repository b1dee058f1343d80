import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, statSync } from 'node:fs'
import { AppError } from '../../errors.ts'
import { replaceFile } from './atomic.ts'

/** The secret that this installation signs logins with when it is given none, see `ownSecret`. */
export function ownTokenSecret(path: string): string {
  return ownSecret(path, 'which ends every login')
}

/**
 * A secret that this installation made for itself: 32 random bytes as base64url in a file only its owner can read, made
 * at the first use. Two processes that come at once get the same. Throws `configuration` when others can read it;
 * `loss` says in that message the effect of removing the file, such as "which ends every login".
 */
function ownSecret(path: string, loss: string): string {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat) make(path)
  else if (process.platform !== 'win32' && (stat.mode & 0o077) !== 0)
    throw new AppError('configuration', `Others can read the secret in ${path}`, {
      details: [`Remove it, ${loss}, or run: chmod 600 ${path}`],
    })
  const secret = readFileSync(path, 'utf8').trim()
  if (Buffer.byteLength(secret) >= 32) return secret
  throw new AppError('configuration', `The secret in ${path} is damaged: remove the file, ${loss}`)
}

/** Whole or not at all, and never over another's: a link to a finished file fails when there is one already. */
function make(path: string): void {
  const finished = `${path}.${process.pid}.new`
  replaceFile(finished, `${randomBytes(32).toString('base64url')}\n`)
  try {
    linkSync(finished, path)
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code !== 'EEXIST') throw reason
  } finally {
    rmSync(finished, { force: true })
  }
}
