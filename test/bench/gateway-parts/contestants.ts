import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Contestant } from './contestant.ts'
import { ask as askForChat } from './exchange.ts'

export const project = fileURLToPath(new URL('./', import.meta.resolve('#package')))

export const peerName = 'Portkey 1.15.2'

/** The processes of a bench, which are ended at the end of the block that declares them by `await using`. */
export function openChildren(): ChildProcess[] & AsyncDisposable {
  const children: ChildProcess[] = []
  const end = async () => {
    for (const child of children) child.kill('SIGTERM')
    const running = children.filter((child) => child.exitCode === null && child.signalCode === null)
    await Promise.all(running.map((child) => once(child, 'exit')))
  }
  return Object.assign(children, { [Symbol.asyncDispose]: end })
}

/** Starts a program of this folder that prints its port. */
export async function startPart(
  children: ChildProcess[],
  name: string,
  ...given: readonly string[]
): Promise<{ url: string; pid: number | undefined }> {
  const script = fileURLToPath(new URL(`./${name}${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url))
  const child = spawn(process.execPath, [...process.execArgv, script, ...given], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  return { url: `http://127.0.0.1:${line.toString().trim()}`, pid: child.pid }
}

/** The least that a gateway can do on this machine: a lower bound for the others' figures, not a usable gateway. */
export async function startFloor(
  children: ChildProcess[],
  upstream: string,
  kind: 'pipe' | 'h3',
  name: string,
): Promise<Contestant> {
  const { url, pid } = await startPart(children, 'floor', kind, upstream)
  return { name, url: `${url}/v1/chat/completions`, headers: {}, pid }
}

/** Starts a daemon of the build in `program`, `settings` beside its variables: with accounts, guards, circuits, the ledger and its log at `warn`. */
export async function startOurs(
  children: ChildProcess[],
  home: string,
  upstream: string,
  name: string,
  program: string,
  flags: readonly string[] = [],
  settings: Readonly<Record<string, string>> = {},
): Promise<Contestant> {
  const folder = join(home, 'plugins')
  mkdirSync(folder, { recursive: true })
  const auth = { header: 'Authorization', prefix: 'Bearer ', key_env: 'BENCH_API_KEY' }
  const plugin = { name: 'Bench', type: 'completion', auth, model_map: ['bench'] }
  const places = { bench: `${upstream}/v1/chat/completions`, 'bench-anthropic': `${upstream}/v1/messages` }
  const plugins = Object.entries(places).map(([id, endpoint]) => ({ ...plugin, id, endpoint }))
  for (const one of plugins) writeFileSync(join(folder, `${one.id}.json`), JSON.stringify(one))
  writeFileSync(join(folder, 'active-chat'), 'bench\n')
  const environment = {
    PATH: process.env['PATH'],
    HOME: home,
    AICHAT_HOME: home,
    BENCH_API_KEY: 'bench-key-0123456789',
    AICHAT_LOG_LEVEL: 'warn',
    // All streams of the crowd are one user's.
    AICHAT_LIMIT_REQUESTS_PER_USER: '5000',
    ...settings,
  }
  const child = spawn(process.execPath, [join(program, 'bin', 'aichat'), 'serve', 'api', '--port', '0', ...flags], {
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  children.push(child)
  const url = await lineWith(child.stderr!, /(http:\/\/127\.0\.0\.1:\d+)/)
  const headers = await login(url)
  // On PostgreSQL the plugins are in the database.
  if (settings['DATABASE_URL'] !== undefined) {
    for (const one of plugins) await send(url, headers, 'POST', '/plugins/install', one)
    await send(url, headers, 'POST', '/plugins/activate/bench')
  }
  return { name, url: `${url}/v1/chat/completions`, headers, pid: child.pid }
}

/** Asks the API of a daemon. Throws where it refuses. */
async function send(url: string, headers: Contestant['headers'], method: string, path: string, body: unknown = {}) {
  const response = await fetch(new URL(`/api${path}`, url), {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path} was refused: ${response.status} ${text}`)
  return JSON.parse(text) as unknown
}

/**
 * The same daemon asked in other ways: with an API key, with one that has limits of every kind, translated, and as a
 * persona of 1,000 memories, whose chats are kept as sessions.
 */
export async function otherWays(ours: Contestant): Promise<readonly Contestant[]> {
  const { url, headers, pid } = ours
  const ask = (method: string, path: string, body: unknown) => send(url, headers, method, path, body)
  const withKey = async (name: string, limits?: unknown): Promise<Contestant> => {
    const { id, secret } = (await ask('POST', '/keys', { name })) as { id: string; secret: string }
    if (limits) await ask('PUT', `/limits/key:${id}`, limits)
    return { name, url, headers: { authorization: `Bearer ${secret}` }, pid }
  }
  const persona = { name: 'Bench', model: 'bench', system_prompt: 'You are brief.', memory_settings: { enabled: true } }
  await ask('POST', '/personas', persona)
  await ask('POST', '/personas/Bench/memory/batch', { memories: sentences.map((content) => ({ content })) })
  const asPersona = { persona: 'Bench', keep: true }
  return [
    await withKey('with key'),
    await withKey('key + limits', { rpm: 1_000_000, tpm: 1_000_000_000, parallel: 100_000 }),
    { ...ours, name: 'to Anthropic', fields: { model: 'bench-anthropic:bench' } },
    { ...ours, name: 'from Anthropic', url: new URL('/v1/messages', url).href, fields: { max_tokens: 100 } },
    { ...ours, name: 'as a persona, saved', url: new URL('/api/chat', url).href, fields: asPersona, question: told },
  ]
}

/** What a persona is told, which becomes a memory: it finds those with the same words. */
const told = 'I was at the market with Anna, bought two chairs and a lamp, and still need something for the kitchen. '

/** A persona's memories. */
const sentences = ['Anna', 'Ben', 'Clara', 'David', 'Emma', 'Frank', 'Grace', 'Henry', 'Iris', 'Jack'].flatMap((who) =>
  ['bought', 'lost', 'painted', 'sold', 'found', 'repaired', 'borrowed', 'measured', 'cleaned', 'hid'].flatMap((did) =>
    [
      'a bicycle',
      'two chairs',
      'the lamp',
      'something',
      'a rope',
      'old maps',
      'a violin',
      'shoes',
      'a tent',
      'a key',
    ].map((what) => `${who} ${did} ${what} in the week before the holidays.`),
  ),
)

/** With accounts there is an administrator and every request carries a token. */
async function login(url: string): Promise<Record<string, string>> {
  const response = await fetch(`${url}/api/auth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'bench', password: 'Bench-Passw0rd' }),
  })
  const body = (await response.json()) as { token?: string }
  return body.token ? { authorization: `Bearer ${body.token}` } : {}
}

/** The day up to which npm considers versions of the peer's packages, so that each installation is the measured one. */
const packagesOf = '2026-11-14'

/** The peer, installed once into a folder of its own with the versions that make its streams work. */
export async function startPeer(children: ChildProcess[], upstream: string): Promise<Contestant | undefined> {
  const folder = join(tmpdir(), 'aichat-bench-peers')
  const script = join(folder, 'node_modules', '@portkey-ai', 'gateway', 'build', 'start-server.js')
  if (!existsSync(script)) {
    process.stdout.write('installing the peer …\n')
    cpSync(join(project, 'test', 'bench', 'peers'), folder, { recursive: true })
    const { status } = spawnSync('npm', ['install', `--before=${packagesOf}`, '--no-audit', '--no-fund'], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    if (status !== 0) {
      process.stdout.write('skipped: the peer could not be installed\n')
      return undefined
    }
  }
  const port = 18_700 + (process.pid % 1000)
  const child = spawn(process.execPath, [script, `--port=${port}`, '--headless'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  children.push(child)
  const contestant = {
    name: peerName,
    url: `http://127.0.0.1:${port}/v1/chat/completions`,
    headers: {
      'x-portkey-provider': 'openai',
      'x-portkey-custom-host': `${upstream}/v1`,
      authorization: 'Bearer bench-key-0123456789',
    },
    pid: child.pid,
  }
  for (let tries = 0; tries < 100; tries++) {
    try {
      await askForChat(contestant, 'whole')
      return contestant
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
  process.stdout.write('skipped: the peer does not answer\n')
  return undefined
}

async function lineWith(stream: NodeJS.ReadableStream, pattern: RegExp): Promise<string> {
  let text = ''
  for await (const piece of stream as AsyncIterable<Buffer>) {
    text += piece.toString()
    const found = pattern.exec(text)
    if (found) {
      stream.resume()
      return found[1]!
    }
  }
  throw new Error(`the daemon did not start: ${text}`)
}
