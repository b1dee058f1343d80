import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { AppError } from '../../errors.ts'

/** A program that plays audio from its stdin. */
export interface Player {
  /** Resolves when it can take more: true, or false when it has ended. */
  take(piece: Uint8Array): Promise<boolean>
  /** Resolves when all has been heard. Throws `unavailable` when the player failed. */
  end(): Promise<void>
}

/** Players that take a WAV file on stdin, the one most likely to find the right sound device first. */
const players = [
  ['paplay'],
  ['aplay', '-q', '-'],
  ['ffplay', '-nodisp', '-autoexit', '-loglevel', 'error', '-i', '-'],
  ['play', '-q', '-t', 'wav', '-'],
] as const

/**
 * Starts the first player that is installed; the signal ends it at once, mid-audio. Throws
 * `unavailable` naming the programs to install.
 */
export async function openPlayer(
  environment: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<Player> {
  const [path, ...args] = (await findPlayer(environment['PATH'] ?? '')) ?? []
  if (path === undefined)
    throw new AppError('unavailable', 'No program that plays audio is installed', {
      details: [`Install one of ${players.map(([name]) => name).join(', ')}, or write a file with -o`],
    })
  const child = spawn(path, args, { env: { ...environment }, stdio: ['pipe', 'ignore', 'ignore'] })
  const ended = once(child, 'close') as Promise<[code: number | null]>
  const stop = () => void child.kill()
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  child.once('close', () => signal.removeEventListener('abort', stop))
  ended.catch(() => {})
  // A player that was closed by its user is no error of ours; its exit code tells the rest.
  child.stdin.on('error', () => {})
  return {
    async take(piece) {
      if (child.exitCode !== null || !child.stdin.writable) return false
      if (!child.stdin.write(piece)) await Promise.race([once(child.stdin, 'drain'), ended])
      return true
    },
    async end() {
      child.stdin.end()
      const [code] = await ended
      if (code)
        throw new AppError('unavailable', `${path} could not play the audio`, { details: [`it ended with ${code}`] })
    },
  }
}

async function findPlayer(searched: string): Promise<readonly string[] | undefined> {
  for (const [name, ...args] of players)
    for (const folder of searched.split(delimiter).filter(Boolean)) {
      const path = join(folder, name)
      if (await access(path, constants.X_OK).then(always, never)) return [path, ...args]
    }
  return undefined
}

const always = () => true
const never = () => false
