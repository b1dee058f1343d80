import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** `npm run bench -- mutations` has the tests start its changed modules. */
const launcher =
  process.env['AICHAT_TEST_LAUNCHER'] ?? fileURLToPath(new URL('./bin/aichat', import.meta.resolve('#package')))
const fromSources = import.meta.url.endsWith('.ts') ? ['--conditions=development', '--import', 'tsx'] : []

/** The program and its arguments that start `aichat`, from the sources or from the build as the test itself runs. */
export const aichatCommand: readonly string[] = [process.execPath, ...fromSources, launcher]

export interface Finished {
  readonly code: number | null
  readonly stdout: string
  readonly bytes: Buffer
  readonly stderr: string
}

export interface RunOptions {
  readonly environment?: Readonly<Record<string, string>>
  /** The text on stdin; without it stdin is the null device. */
  readonly input?: string | Uint8Array
  readonly cwd?: string
}

/** A home folder of its own, and the command run in it with a clean environment. */
export interface Home extends Disposable {
  readonly folder: string
  aichat(words: readonly string[], options?: RunOptions): Promise<Finished>
  remove(): void
}

export function openHome(environment: Readonly<Record<string, string>> = {}): Home {
  const folder = mkdtempSync(join(tmpdir(), 'aichat-home-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  return {
    folder,
    aichat: (words, options = {}) =>
      run(words, {
        ...options,
        environment: {
          AICHAT_HOME: folder,
          HOME: folder,
          OLLAMA_HOST: '127.0.0.1:9',
          ...environment,
          ...options.environment,
        },
      }),
    remove,
    [Symbol.dispose]: remove,
  }
}

function run(words: readonly string[], { environment = {}, input, cwd }: RunOptions): Promise<Finished> {
  const [program, ...args] = aichatCommand
  const child = spawn(program!, [...args, ...words], {
    env: { PATH: process.env['PATH'], ...environment },
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    ...(cwd !== undefined && { cwd }),
  })
  const out: Buffer[] = []
  let stderr = ''
  child.stdout!.on('data', (piece: Buffer) => out.push(piece))
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  child.stdin?.on('error', () => {})
  child.stdin?.end(input)
  return new Promise((resolve) => {
    child.on('close', (code) => {
      const bytes = Buffer.concat(out)
      resolve({ code, bytes, stdout: bytes.toString('utf8'), stderr })
    })
  })
}
