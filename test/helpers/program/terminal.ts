import { PassThrough, Readable, Writable } from 'node:stream'
import { main } from '../../../src/cli/main.ts'
import { type Io, interrupted, terminated } from '../../../src/cli/terminal/io.ts'
import { type Home, openHome, type RunOptions } from './command.ts'
import {
  type Conversed,
  openTranscript,
  plain,
  type TerminalOptions,
  type TestTerminal,
  type Typed,
} from './pseudo-terminal.ts'
import { openRecording } from './recording.ts'

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly bytes: Buffer
  readonly stderr: string
}

export interface RunMainOptions extends RunOptions {
  /** Another stdin than that of `input`. */
  readonly stdin?: Readable
  /** Whether the output goes to a terminal. */
  readonly shown?: boolean
  /** Aborted where Ctrl-C would be pressed. */
  readonly signal?: AbortSignal
  /** Called with each piece of output as it is written. */
  readonly heard?: (name: 'stdout' | 'stderr', text: string) => void
}

/** Runs a command in this process, with streams of its own in place of the terminal. */
export async function runMain(
  words: readonly string[],
  {
    environment = {},
    input,
    stdin,
    shown = false,
    signal = new AbortController().signal,
    heard = () => {},
  }: RunMainOptions = {},
): Promise<Ran> {
  const out: Buffer[] = []
  const err: string[] = []
  const writeErr = (text: string) => {
    err.push(text)
    heard('stderr', text)
  }
  const given = input === undefined ? undefined : Buffer.from(input)
  const code = await main(words, {
    environment,
    stdinIsTerminal: false,
    stdoutIsTerminal: shown,
    stderrIsTerminal: shown,
    columns: 80,
    rows: 24,
    onResize: () => () => {},
    signal,
    stdin: stdin ?? Readable.from(given ? [given] : []),
    stderr: new Writable({ write: (piece, _, done) => done(void writeErr(String(piece)) as never) }),
    out: async (data) => {
      out.push(Buffer.from(data))
      heard('stdout', String(data))
    },
    err: (text) => writeErr(`${text}\n`),
    outClosed: false,
    stdinIsPiped: () => (stdin ?? given) !== undefined,
    outliveTerminal: () => true,
    leaveInterrupts: () => () => {},
  })
  const bytes = Buffer.concat(out)
  return { code, bytes, stdout: bytes.toString('utf8'), stderr: err.join('') }
}

/**
 * A home folder with commands that run in this process, through the same `main` as the program's: ten times faster than
 * a process each. For tests of output and exit codes; a test of signals, pipes or loaded modules spawns the program.
 */
export function openFastHome(environment: Readonly<Record<string, string>> = {}): Home {
  const home = openHome(environment)
  return {
    ...home,
    aichat: (words, options = {}) =>
      options.cwd === undefined
        ? runMain(words, {
            ...options,
            environment: {
              AICHAT_HOME: home.folder,
              HOME: home.folder,
              OLLAMA_HOST: '127.0.0.1:9',
              ...environment,
              ...options.environment,
            },
          })
        : home.aichat(words, options),
  }
}

/** The command of `openTerminalHere`. */
export interface TerminalHere extends TestTerminal {
  /** What went to a redirected stdout. */
  stdout(): string
}

/**
 * Starts a command in this process at a stand-in of a terminal, whose modes are kept, and which stops the command by Ctrl-C
 * where they are as at the start. For tests of what is typed and shown; a test of the modes themselves, of job control or
 * of signals spawns the program by `openTerminal`.
 */
export function openTerminalHere(
  words: readonly string[],
  environment: Readonly<Record<string, string>>,
  {
    size = [80, 24],
    heard = () => {},
    redirected = false,
  }: Pick<TerminalOptions, 'size' | 'heard'> & {
    /** Whether stdout goes elsewhere. */
    readonly redirected?: boolean
  } = {},
): TerminalHere {
  let [columns, rows] = size
  let isRaw = false
  const keyboard = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (raw: boolean) => {
      isRaw = raw
      return keyboard
    },
  })
  const signals = new AbortController()
  const resized = new Set<() => void>()
  let stdout = ''
  const show = (text: string) => {
    const lines = text.replaceAll('\n', '\r\n')
    transcript.add(lines)
    heard(lines)
  }
  const stderr = Object.assign(
    new Writable({ decodeStrings: false, write: (piece, _, done) => done(void show(String(piece)) as never) }),
    // As that of a process, it is not ended by a pipe into it.
    { isTTY: true, columns, rows, end() {} },
  )
  const io = {
    environment: { PATH: process.env['PATH'], TERM: 'xterm', LC_ALL: 'C.UTF-8', ...environment },
    stdinIsTerminal: true,
    stdoutIsTerminal: !redirected,
    stderrIsTerminal: true,
    get columns() {
      return columns
    },
    get rows() {
      return rows
    },
    onResize(listener: () => void) {
      resized.add(listener)
      return () => void resized.delete(listener)
    },
    signal: signals.signal,
    stdin: keyboard,
    stderr,
    async out(data: string | Uint8Array) {
      const text = Buffer.from(data).toString('utf8')
      if (redirected) stdout += text
      else show(text)
    },
    err: (text: string) => show(`${text}\n`),
    outClosed: false,
    stdinIsPiped: () => false,
    outliveTerminal: () => false,
    leaveInterrupts: () => () => {},
  }
  // In a later turn, when the transcript is there.
  const closed = Promise.resolve().then(() => main(words, io as Io))
  closed.catch(() => {})
  const transcript = openTranscript(closed, openRecording(words, size))
  const signal = (name: NodeJS.Signals) =>
    signals.abort({ SIGINT: interrupted, SIGTERM: terminated }[name as string] ?? new Error('terminal closed'))
  return {
    ...transcript,
    signal,
    hangUp: () => signal('SIGHUP'),
    type(keys) {
      if (keys === '\x03' && !isRaw) signal('SIGINT')
      else keyboard.write(keys)
    },
    resize(width, height) {
      columns = width
      rows = height
      Object.assign(stderr, { columns, rows }).emit('resize')
      for (const listener of resized) listener()
    },
    stdout: () => stdout,
    async ended() {
      const code = await closed
      return { code, restored: !transcript.marksPastes() && !isRaw }
    },
  }
}

/** Does what `converse` does, in this process. */
export async function converseHere(
  home: string,
  words: readonly string[],
  answers: readonly (readonly [question: RegExp, answer: Typed])[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Conversed> {
  const { TMPDIR } = process.env
  // An editor's file is in the folder of this process.
  if (environment['TMPDIR'] !== undefined) process.env['TMPDIR'] = environment['TMPDIR']
  const terminal = openTerminalHere(words, { AICHAT_HOME: home, HOME: home, ...environment }, { redirected: true })
  for (const [question, answer] of answers) {
    await terminal.shows(question)
    terminal.type(typeof answer === 'object' ? answer.keys : `${answer}\r`)
  }
  const { code } = await terminal.ended()
  if (TMPDIR === undefined) delete process.env['TMPDIR']
  else process.env['TMPDIR'] = TMPDIR
  return { code, shown: plain(terminal.shown()), stdout: terminal.stdout() }
}
