import { spawn } from 'node:child_process'
import { AppError } from '../../../errors.ts'
import { counted } from '../../../formats/formats.ts'
import type { Cli } from '../../terminal/cli.ts'
import { findProgram } from '../../terminal/programs.ts'

/** A program that copies its standard input, and the variable without which it has no clipboard to copy to. */
interface Copier {
  readonly command: readonly [string, ...string[]]
  readonly needs?: string
}

/** Programs that copy, in order of preference. */
const copiers: readonly Copier[] = [
  { command: ['wl-copy'], needs: 'WAYLAND_DISPLAY' },
  { command: ['xclip', '-selection', 'clipboard', '-in'], needs: 'DISPLAY' },
  { command: ['xsel', '--clipboard', '--input'], needs: 'DISPLAY' },
  { command: ['pbcopy'] },
  { command: ['clip.exe'] },
]

/** Milliseconds for a program to take the text. */
const copyingMs = 5_000

/** Characters of base64 that terminals take in one sequence: xterm's bound. */
const longestSequence = 100_000

/**
 * Copies a text by the first program that works, else by the terminal itself (OSC 52), and resolves with a sentence
 * about it. Throws `unavailable` where neither is possible.
 */
export async function copyText(cli: Cli, text: string, signal: AbortSignal): Promise<string> {
  const { environment } = cli.io
  const size = counted([...text].length, 'character')
  for (const { command, needs } of copiers) {
    if (needs !== undefined && !environment[needs]) continue
    const path = findProgram([command[0]], environment)
    if (path === undefined) continue
    if (await pipe(path, command.slice(1), text, environment, signal)) return `copied ${size} by ${command[0]}`
    signal.throwIfAborted()
  }
  const encoded = Buffer.from(text).toString('base64')
  const { TERM = 'dumb' } = environment
  if (TERM === 'dumb' || TERM === 'linux')
    throw new AppError('unavailable', 'No program that copies was found', {
      details: [`Install one of ${copiers.map(({ command }) => command[0]).join(', ')}`],
    })
  if (encoded.length > longestSequence)
    throw new AppError('too_large', `The answer is too long for the clipboard of the terminal: ${size}`, {
      details: [`Install one of ${copiers.map(({ command }) => command[0]).join(', ')}`],
    })
  // OSC 52 of xterm: sets the clipboard, "c", to a text in base64.
  cli.io.stderr.write(`\x1b]52;c;${encoded}\x07`)
  return `sent ${size} to the clipboard of the terminal, which takes them if its settings allow (OSC 52)`
}

/** Writes a text to a program. False where it fails. It may stay behind, as xclip does to serve the clipboard. */
function pipe(
  path: string,
  args: readonly string[],
  text: string,
  environment: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(path, [...args], { env: { ...environment }, stdio: ['pipe', 'ignore', 'ignore'] })
    const stop = () => void child.kill()
    const timer = setTimeout(stop, copyingMs)
    signal.addEventListener('abort', stop, { once: true })
    const end = (worked: boolean) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
      resolve(worked)
    }
    child.on('error', () => end(false))
    child.on('exit', (code) => end(code === 0))
    child.stdin.on('error', () => {})
    child.stdin.end(text)
  })
}
