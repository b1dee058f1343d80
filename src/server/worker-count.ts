import { availableParallelism } from 'node:os'
import { AppError } from '../errors.ts'

/** The most workers: each has connections to the database and caches of its own. */
const mostWorkers = 64

/** The number of processes that serve the API. Throws `usage` for a text that is none, and where no API is served. */
export function workersOf(text: string | undefined, servers: readonly string[]): number {
  if (text === undefined) return 1
  if (!servers.includes('api')) throw new AppError('usage', '--workers is for the API: a speech server is one process')
  const count = text === 'auto' ? Math.min(availableParallelism(), mostWorkers) : Number(text)
  if ((text === 'auto' || /^\d{1,3}$/.test(text)) && count >= 1 && count <= mostWorkers) return count
  throw new AppError('usage', `Invalid number of workers "${text}": give one from 1 to ${mostWorkers}, or auto`)
}
