import { Readable, Writable } from 'node:stream'
import { main } from '../../../src/cli/main.ts'
import { type Home, openHome, type RunOptions } from './command.ts'

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly bytes: Buffer
  readonly stderr: string
}

export interface RunMainOptions extends RunOptions {
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
    stdin: Readable.from(given ? [given] : []),
    stderr: new Writable({ write: (piece, _, done) => done(void writeErr(String(piece)) as never) }),
    out: async (data) => {
      out.push(Buffer.from(data))
      heard('stdout', String(data))
    },
    err: (text) => writeErr(`${text}\n`),
    outClosed: false,
    stdinIsPiped: () => given !== undefined,
    outliveTerminal: () => true,
    passSignals: () => {},
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
