import { fstatSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { AppError } from '../../errors.ts'

export { stripControls } from '../../formats/formats.ts'

/** The streams, environment and signals of a command; tests pass their own. */
export interface Io {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly stdinIsTerminal: boolean
  readonly stdoutIsTerminal: boolean
  readonly stderrIsTerminal: boolean
  /** Columns of the terminal now, else COLUMNS, else 80. */
  readonly columns: number
  /** Rows of the terminal now, else 24. */
  readonly rows: number
  /** Calls the listener after the terminal changed its size, until the returned function is called. */
  onResize(listener: () => void): () => void
  /** Aborted by Ctrl-C, by SIGTERM, and by SIGHUP where a terminal is in use. */
  readonly signal: AbortSignal
  readonly stdin: Readable
  readonly stderr: Writable
  /** Writes to stdout; resolves when written. A closed pipe (EPIPE) is no error. Throws `io` when a write fails. */
  out(data: string | Uint8Array): Promise<void>
  err(text: string): void
  /** True after stdout was closed by its reader. */
  readonly outClosed: boolean
  /** True when stdin is a pipe, a file or a socket; false for a terminal or the null device. */
  stdinIsPiped(): boolean
  /** For services: SIGHUP stops the command where stdin is the terminal (then false), and calls the listener elsewhere. */
  outliveTerminal(onHangUp?: () => void): boolean
  /** Leaves Ctrl-C to another program at this terminal, such as an editor, until the returned function is called. */
  leaveInterrupts(): () => void
}

/** The streams of this process. */
export function processIo(): Io {
  const controller = new AbortController()
  // SIGHUP: the terminal closed. A command without a terminal, as under nohup, goes on.
  let outlives = ![process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY)
  let hungUpListener = () => {}
  let leftTo = 0
  const abortOn = (name: NodeJS.Signals, reason: Error) => {
    // Not `once`: libraries that restore the terminal end the process on a signal without listeners.
    const onSignal = () => {
      if (name === 'SIGHUP' && outlives) return hungUpListener()
      if (name === 'SIGINT' && leftTo > 0) return
      if (!controller.signal.aborted) return controller.abort(reason)
      // The first signal asks the command to stop, the second ends the process.
      process.off(name, onSignal)
      process.kill(process.pid, name)
    }
    process.on(name, onSignal)
  }
  abortOn('SIGINT', interrupted)
  abortOn('SIGTERM', terminated)
  abortOn('SIGHUP', hungUp)
  let closed = false
  process.stdout.on('error', (reason: NodeJS.ErrnoException) => {
    if (reason.code !== 'EPIPE') writeError = reason
    closed = true
  })
  process.stderr.on('error', () => {})
  // A closed terminal; readers of stdin see its end.
  process.stdin.on('error', () => {})
  let writeError: Error | undefined
  return {
    environment: process.env,
    stdinIsTerminal: process.stdin.isTTY === true,
    stdoutIsTerminal: process.stdout.isTTY === true,
    stderrIsTerminal: process.stderr.isTTY === true,
    get columns() {
      return process.stdout.columns || process.stderr.columns || Number(process.env['COLUMNS']) || 80
    },
    get rows() {
      return process.stdout.rows || process.stderr.rows || 24
    },
    onResize(listener) {
      const sized = process.stdout.isTTY ? process.stdout : process.stderr
      sized.on('resize', listener)
      return () => void sized.off('resize', listener)
    },
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
    outliveTerminal(onHangUp = () => {}) {
      outlives = !process.stdin.isTTY
      hungUpListener = onHangUp
      return outlives
    },
    leaveInterrupts() {
      leftTo++
      return () => void leftTo--
    },
    stdinIsPiped() {
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

/** Abort reasons of `Io.signal`. */
export const interrupted = new Error('interrupted')
export const terminated = new Error('terminated')
const hungUp = new Error('terminal closed')
