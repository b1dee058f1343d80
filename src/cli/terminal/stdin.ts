import type { Readable } from 'node:stream'
import { AppError } from '../../errors.ts'
import { type Cli, note } from './cli.ts'

/** The most of stdin that is read into memory unless a caller says otherwise: bytes. */
const defaultLimit = 32 * 1024 * 1024
/** A pipe that has been silent for so long may never end; its reader is told what is waited for: milliseconds. */
const silenceMs = 3_000

/** The whole of stdin, as `streamStdin` reads it. Throws `too_large` beyond the limit in bytes. */
export async function readStdin(cli: Cli, limit = defaultLimit): Promise<Buffer> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of streamStdin(cli)) {
    size += piece.length
    if (size > limit)
      throw new AppError('too_large', `The standard input holds more than ${Math.round(limit / 1024 / 1024)} MiB`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

/**
 * stdin piece by piece. Ends early with Ctrl-C, SIGTERM and --timeout, like everything that a command waits for.
 * Throws `timeout`, and `io` where it cannot be read.
 */
export async function* streamStdin(cli: Cli): AsyncGenerator<Buffer> {
  const signal = cli.signal()
  const { stdin } = cli.io
  // Without its source the loop ends, and nothing keeps the process waiting for a pipe that stays open.
  const leave = () => void stdin.destroy()
  if (signal.aborted) leave()
  signal.addEventListener('abort', leave, { once: true })
  const stopTelling = tellWaiting(cli)
  try {
    for await (const piece of stdin as Readable & AsyncIterable<Buffer | string>) {
      stopTelling()
      yield typeof piece === 'string' ? Buffer.from(piece) : piece
    }
  } catch (reason) {
    if (!signal.aborted) throw new AppError('io', 'The standard input could not be read', { cause: reason })
  } finally {
    stopTelling()
    signal.removeEventListener('abort', leave)
  }
  if (!signal.aborted) return
  throw new AppError('timeout', `The standard input did not end within ${cli.globals().timeout}`)
}

/** Says what is waited for: at a terminal at once, for a pipe when nothing has come for a while. Returns how to stop that. */
function tellWaiting(cli: Cli): () => void {
  if (cli.io.stdinIsTerminal) {
    note(cli, 'aichat: reading what is typed; Ctrl-D at the beginning of a line ends it')
    return () => {}
  }
  const timer = setTimeout(() => {
    note(cli, 'aichat: waiting for the standard input to end; with < /dev/null nothing is waited for')
  }, silenceMs).unref()
  return () => clearTimeout(timer)
}
