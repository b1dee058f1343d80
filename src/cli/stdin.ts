import type { Readable } from 'node:stream'
import { AppError } from '../errors.ts'
import { type Cli, note } from './cli.ts'

/** The most of stdin that is read into memory unless a caller says otherwise: bytes. */
const defaultLimit = 32 * 1024 * 1024
/** A pipe that has been silent for so long may never end; its reader is told what is waited for: milliseconds. */
const silenceMs = 3_000

/**
 * The whole of stdin. Ends early with Ctrl-C, SIGTERM and --timeout, like everything that a command waits for.
 * Throws `too_large` beyond the limit in bytes, and `timeout`.
 */
export async function readStdin(cli: Cli, limit = defaultLimit): Promise<Buffer> {
  const pieces: Buffer[] = []
  let size = 0
  const stopWaiting = tellWaiting(cli)
  try {
    for await (const piece of streamStdin(cli)) {
      stopWaiting()
      size += piece.length
      if (size > limit)
        throw new AppError('too_large', `The standard input holds more than ${Math.round(limit / 1024 / 1024)} MiB`)
      pieces.push(piece)
    }
  } finally {
    stopWaiting()
  }
  return Buffer.concat(pieces)
}

/** The same piece by piece, for what is too large to be held. */
export async function* streamStdin(cli: Cli): AsyncGenerator<Buffer> {
  const signal = cli.signal()
  const { stdin } = cli.io
  // Without its source the loop ends, and nothing keeps the process waiting for a pipe that stays open.
  const leave = () => void stdin.destroy()
  if (signal.aborted) leave()
  signal.addEventListener('abort', leave, { once: true })
  try {
    for await (const piece of stdin as Readable & AsyncIterable<Buffer | string>)
      yield typeof piece === 'string' ? Buffer.from(piece) : piece
  } catch (reason) {
    if (!signal.aborted) throw new AppError('io', 'The standard input could not be read', { cause: reason })
  } finally {
    signal.removeEventListener('abort', leave)
  }
  if (!signal.aborted) return
  throw new AppError('timeout', `The standard input did not end within ${cli.globals().timeout}`)
}

/** At a terminal that shows nothing somebody would wonder what the command is doing. */
function tellWaiting(cli: Cli): () => void {
  const waits = cli.io.stdinIsTerminal
    ? 'aichat: reading what you type; Ctrl-D at the beginning of a line ends it'
    : 'aichat: waiting for the standard input to end; with < /dev/null nothing is read'
  if (cli.io.stdinIsTerminal) {
    note(cli, waits)
    return () => {}
  }
  const timer = setTimeout(() => note(cli, waits), silenceMs).unref()
  return () => clearTimeout(timer)
}
