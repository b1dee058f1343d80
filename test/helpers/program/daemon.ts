import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LoginAnswer } from '../../../src/accounts/logins.ts'
import type { Accounts } from '../../../src/accounts/user-accounts.ts'
import { terminated } from '../../../src/cli/terminal/io.ts'
import { identifyBy } from '../../../src/server/guards.ts'
import { cheapHashes } from '../cheap-bcrypt.ts'
import { closing } from '../disposal.ts'
import { placeEmptyDatabase } from '../storage/empty-database.ts'
import { aichatCommand } from './command.ts'
import { type Installation, openInstallation } from './installation.ts'
import { runMain } from './terminal.ts'

/** A password that the rules allow. */
export const goodPassword = 'Passw0rd'

export interface Answered {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any
}

export interface CallOptions {
  readonly token?: string | undefined
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

/** Asks an HTTP API as a client does: `call('POST', '/api/auth/login', { body })`. */
export type CallApi = (method: string, path: string, options?: CallOptions) => Promise<Answered>

/** The API with its accounts, in this process on a free loopback port, in a folder of its own. */
export interface TestDaemon {
  readonly home: string
  readonly installation: Installation
  readonly accounts: Accounts
  readonly url: string
  readonly call: CallApi
  /** Registers over HTTP; the first one is the administrator. */
  register(username: string, password?: string): Promise<LoginAnswer>
  close(): Promise<void>
}

export async function openDaemon(environment: Record<string, string> = {}): Promise<TestDaemon & AsyncDisposable> {
  const installation = openInstallation(environment)
  const { app } = installation
  const [accounts, keys] = await Promise.all([app.accounts(), app.apiKeys()])
  const url = await installation.serve(
    identifyBy(accounts, keys, app.settings, { setupToken: 'setup-token-of-the-test' }),
  )
  const call = callApi(url)
  return closing({
    home: installation.home,
    installation,
    accounts,
    url,
    call,
    async register(username: string, password = goodPassword) {
      const { status, body } = await call('POST', '/api/auth/register', { body: { username, password } })
      if (status !== 201) throw new Error(`registering ${username}: ${status} ${JSON.stringify(body)}`)
      return body as LoginAnswer
    },
    close: () => installation.close(),
  })
}

/** Does something with a daemon and closes it. */
export async function withDaemon(
  work: (daemon: TestDaemon) => Promise<void>,
  environment: Record<string, string> = {},
): Promise<void> {
  await using daemon = await openDaemon(environment)
  await work(daemon)
}

export function callApi(url: string): CallApi {
  return async (method, path, { token, body, headers = {} } = {}) => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: readable(text) }
  }
}

function readable(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/**
 * The daemon as a process: `aichat serve api`, from the build or from the sources as the test itself runs. Declared by
 * `await using`, it is stopped and its folder removed at the end of the block.
 */
export interface SpawnedDaemon {
  readonly home: string
  readonly url: string
  readonly child: ChildProcess
  readonly call: CallApi
  /** Its output so far. */
  readonly output: { stdout: string; stderr: string }
  /**
   * Ends it with a signal and resolves with its exit code; its output is whole then, except of SIGKILL, after which processes
   * that it started may write on.
   */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/** AICHAT_TEST_WORKERS=2 runs the tests of one process on a daemon of several: its promises hold for all of them. */
const workers = process.env['AICHAT_TEST_WORKERS']
const workerFlags = workers === undefined ? [] : ['--workers', workers]

/**
 * Starts it, in a new folder unless one is given; its bcrypt is cheap unless `NODE_OPTIONS` is given. Throws its output when
 * it ends instead of listening.
 */
export async function spawnDaemon(
  environment: Record<string, string> = {},
  home = mkdtempSync(join(tmpdir(), 'aichat-daemon-')),
  flags: readonly string[] = workerFlags,
): Promise<SpawnedDaemon & AsyncDisposable> {
  placeEmptyDatabase(home, environment)
  const [program, ...args] = aichatCommand
  const child = spawn(program!, [...args, 'serve', 'api', '--port', '0', ...flags], {
    env: {
      PATH: process.env['PATH'],
      AICHAT_HOME: home,
      HOME: home,
      OLLAMA_HOST: '127.0.0.1:9',
      ...cheapHashes,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name]!.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
    })
  const ended = once(child, 'exit')
  const closed = once(child, 'close')
  const listening = /serves the API on (https?:\/\/\S+:\d+)/
  while (!listening.test(output.stderr)) {
    if (child.exitCode !== null || child.signalCode !== null) {
      await closed
      throw new DaemonEnded(child.exitCode, output.stderr)
    }
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  const url = listening.exec(output.stderr)![1]!
  return disposed({
    home,
    url,
    child,
    call: callApi(url),
    output,
    async stop(signal: NodeJS.Signals = 'SIGTERM') {
      child.kill(signal)
      await (signal === 'SIGKILL' ? ended : closed)
      return child.exitCode
    },
  })
}

/** A daemon that serves in this process. */
export type ServingDaemon = Omit<SpawnedDaemon, 'child' | 'stop'> & {
  /** Ends it as SIGTERM does, and resolves with its exit code. */
  stop(): Promise<number>
}

/**
 * Starts `aichat serve api` in this process, in a new folder unless one is given: for tests that restart it, ten times
 * faster than a process each. Throws its output when it ends instead of listening.
 */
export async function serveHere(
  environment: Record<string, string> = {},
  home = mkdtempSync(join(tmpdir(), 'aichat-daemon-')),
): Promise<ServingDaemon & AsyncDisposable> {
  placeEmptyDatabase(home, environment)
  const stopping = new AbortController()
  const output = { stdout: '', stderr: '' }
  let told = () => {}
  const listening = new Promise<string>((resolve) => {
    told = () => {
      const url = /serves the API on (https?:\/\/\S+:\d+)/.exec(output.stderr)?.[1]
      if (url !== undefined) resolve(url)
    }
  })
  const ended = runMain(['serve', 'api', '--port', '0'], {
    environment: { AICHAT_HOME: home, HOME: home, OLLAMA_HOST: '127.0.0.1:9', ...environment },
    signal: stopping.signal,
    heard(name, text) {
      output[name] += text
      told()
    },
  })
  const url = await Promise.race([
    listening,
    ended.then(({ code, stderr }) => {
      throw new DaemonEnded(code, stderr)
    }),
  ])
  return disposed({
    home,
    url,
    call: callApi(url),
    output,
    async stop() {
      stopping.abort(terminated)
      return (await ended).code
    },
  })
}

export class DaemonEnded extends Error {
  override readonly name = 'DaemonEnded'
  readonly code: number | null

  constructor(code: number | null, stderr: string) {
    super(stderr)
    this.code = code
  }
}

function disposed<T extends { readonly home: string; stop(): Promise<unknown> }>(daemon: T): T & AsyncDisposable {
  const dispose = async () => {
    await daemon.stop()
    removeHome(daemon)
  }
  return Object.assign(daemon, { [Symbol.asyncDispose]: dispose })
}

/** Removes the folder of a spawned daemon. */
export function removeHome({ home }: Pick<SpawnedDaemon, 'home'>): void {
  rmSync(home, { recursive: true, force: true })
}
