import { AppError } from '../../errors.ts'
import { askTerminal, type Cli, mayAsk } from './cli.ts'
import { readStdin } from './stdin.ts'

/** The longest secret that is read from stdin: bytes. */
const longest = 64 * 1024

/** A text, asked on stderr. Throws `usage`, naming the flag that says it, where nobody can be asked. */
export async function askText(cli: Cli, question: string, flag: string): Promise<string> {
  if (!(await mayAsk(cli))) throw new AppError('usage', `Nobody can be asked here: say ${flag}`)
  return askTerminal(cli, { type: 'input', message: question })
}

/** A secret, asked on stderr without showing what is typed, or twice for a new one. */
export async function askSecret(cli: Cli, question: string, flag: string, options: { readonly twice?: boolean } = {}) {
  if (!(await mayAsk(cli))) throw new AppError('usage', `Nobody can be asked here: pipe it in with ${flag}`)
  const ask = (message: string) => askTerminal<string>(cli, { type: 'password', message })
  const secret = await ask(question)
  if (options.twice && secret !== (await ask(`${question} (again)`)))
    throw new AppError('usage', 'The two do not match')
  return secret
}

/** Secrets piped in, one a line. Throws `usage` when there are fewer. */
export async function readSecrets(cli: Cli, count: number): Promise<readonly string[]> {
  const lines = (await readStdin(cli, longest)).toString('utf8').split(/\r?\n/)
  const secrets = lines.slice(0, count)
  if (secrets.length < count || secrets.some((secret) => secret === ''))
    throw new AppError('usage', count === 1 ? 'Nothing was piped in' : `Pipe in ${count} lines`)
  return secrets
}
