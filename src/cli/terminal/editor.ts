import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AppError } from '../../errors.ts'
import type { Cli } from './cli.ts'
import { canAsk } from './prompts.ts'

/**
 * Has a text edited in the program of `VISUAL` or `EDITOR`, in a file that no other user can read. Resolves with the text as
 * it was saved, without the line break at its end. `file` names the file, by which editors choose colours. Throws `usage`,
 * naming the option that gives the text if there is one, without a terminal or an editor, and `found` when the editor fails.
 */
export async function editText(
  cli: Cli,
  text: string,
  option?: string,
  { file: name = 'memory.txt' }: { readonly file?: string } = {},
): Promise<string> {
  const { environment } = cli.io
  const editor = environment['VISUAL'] || environment['EDITOR']
  if (!(await canAsk(cli)))
    throw new AppError('usage', `Cannot open an editor without a terminal${option ? `: add ${option}` : ''}`)
  if (!editor) throw new AppError('usage', `No editor is set: set EDITOR${option ? `, or add ${option}` : ''}`)
  const folder = await mkdtemp(join(tmpdir(), 'aichat-edit-'))
  try {
    const file = join(folder, name)
    await writeFile(file, `${text}\n`, { mode: 0o600 })
    await run(cli, editor, file)
    return (await readFile(file, 'utf8')).replace(/\r?\n$/, '')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Runs an editor in the terminal, where stdout may be a file. The shell reads its command, which may hold options, as git's does. */
function run({ io }: Cli, editor: string, file: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('sh', ['-c', `${editor} "$@"`, editor, file], { stdio: ['inherit', 2, 2] })
    const takeInterrupts = io.leaveInterrupts()
    const stop = () => void child.kill()
    io.signal.addEventListener('abort', stop, { once: true })
    const end = () => {
      takeInterrupts()
      io.signal.removeEventListener('abort', stop)
    }
    child.on('error', (cause) => {
      end()
      reject(new AppError('io', `The editor "${editor}" could not be started`, { cause }))
    })
    child.on('exit', (code) => {
      end()
      if (code === 0) resolve()
      else reject(new AppError('found', `Nothing was changed: the editor "${editor}" failed`))
    })
  })
}
