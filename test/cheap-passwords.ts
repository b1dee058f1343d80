import { createHash, randomBytes } from 'node:crypto'
import { createPasswords, type Passwords } from '../src/accounts/passwords.ts'

/**
 * Passwords with the queue and the rules of the product, and a hash that costs microseconds instead of bcrypt's 0.2 s. It
 * claims cost 12, so that a login does not hash it anew. `accounts/passwords.test.ts` proves the real cost.
 */
export function cheapPasswords(): Passwords {
  return createPasswords(2, async () => ({
    hash: async (password) => hashed(String(password), randomBytes(8).toString('hex')),
    compare: async (password, hash) => {
      const [, salt] = /^\$2b\$12\$([0-9a-f]{16})\./.exec(hash) ?? []
      if (salt !== undefined) return hashed(String(password), salt) === hash
      // A hash of an earlier, lower cost is a real one.
      return !hash.startsWith('$2b$12$') && (await import('bcrypt')).default.compare(password, hash)
    },
  }))
}

function hashed(password: string, salt: string): string {
  return `$2b$12$${salt}.${createHash('sha256').update(`${salt} ${password}`).digest('hex').slice(0, 36)}`
}
