import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** One thing that answers chats, and how it is asked. */
interface Contestant {
  readonly name: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly pid: number | undefined
}

interface Round {
  readonly perSecond: number
  /** CPU seconds of the contestant's process per 1,000 requests; the load generator's are its own. */
  readonly cpuPerThousand: number
  readonly p50Ms: number
}

const project = fileURLToPath(new URL('./', import.meta.resolve('#package')))

const peerName = 'Portkey 1.15.2'
const rounds = 5
const roundSeconds = 2
const plain = JSON.stringify({
  model: 'bench',
  messages: [{ role: 'user', content: 'Say something of moderate length, please. '.repeat(3) }],
})
const streamed = plain.replace('{', '{"stream":true,')
const paced = streamed.replace('Say', 'paced')

/** An older build of aichat in the folder that AICHAT_BENCH_BEFORE names, in the peer's place: what a change costs. */
const beforeName = 'aichat before'

/**
 * Our gateway beside the Portkey gateway, beside the provider alone and beside two programs that show what Node allows,
 * on loopback, in interleaved rounds of one run.
 * Every round's statuses and bytes are checked: a gateway that answers errors looks fast.
 */
export async function bench(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'aichat-bench-'))
  const children: ChildProcess[] = []
  try {
    if (spawnSync('wrk', ['-v']).error) {
      process.stdout.write('skipped: the load generator wrk is not installed (Debian package wrk)\n')
      return
    }
    const upstream = (await startPart(children, 'upstream')).url
    const before = process.env['AICHAT_BENCH_BEFORE']
    const ours = await startOurs(children, join(folder, 'now'), upstream, 'aichat', project)
    const older = before ? await startOurs(children, join(folder, 'before'), upstream, beforeName, before) : undefined
    const peer = before ? undefined : await startPeer(children, upstream)
    const contestants: Contestant[] = [
      { name: 'provider alone', url: `${upstream}/v1/chat/completions`, headers: {}, pid: undefined },
      ours,
      ...(await limitedByKeys(ours)),
      ...(older ? [older] : []),
      ...(peer ? [peer] : []),
      ...(before ? [] : [await startFloor(children, upstream, 'pipe', 'node:http pipe')]),
      ...(before ? [] : [await startFloor(children, upstream, 'h3', 'bare h3 + undici')]),
    ]

    for (const contestant of contestants) await sample(contestant, plain)
    await table('whole answers, 1 connection: requests/s', contestants, plain, 1)
    await table('whole answers, 32 connections: requests/s', contestants, plain, 32)
    await table('streams at once, 32 connections: streams/s', contestants, streamed, 32)
    await firstBytes(contestants)
  } finally {
    for (const child of children) child.kill('SIGTERM')
    await Promise.all(
      children.map((child) => (child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined)),
    )
    rmSync(folder, { recursive: true, force: true })
  }
}

async function table(
  title: string,
  contestants: readonly Contestant[],
  body: string,
  connections: number,
): Promise<void> {
  const results = new Map<string, Round[]>(contestants.map(({ name }) => [name, []]))
  for (const contestant of contestants) await load(contestant, body, connections, 1)
  for (let round = 0; round < rounds; round++) {
    for (const contestant of contestants)
      results.get(contestant.name)!.push(await load(contestant, body, connections, roundSeconds))
  }
  process.stdout.write(`\n${title}\n`)
  const peer = results.get(peerName) ?? results.get(beforeName)
  for (const [name, all] of results) {
    const rate = median(all.map((round) => round.perSecond))
    const timesPeer = peer ? median(all.map((round, index) => round.perSecond / peer[index]!.perSecond)) : Number.NaN
    const cpu = median(all.map((round) => round.cpuPerThousand))
    process.stdout.write(
      `  ${name.padEnd(16)} ${rate.toFixed(0).padStart(7)}/s   p50 ${median(all.map((round) => round.p50Ms))
        .toFixed(2)
        .padStart(6)} ms` +
        `   ${Number.isNaN(cpu) ? '' : `CPU ${cpu.toFixed(4)} s per 1,000`}   ${Number.isNaN(timesPeer) ? '' : `× ${results.has(peerName) ? 'peer' : 'before'} ${timesPeer.toFixed(2)}`}\n`,
    )
  }
}

/** One round of wrk against a contestant. Throws when an answer was not 200 or not of the expected length. */
async function load(contestant: Contestant, body: string, connections: number, seconds: number): Promise<Round> {
  const expected = await sample(contestant, body)
  const script = join(tmpdir(), `aichat-bench-${process.pid}.lua`)
  const headers = { 'content-type': 'application/json', ...contestant.headers }
  writeFileSync(
    script,
    [
      `wrk.method = "POST"`,
      `wrk.body = ${JSON.stringify(body)}`,
      ...Object.entries(headers).map(
        ([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`,
      ),
    ].join('\n'),
  )
  const before = cpuSeconds(contestant.pid)
  const child = spawn('wrk', ['-t1', `-c${connections}`, `-d${seconds}s`, '--latency', '-s', script, contestant.url])
  let output = ''
  child.stdout.on('data', (text: Buffer) => {
    output += text.toString()
  })
  await once(child, 'close')
  rmSync(script, { force: true })
  const requests = Number(/(\d+) requests in/.exec(output)?.[1] ?? 0)
  const refused = /Non-2xx or 3xx responses: (\d+)/.exec(output)?.[1]
  const read = bytes(/requests in [^,]+, ([\d.]+[KMG]?B) read/.exec(output)?.[1] ?? '0B')
  if (requests === 0 || refused)
    throw new Error(`${contestant.name}: ${refused ?? 'all'} of ${requests} answers were not 200\n${output}`)
  const share = read / requests / expected
  if (share < 0.95 || share > 1.05)
    throw new Error(
      `${contestant.name}: answers of ${(read / requests).toFixed(0)} bytes where ${expected} were expected`,
    )
  return {
    perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(output)![1]),
    cpuPerThousand: ((cpuSeconds(contestant.pid) - before) / requests) * 1000,
    p50Ms: milliseconds(/50%\s+([\d.]+\w+)/.exec(output)?.[1] ?? '0ms'),
  }
}

/** The bytes on the wire, headers included, of one answer; throws when it is not a whole, good one. */
async function sample(contestant: Contestant, body: string): Promise<number> {
  const { status, text, received } = await ask(contestant, body)
  const whole =
    body === plain
      ? text.includes('word19') && text.includes('finish_reason')
      : text.includes('word19') && text.includes('[DONE]')
  if (status !== 200 || !whole) throw new Error(`${contestant.name} answered ${status}: ${text.slice(0, 300)}`)
  return received
}

interface Answered {
  readonly status: number
  readonly text: string
  readonly firstByteMs: number
  readonly received: number
}

const agent = new Agent({ keepAlive: true })

async function ask(contestant: Contestant, body: string): Promise<Answered> {
  const begun = performance.now()
  const request = httpRequest(contestant.url, {
    method: 'POST',
    agent,
    headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...contestant.headers },
  })
  request.end(body)
  const [response] = (await once(request, 'response')) as [import('node:http').IncomingMessage]
  let firstByteMs = Number.NaN
  const pieces: Buffer[] = []
  for await (const piece of response as AsyncIterable<Buffer>) {
    // The first byte of content: a gateway may hold back the empty event that carries the role until it knows that more comes.
    if (Number.isNaN(firstByteMs) && piece.includes('word0')) firstByteMs = performance.now() - begun
    pieces.push(piece)
  }
  return {
    status: response.statusCode!,
    text: Buffer.concat(pieces).toString(),
    firstByteMs,
    received: wireLength(response, Buffer.concat(pieces).length),
  }
}

/** Status line, headers and body; a chunked body's framing depends on how pieces are cut, so it is left out and tolerated. */
function wireLength(response: import('node:http').IncomingMessage, body: number): number {
  const head = response.rawHeaders.reduce((sum, text) => sum + text.length + 2, 0)
  return `HTTP/1.1 ${response.statusCode} ${response.statusMessage}\r\n\r\n`.length + head + body
}

async function firstBytes(contestants: readonly Contestant[]): Promise<void> {
  const times = new Map<string, number[]>(contestants.map(({ name }) => [name, []]))
  for (let round = 0; round < 60; round++) {
    for (const contestant of contestants) {
      const { firstByteMs, text } = await ask(contestant, paced)
      if (!text.includes('[DONE]')) throw new Error(`${contestant.name}: the stream is not whole`)
      times.get(contestant.name)!.push(firstByteMs)
    }
  }
  process.stdout.write('\npaced stream (content after 22 ms), one at a time: first byte of content\n')
  const direct = median(times.get(contestants[0]!.name)!)
  for (const [name, all] of times)
    process.stdout.write(
      `  ${name.padEnd(16)} p50 ${median(all).toFixed(2)} ms   over direct ${(median(all) - direct).toFixed(2)} ms\n`,
    )
}

/** Starts a program of gateway-parts that prints its port. */
async function startPart(
  children: ChildProcess[],
  name: string,
  ...given: readonly string[]
): Promise<{ url: string; pid: number | undefined }> {
  const script = fileURLToPath(
    new URL(`./gateway-parts/${name}${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url),
  )
  const child = spawn(process.execPath, [...process.execArgv, script, ...given], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  return { url: `http://127.0.0.1:${line.toString().trim()}`, pid: child.pid }
}

/** What this machine allows a gateway that does nothing: a bound for the others' figures, no gateway that one could use. */
async function startFloor(
  children: ChildProcess[],
  upstream: string,
  kind: 'pipe' | 'h3',
  name: string,
): Promise<Contestant> {
  const { url, pid } = await startPart(children, 'floor', kind, upstream)
  return { name, url: `${url}/v1/chat/completions`, headers: {}, pid }
}

async function startOurs(
  children: ChildProcess[],
  home: string,
  upstream: string,
  name: string,
  program: string,
): Promise<Contestant> {
  const folder = join(home, 'plugins')
  mkdirSync(folder, { recursive: true })
  const plugin = {
    id: 'bench',
    name: 'Bench',
    type: 'completion',
    endpoint: `${upstream}/v1/chat/completions`,
    auth: { header: 'Authorization', prefix: 'Bearer ', key_env: 'BENCH_API_KEY' },
    model_map: ['bench'],
  }
  writeFileSync(join(folder, 'bench.json'), JSON.stringify(plugin))
  writeFileSync(join(folder, 'active-chat'), 'bench\n')
  const environment = {
    PATH: process.env['PATH'],
    HOME: home,
    AICHAT_HOME: home,
    BENCH_API_KEY: 'bench-key-0123456789',
    AICHAT_LOG_LEVEL: 'warn',
  }
  const child = spawn(process.execPath, [join(program, 'bin', 'aichat'), 'serve', 'api', '--port', '0'], {
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  children.push(child)
  const url = await lineWith(child.stderr!, /(http:\/\/127\.0\.0\.1:\d+)/)
  return { name, url: `${url}/v1/chat/completions`, headers: await login(url), pid: child.pid }
}

/** The same daemon asked with an API key, and with a key that has limits of every kind, which it never reaches. */
async function limitedByKeys({ url, headers, pid }: Contestant): Promise<readonly Contestant[]> {
  const api = new URL('/api', url).href
  const send = (method: string, path: string, body: unknown) =>
    fetch(`${api}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  const contestant = async (name: string, limits?: unknown): Promise<readonly Contestant[]> => {
    const made = await send('POST', '/keys', { name })
    const { id, secret } = (await made.json()) as { id: string; secret: string }
    if (limits) {
      const set = await send('PUT', `/limits/key:${id}`, limits)
      if (!set.ok) {
        process.stdout.write(`skipped: ${name} (${set.status})\n`)
        return []
      }
    }
    return [{ name, url, headers: { authorization: `Bearer ${secret}` }, pid }]
  }
  const limits = { rpm: 1_000_000, tpm: 1_000_000_000, parallel: 100_000 }
  return [...(await contestant('with key')), ...(await contestant('key + limits', limits))]
}

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

/** The peer, installed once into a folder of its own with the versions that make its streams work. */
async function startPeer(children: ChildProcess[], upstream: string): Promise<Contestant | undefined> {
  const folder = join(tmpdir(), 'aichat-bench-peers')
  const script = join(folder, 'node_modules', '@portkey-ai', 'gateway', 'build', 'start-server.js')
  if (!existsSync(script)) {
    process.stdout.write('installing the peer …\n')
    cpSync(join(project, 'test', 'bench', 'peers'), folder, { recursive: true })
    const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {
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
      await sample(contestant, plain)
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

/** User and system time of a process so far, from /proc (proc(5)); NaN where there is none. */
function cpuSeconds(pid: number | undefined): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
    return (Number(fields[11]) + Number(fields[12])) / 100
  } catch {
    return Number.NaN
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)]!
}

function bytes(text: string): number {
  const [, value, unit] = /([\d.]+)([KMG]?)B/.exec(text)!
  return Number(value) * { '': 1, K: 1024, M: 1024 ** 2, G: 1024 ** 3 }[unit as '' | 'K' | 'M' | 'G']!
}

function milliseconds(text: string): number {
  const [, value, unit] = /([\d.]+)(us|ms|s)/.exec(text)!
  return Number(value) * { us: 0.001, ms: 1, s: 1000 }[unit as 'us' | 'ms' | 's']!
}
