import { randomInt } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { AppError } from '../errors.ts'
import { createWorkQueue } from '../process/process.ts'

/** bcrypt reads 72 bytes of a password and no more; a longer one would be cut silently. */
export const longestPassword = 72

/** The specification's cost: 2^12 rounds, about 0.2 s of one core. */
const cost = 12

/** How many hashes may wait, and for how long (milliseconds): at five a second and core this is an honest burst. */
const longestQueue = 128
const longestWait = 20_000

/** Compared when there is no such user, so that the answer takes as long: a hash of cost 12 of a random text. */
const absentUserHash = '$2b$12$NOySBaoEiqJx8oMoTQBdteDecfNaImTExFX6kqyQnH.T.KLBYGBVO'

export type Passwords = ReturnType<typeof createPasswords>

/** The rules of a new password, in one line for people. */
export const passwordRules =
  'at least 6 characters, among them an uppercase letter, a lowercase letter and a digit; at most 72 bytes'

/** Problems of a new password by the specification's rules, one line per rule. */
export function passwordProblems(password: string): readonly string[] {
  const problems: string[] = []
  if ([...password].length < 6) problems.push('password: must be at least 6 characters long')
  if (!/\p{Lu}/u.test(password)) problems.push('password: must hold an uppercase letter')
  if (!/\p{Ll}/u.test(password)) problems.push('password: must hold a lowercase letter')
  if (!/\p{Nd}/u.test(password)) problems.push('password: must hold a digit')
  if (Buffer.byteLength(password) > longestPassword)
    problems.push(`password: must be at most ${longestPassword} bytes long`)
  return problems
}

/**
 * Hashing and comparing with bcrypt. Only as many run at once as leave a core free; the others wait in line, so that a
 * flood of logins takes neither the processor nor the thread pool from everything else.
 */
export function createPasswords(
  parallel = Math.max(1, availableParallelism() - 1),
  library: () => Promise<Library> = bcrypt,
) {
  const line = createLine(parallel)
  return {
    /** The bcrypt hash. Throws `busy` when too many are waiting. */
    hash: (password: string) => line(async () => (await library()).hash(password, cost)),
    /** False for a user that does not exist (no hash) and for more bytes than bcrypt reads, after the same work. */
    matches: (password: string, hash: string | undefined) =>
      line(async () => {
        const same = await (await library()).compare(password, hash ?? absentUserHash)
        return same && hash !== undefined && Buffer.byteLength(password) <= longestPassword
      }),
    /** True for a hash of less than today's cost. */
    isWeakHash: (hash: string) => Number(/^\$2[aby]\$(\d\d)\$/.exec(hash)?.[1] ?? 0) < cost,
  }
}

/** A temporary password: 20 characters without look-alikes, about 115 bits. */
export function randomPassword(): string {
  const kinds = ['ABCDEFGHJKLMNPQRSTUVWXYZ', 'abcdefghijkmnopqrstuvwxyz', '23456789']
  const all = kinds.join('')
  for (;;) {
    const password = Array.from({ length: 20 }, () => all[randomInt(all.length)]).join('')
    if (passwordProblems(password).length === 0) return password
  }
}

type Library = Pick<typeof import('bcrypt'), 'hash' | 'compare'>

/** The native library, loaded at the first hash: most commands need none. */
async function bcrypt(): Promise<Library> {
  return (await import('bcrypt')).default
}

/** Runs at most so many at once, the others in the order in which they came. */
function createLine(running: number): <T>(work: () => Promise<T>) => Promise<T> {
  const queue = createWorkQueue({ running, waiting: longestQueue, full: crowded })
  return async (work) => {
    const leave = await queue.enter(AbortSignal.timeout(longestWait)).catch(() => Promise.reject(crowded()))
    try {
      return await work()
    } finally {
      leave()
    }
  }
}

function crowded(): AppError {
  return new AppError('busy', 'Too many logins at once', { details: ['Try again in a few seconds'], retryAfter: 10 })
}
