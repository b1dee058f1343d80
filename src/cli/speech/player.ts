import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { AppError } from '../../errors.ts'
import type { Environment } from '../../settings/settings.ts'
import { findProgram } from '../terminal/programs.ts'

export type Player = Awaited<ReturnType<typeof openPlayer>>

/** Players that read WAV from stdin, in order of preference. */
const players = [
  ['paplay'],
  ['aplay', '-q', '-'],
  ['ffplay', '-nodisp', '-autoexit', '-loglevel', 'error', '-i', '-'],
  ['play', '-q', '-t', 'wav', '-'],
] as const

/** Starts the first installed player; the signal ends it at once. Throws as `findPlayer` does. */
export async function openPlayer(environment: Environment, signal: AbortSignal) {
  const [path, ...args] = findPlayer(environment)
  const child = spawn(path, args, { env: { ...environment }, stdio: ['pipe', 'ignore', 'ignore'] })
  const ended = once(child, 'close') as Promise<[code: number | null]>
  const stop = () => void child.kill()
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  child.once('close', () => signal.removeEventListener('abort', stop))
  ended.catch(() => {})
  // EPIPE after the player ends; its exit code is checked in `end`.
  child.stdin.on('error', () => {})
  return {
    /** Writes a piece and waits for backpressure; false when the player has ended. */
    async take(piece: Uint8Array): Promise<boolean> {
      if (child.exitCode !== null || !child.stdin.writable) return false
      if (!child.stdin.write(piece)) await Promise.race([once(child.stdin, 'drain'), ended])
      return true
    },
    /** Resolves when playback ends. Throws `unavailable` when the player failed. */
    async end() {
      child.stdin.end()
      const [code] = await ended
      if (code)
        throw new AppError('unavailable', `${path} could not play the audio`, { details: [`exit code ${code}`] })
    },
  }
}

/** The first installed player, and its arguments. Throws `unavailable`, with the players to install. */
export function findPlayer(environment: Environment): readonly [string, ...string[]] {
  for (const [name, ...args] of players) {
    const path = findProgram([name], environment)
    if (path !== undefined) return [path, ...args]
  }
  throw new AppError('unavailable', 'Audio player not found', {
    details: [`Install one of ${players.map(([name]) => name).join(', ')}, or write a file with -o`],
  })
}
