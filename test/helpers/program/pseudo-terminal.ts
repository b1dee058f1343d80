import { spawn, spawnSync } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../eventually.ts'
import { aichatCommand } from './command.ts'
import { openRecording } from './recording.ts'

/** Whether there is util-linux's `script`, which gives a command a terminal of its own. */
export const hasPseudoTerminal = spawnSync('script', ['--version'], { stdio: 'ignore' }).status === 0

/** Typed input: a line ended by Enter, or single keys. */
export type Typed = string | { readonly keys: string }

export interface Conversed {
  readonly code: number | null
  /** The text that the terminal showed, without its control sequences. */
  readonly shown: string
  readonly stdout: string
}

/** A command that waits for something else than the test expects would wait for ever: milliseconds. */
const limitMs = 120_000

/** Runs a command at a terminal, its stdout in a file of the folder, and answers its questions as they appear. */
export async function converse(
  home: string,
  words: readonly string[],
  answers: readonly (readonly [question: RegExp, answer: Typed])[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Conversed> {
  const file = join(home, 'stdout')
  const command = `${[...aichatCommand, ...words].map((word) => `'${word}'`).join(' ')} > '${file}'`
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { PATH: process.env['PATH'], AICHAT_HOME: home, HOME: home, TERM: 'xterm', ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let shown = ''
  let waiting = [...answers]
  let seen = 0
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text
    const [question, answer] = waiting[0] ?? []
    if (!question?.test(plain(shown.slice(seen)))) return
    seen = shown.length
    waiting = waiting.slice(1)
    child.stdin.write(typeof answer === 'object' ? answer.keys : `${answer}\r`)
  })
  const timer = setTimeout(() => child.kill(), limitMs)
  const [code] = (await once(child, 'close')) as [number | null]
  clearTimeout(timer)
  return { code, shown: plain(shown), stdout: readFileSync(file, 'utf8') }
}

/** A text without control sequences. */
export function plain(text: string): string {
  return text.replace(/\x1b\[[0-9;?]*[A-Za-z]/g, '')
}

/** A command at a terminal of 80 columns, used interactively. */
export interface TestTerminal {
  /** Presses keys. */
  type(keys: string): void
  /** Resolves once the text shown since the last such wait matches, control sequences left out. */
  shows(pattern: RegExp): Promise<void>
  /** Sends a signal to the command alone. */
  signal(name: NodeJS.Signals): void
  /** Gives the window another size. */
  resize(columns: number, rows: number): void
  /** Closes the terminal. */
  hangUp(): void
  /** All that was shown so far, as it was sent. */
  shown(): string
  /** Resolves when the command has ended. `restored`: the terminal's modes are as they were, and pastes are not marked. */
  ended(): Promise<{ readonly code: number; readonly restored: boolean }>
}

export interface PseudoTerminal extends TestTerminal {
  /** The process of the command. */
  readonly pid: number
  /** The file of this name that the script around the command wrote. */
  text(name: string): string
}

/** The output of a terminal: what it has shown, and waits for a text in it. */
export interface Transcript extends Pick<TestTerminal, 'shows' | 'shown'> {
  add(text: string): void
  /** Whether the terminal marks pastes at the end. */
  marksPastes(): boolean
}

/** Opens one that waits until `closed` resolves; `record` gets all that is added. */
export function openTranscript(closed: Promise<unknown>, record: (text: string) => void): Transcript {
  const told = new EventEmitter()
  let shown = ''
  let seen = 0
  let isClosed = false
  const close = () => {
    isClosed = true
    told.emit('shown')
  }
  closed.then(close, close)
  return {
    add(text) {
      shown += text
      record(text)
      told.emit('shown')
    },
    shown: () => shown,
    marksPastes: () => shown.lastIndexOf('\x1b[?2004h') > shown.lastIndexOf('\x1b[?2004l'),
    async shows(pattern) {
      while (!pattern.test(plain(shown.slice(seen)))) {
        if (isClosed) throw new Error(`The terminal closed without ${pattern}: ${plain(shown)}`)
        await once(told, 'shown')
      }
      seen = shown.length
    },
  }
}

export interface TerminalOptions {
  /** Where the command's streams go instead of the terminal, as a shell writes it. */
  readonly redirections?: string
  readonly size?: readonly [columns: number, rows: number]
  /** Receives the output of the terminal as it comes. */
  readonly heard?: (text: string) => void
  /** The lines of bash that run the command; `file` names a file for `text`. */
  readonly script?: (run: string, file: (name: string) => string) => string
}

/** Starts `aichat` at a terminal of its own, in a folder where no other terminal is open. */
export async function openTerminal(
  home: string,
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  {
    redirections = '',
    script = (run) => run,
    size: [columns, rows] = [80, 24],
    heard = () => {},
  }: TerminalOptions = {},
): Promise<PseudoTerminal> {
  const file = (name: string) => join(home, `terminal-${name}`)
  for (const name of ['pid', 'code', 'before', 'after']) rmSync(file(name), { force: true })
  const command = [...aichatCommand, ...words].map((word) => `'${word}'`).join(' ')
  const run = `sh -c 'echo $$ > "$0"; exec "$@"' '${file('pid')}' ${command} ${redirections}`
  writeFileSync(
    file('run'),
    [
      `stty cols ${columns} rows ${rows}`,
      `tty > '${file('tty')}'`,
      `stty -g > '${file('before')}'`,
      script(run, file),
      `echo $? > '${file('code')}'`,
      `stty -g > '${file('after')}'`,
    ].join('\n'),
  )
  const child = spawn('script', ['-qec', `bash '${file('run')}'`, '/dev/null'], {
    env: { PATH: process.env['PATH'], AICHAT_HOME: home, HOME: home, TERM: 'xterm', LC_ALL: 'C.UTF-8', ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const closed = once(child, 'close')
  const timer = setTimeout(() => child.kill('SIGKILL'), limitMs)
  closed.finally(() => clearTimeout(timer))
  child.stdin.on('error', () => {})
  const transcript = openTranscript(closed, openRecording(words, [columns, rows]))
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    transcript.add(text)
    heard(text)
  })
  const text = (name: string) => (existsSync(file(name)) ? readFileSync(file(name), 'utf8').trim() : '')
  return {
    type: (keys) => void child.stdin.write(keys),
    ...transcript,
    get pid() {
      return Number(text('pid'))
    },
    signal(name) {
      process.kill(Number(text('pid')), name)
    },
    resize(columns, rows) {
      spawnSync('stty', ['-F', text('tty'), 'cols', String(columns), 'rows', String(rows)])
    },
    hangUp: () => void child.kill('SIGKILL'),
    text,
    async ended() {
      await closed
      return {
        code: Number(text('code') || Number.NaN),
        restored: !transcript.marksPastes() && text('before') === text('after'),
      }
    },
  }
}

/** Resolves when the process has ended, a zombie included. */
export async function processGone(pid: number): Promise<void> {
  await until(() => !isRunning(pid))
}

function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}
