import { AppError } from '../../errors.ts'
import { holdBusyLine } from './busy-line.ts'
import type { Cli } from './cli.ts'
import { stripControls } from './io.ts'
import { noText, readStdin } from './stdin.ts'

/** The longest secret read from stdin: bytes. */
const longest = 64 * 1024

/** Columns of inquirer's line on keys. */
const keysWidth = 24

/** True when a question can be asked: on a terminal, and without --no-input. */
export async function canAsk(cli: Cli): Promise<boolean> {
  const { io } = cli
  return cli.globals().input && io.stdinIsTerminal && io.stderrIsTerminal && !(await cli.settings()).noInput
}

/** Asks before a loss; `--yes` answers yes. Throws `found` (exit 1) on no, and `usage` where it cannot ask. */
export async function confirm(cli: Cli, question: string): Promise<void> {
  if (cli.globals().yes) return
  if (!(await canAsk(cli))) throw new AppError('usage', `${question} Cannot ask without a terminal: add --yes`)
  if (!(await askTerminal<boolean>(cli, { type: 'confirm', message: question, default: false })))
    throw new AppError('found', 'Nothing was changed')
}

/** A question of inquirer (https://github.com/SBoudrias/Inquirer.js), without its name. */
interface Question {
  readonly type: 'confirm' | 'input' | 'password' | 'checkbox' | 'select' | 'search'
  readonly message: string
  readonly default?: unknown
  readonly choices?: readonly object[]
  /** The choices of `search` for what is typed so far. */
  readonly source?: (typed: string | undefined) => readonly object[] | Promise<readonly object[]>
  /** Lines of choices that are seen at once where the window is high enough; 7 by default. */
  readonly pageSize?: number
  /** True, or why the answer is none. */
  readonly validate?: (answer: string) => true | string
}

/** Asks on stderr and restores the terminal in every case. Ctrl-C throws `Interrupted`; a signal ends the question too. */
export async function askTerminal<T>(cli: Cli, question: Question): Promise<T> {
  const release = holdBusyLine(cli.io)
  try {
    return await ask(cli, question)
  } finally {
    release()
  }
}

async function ask<T>(cli: Cli, question: Question): Promise<T> {
  const { default: inquirer } = await import('inquirer')
  // The package reads `signal`; its types do not declare it.
  const context = { input: cli.io.stdin, output: cli.io.stderr, signal: cli.io.signal } as object
  const message = stripControls(question.message)
  const { columns, rows } = cli.io
  // The window also holds two free lines, the question, and below the choices inquirer's line on keys; both may wrap.
  const around = 2 + Math.ceil((message.length + 4) / columns) + Math.ceil(keysWidth / columns)
  const pageSize = Math.max(3, Math.min(question.pageSize ?? 7, rows - around))
  try {
    const { answer } = await inquirer.createPromptModule(context)([
      { ...question, message, pageSize, name: 'answer' } as never,
    ])
    return answer as T
  } catch (reason) {
    if (reason instanceof Error && reason.name === 'ExitPromptError') throw new Interrupted('interrupted')
    throw reason
  }
}

/** Ctrl-C at a question: exit 130, without a message. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

/** Asks for a text on stderr. Throws `usage`, naming the option that gives it, where it cannot ask. */
export async function askText(cli: Cli, question: string, option: string): Promise<string> {
  if (!(await canAsk(cli))) throw new AppError('usage', `Cannot ask without a terminal: add ${option}`)
  return askTerminal(cli, { type: 'input', message: question })
}

/** Asks for a secret without echo, twice for a new one, or reads `piped` stdin. Throws `usage` without either. */
export async function askSecret(
  cli: Cli,
  question: string,
  option: string,
  options: { readonly twice?: boolean; readonly piped?: boolean | undefined } = {},
): Promise<string> {
  if (options.piped) return (await readSecrets(cli, 1))[0]!
  if (!(await canAsk(cli))) throw new AppError('usage', `Cannot ask without a terminal: pipe it in with ${option}`)
  const ask = (message: string) => askTerminal<string>(cli, { type: 'password', message })
  const secret = await ask(question)
  if (options.twice && secret !== (await ask(`${question} (again)`)))
    throw new AppError('usage', 'The two do not match')
  return secret
}

/** Reads secrets from stdin, one a line. Throws `usage` when there are fewer. */
export async function readSecrets(cli: Cli, count: number): Promise<readonly string[]> {
  const { textOfBytes } = await import('../../formats/text-bytes.ts')
  const text = textOfBytes(await readStdin(cli, longest))
  if (text === undefined) throw noText('Standard input')
  const lines = text.split(/\r?\n/)
  const secrets = lines.slice(0, count)
  if (secrets.length < count || secrets.some((secret) => secret === ''))
    throw new AppError('usage', count === 1 ? 'Nothing was piped in' : `Pipe in ${count} lines`)
  return secrets
}
