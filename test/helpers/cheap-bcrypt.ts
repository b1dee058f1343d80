/**
 * Makes bcrypt cheap in this process: 0.2 s for each password would be most of an account test's time. A new hash
 * claims cost 12, so that a login does not hash it anew; hashes of lower costs are compared for real.
 * `accounts/passwords.test.ts` and `acceptance/password-cost.test.ts` prove the real cost.
 */
import { createHash, randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'

const bcrypt = createRequire(import.meta.url)('bcrypt') as {
  hash: (password: string, cost: number) => Promise<string>
  compare: (password: string, hash: string) => Promise<boolean>
}
const { hash, compare } = bcrypt

/** The library's own comparison. */
export const realCompare = compare

bcrypt.hash = async (password, cost) => (cost < 12 ? hash(password, cost) : hashed(password, randomBytes(8)))
bcrypt.compare = async (password, stored) => {
  const salt = /^\$2b\$12\$([0-9a-f]{16})\./.exec(stored)?.[1]
  if (salt !== undefined) return hashed(password, Buffer.from(salt, 'hex')) === stored
  return !stored.startsWith('$2b$12$') && compare(password, stored)
}

/** 60 characters like a real one: the version, the cost, 16 of salt and 36 of a SHA-256. */
function hashed(password: string, salt: Uint8Array): string {
  const text = Buffer.from(salt).toString('hex')
  return `$2b$12$${text}.${createHash('sha256').update(`${text} ${password}`).digest('hex').slice(0, 36)}`
}

/** For the environment of a child process: its bcrypt is cheap too. */
export const cheapHashes = { NODE_OPTIONS: `--import ${import.meta.url}` } as const
