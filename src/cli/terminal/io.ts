import { fstatSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { AppError } from '../../errors.ts'

export { stripControls } from '../../formats/terminal-text.ts'

/** The terminal, or what stands in for it: everything a command reads and writes. */
export interface Io {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly stdinIsTerminal: boolean
  readonly stdoutIsTerminal: boolean
  readonly stderrIsTerminal: boolean
  /** Columns of the terminal, else what COLUMNS says, else 80. */
  readonly columns: number
  /** Aborted by Ctrl-C, by SIGTERM, and by SIGHUP where a terminal is in use. */
  readonly signal: AbortSignal
  readonly stdin: Readable
  readonly stderr: Writable
  /** Writes the result; resolves when the reader can take more. A reader that has gone is no error. */
  out(data: string | Uint8Array): Promise<void>
  /** Writes a line of progress, a warning or a question. */
  err(text: string): void
  /** True when the reader of stdout has gone away. */
  readonly outClosed: boolean
  /** True when stdin is a pipe or a file: something was handed over. A terminal, a null device or nothing is not. */
  stdinIsGiven(): boolean
  /** From now on a terminal that goes is a reason to stop only where stdin is that terminal: for a service. */
  outliveTerminal(): void
}

/** This process's own streams. */
export function processIo(): Io {
  const controller = new AbortController()
  // The system tells that the terminal has gone. A command without one, as under nohup, goes on.
  let outlives = ![process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY)
  const heed = (name: NodeJS.Signals, reason: Error) => {
    // Not `once`: a library that restores the terminal would take a signal without listeners for its own to end with.
    const heard = () => {
      if (name === 'SIGHUP' && outlives) return
      if (!controller.signal.aborted) return controller.abort(reason)
      // The first signal asked the command to stop, the second ends it.
      process.off(name, heard)
      process.kill(process.pid, name)
    }
    process.on(name, heard)
  }
  heed('SIGINT', interrupted)
  heed('SIGTERM', terminated)
  heed('SIGHUP', hungUp)
  let closed = false
  process.stdout.on('error', (reason: NodeJS.ErrnoException) => {
    if (reason.code !== 'EPIPE') writeError = reason
    closed = true
  })
  process.stderr.on('error', () => {})
  // A terminal that has gone; who reads stdin hears of it by its end.
  process.stdin.on('error', () => {})
  let writeError: Error | undefined
  return {
    environment: process.env,
    stdinIsTerminal: process.stdin.isTTY === true,
    stdoutIsTerminal: process.stdout.isTTY === true,
    stderrIsTerminal: process.stderr.isTTY === true,
    columns: process.stdout.columns || process.stderr.columns || Number(process.env['COLUMNS']) || 80,
    signal: controller.signal,
    stdin: process.stdin,
    stderr: process.stderr,
    get outClosed() {
      return closed
    },
    async out(data) {
      if (closed) return
      await new Promise<void>((resolve) => {
        process.stdout.write(data, () => resolve())
      })
      if (writeError) throw new AppError('io', 'The output could not be written', { cause: writeError })
    },
    err(text) {
      process.stderr.write(`${text}\n`)
    },
    outliveTerminal() {
      outlives = !process.stdin.isTTY
    },
    stdinIsGiven() {
      if (process.stdin.isTTY) return false
      try {
        const stat = fstatSync(0)
        return stat.isFIFO() || stat.isFile() || stat.isSocket()
      } catch {
        return false
      }
    },
  }
}

/** The reasons with which a command is asked to stop. */
export const interrupted = new Error('interrupted')
export const terminated = new Error('terminated')
const hungUp = new Error('the terminal has gone')
