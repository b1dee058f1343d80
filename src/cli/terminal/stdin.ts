import type { Readable } from 'node:stream'
import { AppError } from '../../errors.ts'
import { readBytes } from '../../formats/formats.ts'
import type { Cli } from './cli.ts'
import { note } from './output.ts'

/** The most of stdin read into memory by default: bytes. */
const defaultLimit = 32 * 1024 * 1024
/** The silence of a pipe after which a note says that the command is waiting: milliseconds. */
const silenceMs = 3_000

/** Reads all of stdin, as `streamStdin` does. Throws `too_large` beyond the limit in bytes. */
export async function readStdin(cli: Cli, limit = defaultLimit): Promise<Buffer> {
  const tooLong = () => new AppError('too_large', `Standard input holds more than ${sizeOf(limit)}`)
  return readBytes(streamStdin(cli), limit, tooLong)
}

/** Reads all of stdin as a text, as `readStdin` and `textFrom` do. */
export async function readStdinText(cli: Cli, limit = defaultLimit): Promise<string> {
  return textFrom(cli, await readStdin(cli, limit), 'Standard input')
}

/**
 * The text of bytes in UTF-8, or in UTF-16 behind its byte order mark, without the mark. Bytes that UTF-8 does not have, as
 * in a log, are read as U+FFFD, and stderr says so. Throws `invalid` for a NUL, which no text has.
 */
export async function textFrom(cli: Cli, bytes: Uint8Array, name: string): Promise<string> {
  const { textOfBytes } = await import('../../formats/text-bytes.ts')
  const text = textOfBytes(bytes)
  if (text !== undefined) return text
  const likely = textOfBytes(bytes, undefined, true)
  if (likely === undefined) throw noText(name)
  note(cli, `aichat: ${name} is not all UTF-8: what is none became U+FFFD; iconv -t UTF-8 converts other encodings`)
  return likely
}

/** The failure of an input that has to be a text: `invalid`. */
export function noText(name: string): AppError {
  return new AppError('invalid', `${name} is no text`, { details: ['Give UTF-8, or UTF-16 with its byte order mark'] })
}

/** A limit in words: whole MiB, or KiB below one. */
export function sizeOf(bytes: number): string {
  return bytes >= 1024 * 1024 ? `${Math.round(bytes / 1024 / 1024)} MiB` : `${Math.round(bytes / 1024)} KiB`
}

/**
 * Streams stdin until its end, Ctrl-C, SIGTERM or --timeout. Throws `timeout`, and `io` where it cannot be read.
 */
export async function* streamStdin(cli: Cli): AsyncGenerator<Buffer> {
  const signal = cli.signal()
  const { stdin } = cli.io
  // Destroying stdin ends the loop and lets the process exit while the pipe stays open.
  const leave = () => void stdin.destroy()
  if (signal.aborted) leave()
  signal.addEventListener('abort', leave, { once: true })
  const cancelNote = noteWaiting(cli)
  try {
    for await (const piece of stdin as Readable & AsyncIterable<Buffer | string>) {
      cancelNote()
      yield typeof piece === 'string' ? Buffer.from(piece) : piece
    }
  } catch (reason) {
    if (!signal.aborted) throw new AppError('io', 'Standard input could not be read', { cause: reason })
  } finally {
    cancelNote()
    signal.removeEventListener('abort', leave)
  }
  if (!signal.aborted) return
  throw new AppError('timeout', `Standard input did not end within the time of --timeout ${cli.globals().timeout}`)
}

/** The failure of a command that takes its text from standard input and finds none there: `usage`. */
export function emptyInput(verb: 'ask' | 'speak' | 'remember'): AppError {
  return new AppError('usage', `Nothing to ${verb}: standard input is empty`)
}

/** Notes that stdin is being read: on a terminal at once, for a pipe after some silence. Returns how to cancel it. */
function noteWaiting(cli: Cli): () => void {
  if (cli.io.stdinIsTerminal) {
    note(cli, 'aichat: reading from the terminal; Ctrl-D on an empty line ends it')
    return () => {}
  }
  const timer = setTimeout(() => {
    note(cli, 'aichat: waiting for standard input to end; add < /dev/null to read nothing')
  }, silenceMs).unref()
  return () => clearTimeout(timer)
}
