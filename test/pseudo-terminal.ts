import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { aichatCommand } from './command.ts'

/** Whether there is util-linux's `script`, which gives a command a terminal of its own. */
export const hasPseudoTerminal = spawnSync('script', ['--version'], { stdio: 'ignore' }).status === 0

/** What is typed: a line, which Enter ends, or single keys as they are. */
export type Typed = string | { readonly keys: string }

export interface Conversed {
  readonly code: number | null
  /** All that the terminal showed, without what moves its cursor and colours it. */
  readonly shown: string
  readonly stdout: string
}

/** A command that waits for something else than the test expects would wait for ever: milliseconds. */
const patience = 120_000

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
  const timer = setTimeout(() => child.kill(), patience)
  const [code] = (await once(child, 'close')) as [number | null]
  clearTimeout(timer)
  return { code, shown: plain(shown), stdout: readFileSync(file, 'utf8') }
}

function plain(text: string): string {
  return text.replace(/\x1b\[[0-9;?]*[A-Za-z]/g, '')
}
