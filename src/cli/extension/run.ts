import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { basename } from 'node:path'
import { AppError, toAppError } from '../../errors.ts'
import { createKey, revokeKey } from '../../operations/operations.ts'
import { findDaemon } from '../connect/daemon.ts'
import type { Cli } from '../terminal/cli.ts'

/** What an extension may ask the daemon for, and for how long where this process is killed before it revokes the key. */
const rights = { scopes: ['chat', 'embeddings', 'speech', 'models'] as const, expires_in: '24h' }

/** Time for revoking the key of an extension that ended: milliseconds. */
const revocationMs = 5_000

/**
 * Runs the program of an extension at this terminal until it ends, and takes its exit code. Its environment names the data
 * folder, and where a daemon answers its address and an API key that ends with the program. Throws `unavailable` where the
 * program cannot be started.
 */
export async function runExtension(cli: Cli, path: string, words: readonly string[]): Promise<void> {
  const { server, local } = cli.globals()
  const { paths } = await cli.settings()
  const url = local ? undefined : await daemonOf(cli)
  const key = url === undefined ? undefined : await keyFor(cli, basename(path))
  try {
    cli.exit = await start(cli, path, words, {
      ...cli.io.environment,
      AICHAT_DATA: paths.data,
      ...(server !== undefined && { AICHAT_SERVER: server }),
      ...(url !== undefined && { AICHAT_URL: url }),
      ...(key && { AICHAT_API_KEY: key.secret }),
    })
  } finally {
    // With a signal of its own: an interrupted command revokes as well.
    if (key) await cli.ask(revokeKey, { id: key.id }, AbortSignal.timeout(revocationMs)).catch(() => {})
  }
}

/** The address of the daemon; undefined where none runs here. Throws where `--server` names one that does not answer. */
async function daemonOf(cli: Cli): Promise<string | undefined> {
  try {
    return await findDaemon(cli)
  } catch (reason) {
    if (cli.globals().server !== undefined) throw reason
    return undefined
  }
}

/** An extension may do without a key, such as one that reads files alone. */
async function keyFor(cli: Cli, name: string) {
  try {
    return await cli.ask(createKey, { name, ...rights, scopes: [...rights.scopes] })
  } catch (reason) {
    if (!cli.globals().quiet) cli.io.err(`${name} runs without an API key: ${toAppError(reason).message}`)
    return undefined
  }
}

function start(cli: Cli, path: string, words: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  // The extension decides what Ctrl-C means.
  const takeInterrupts = cli.io.leaveInterrupts()
  const child = spawn(path, words, { stdio: 'inherit', env })
  const end = () => child.kill('SIGTERM')
  cli.signal().addEventListener('abort', end, { once: true })
  return new Promise<number>((resolve, reject) => {
    child.on('error', (cause) =>
      reject(new AppError('unavailable', `${path} could not be started: ${cause.message}`, { cause })),
    )
    child.on('exit', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)))
  }).finally(() => {
    cli.signal().removeEventListener('abort', end)
    takeInterrupts()
  })
}
