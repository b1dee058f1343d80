/**
 * The rule: no request of one user keeps /health waiting for more than 100 ms. Every operation and dialect route is
 * asked with the largest inputs that it takes and with some just beyond, then come deeds of other kinds (1,000 tool calls,
 * kept responses, an export of a million rows), while a thread beside it polls /health. AICHAT_BENCH_ONLY chooses lines.
 * Printed are the longest wait of each, the wait of an idle service, and the most processor time (of all threads) that
 * one turn of the daemon's event loop took: users feel the wait, while the processor time is the same on a busy
 * machine.
 */

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { requestBounds } from '../../src/formats/json/meter.ts'
import type { Operation } from '../../src/operations/operation.ts'
import { operations } from '../../src/operations/table.ts'
import { dialectRoutes } from '../../src/server/dialect-routes.ts'
import { goodPassword, removeHome, spawnDaemon } from '../helpers/program/daemon.ts'
import { pluginAt } from '../helpers/program/installation.ts'
import { completion, json, openStandIn } from '../helpers/providers/fake-provider.ts'
import { type Filling, largest } from '../server/largest.ts'
import { print } from './parts/figures.ts'
import { answerWish, deeds } from './pauses-parts/deeds.ts'

/** A request of a route: its name in the table, and its bytes. */
type Asked = { readonly name: string; readonly body: Buffer; readonly type: string }

const MiB = 1024 * 1024
/** Sends only the requests with this text in their line of the table: AICHAT_BENCH_ONLY. */
const only = process.env['AICHAT_BENCH_ONLY'] ?? ''
/** The largest requests of all routes end after this many milliseconds, even unfinished. */
const endsAfterMs = 150_000
/** The largest requests to these routes are sent so many times to the same daemon. */
const repeated = ['/v1/chat/completions', '/v1/messages']
const rounds = 20
/** Longer waits are shown in the table; the rest is summed up. */
const shownMs = 40

export async function bench(): Promise<void> {
  const provider = await openStandIn((request, response) => {
    // Bodies of 30 MiB each would fill the memory of the machine that is measured.
    provider.received.length = 0
    if (!answerWish(request, response)) json(response, 200, completion('Seen.', 'custom-model'))
  })
  const ending = fileURLToPath(import.meta.url).endsWith('.ts') ? 'ts' : 'js'
  const turns = join(tmpdir(), `aichat-turns-${process.pid}`)
  writeFileSync(turns, '')
  const daemon = await spawnDaemon({
    CUSTOM_API_KEY: 'sk-test-123456',
    AICHAT_LOG_LEVEL: 'error',
    AICHAT_BENCH_TURNS: turns,
    NODE_OPTIONS: `--import ${new URL(`./pauses-parts/turns.${ending}`, import.meta.url).href}`,
  })
  const prober = new Worker(new URL(`./pauses-parts/prober.${ending}`, import.meta.url), {
    workerData: { url: daemon.url },
  })
  try {
    const { token, ids } = await prepare()
    await longest()
    await new Promise((resolve) => setTimeout(resolve, 2000))
    const idle = await longest()
    print(`idle service, 2 s: ${idle.toFixed(0)} ms`)
    print('   wait    turn  of texts for which a backtracking search took long, in a chat with a persona')
    for (const each of backtracking) {
      const name = `20,000 × "${each}"`
      if (!name.includes(only)) continue
      const content = `${each.repeat(20_000)}\u6211`
      const asked = jsonAsked({ persona: ids.persona, messages: [{ role: 'user', content }] })
      await tell(name, () => send('POST', '/api/chat', token, asked))
    }
    print('   wait    turn  of long memories: while they are stored, and in a search or chat that they match')
    for (const { name, memories, search } of longMemories) {
      if (!name.includes(only)) continue
      const body = { name, model: 'custom-model', memory_settings: { enabled: true, max_memories: 100_000 } }
      const { id } = (await daemon.call('POST', '/api/personas', { token, body })).body as { id: string }
      const path = `/api/personas/${id}/memory`
      await tell(`${name}, stored`, async () => {
        for (const content of memories) await send('POST', path, token, jsonAsked({ content }))
        return `${memories.length} times`
      })
      const chat = { persona: id, messages: [{ role: 'user', content: hangul }] }
      await tell(`${name}: ${search ? `a search for ${search}` : 'a chat'}`, () =>
        search
          ? send('POST', `${path}/search`, token, jsonAsked({ query: search, limit: 50 }))
          : send('POST', '/api/chat', token, jsonAsked(chat)),
      )
    }
    print('   wait    turn  of tool calls, kept responses and the ledger')
    for await (const { name, run } of deeds(daemon, token, only)) await tell(name, run)
    const started = performance.now()
    const rows: { what: string; status: string; ms: number; turn: number }[] = []
    for (const route of routes(ids))
      for (const asked of route.bodies()) {
        if (performance.now() - started > endsAfterMs) break
        if (!`${route.method} ${route.shown}: ${asked.name}`.includes(only)) continue
        const { result, ms, turn } = await during(() => send(route.method, route.path, token, asked))
        rows.push({ turn, what: `${route.method} ${route.shown}: ${asked.name}`, status: String(result), ms })
      }
    rows.sort((a, b) => b.turn - a.turn || b.ms - a.ms)
    print('   wait    turn')
    for (const { what, status, ms, turn } of rows.filter((row, index) => index < 10 || row.turn > shownMs))
      print(`${ms.toFixed(0).padStart(7)} ${String(turn).padStart(7)}  ${status}  ${what}`)
    print(
      `${rows.length} requests; over 100 ms: ${rows.filter(({ ms }) => ms > 100).length} waits, ${rows.filter(({ turn }) => turn > 100).length} turns`,
    )
    print(`   wait    turn  of ${rounds} in a row, with what those before have left to the garbage collector`)
    for (const route of routes(ids).filter(({ path }) => repeated.includes(path)))
      for (const asked of route.bodies().filter(({ body }) => body.length > 16 * MiB)) {
        const what = `again and again ${route.method} ${route.shown}: ${asked.name}`
        if (!what.includes(only)) continue
        let ms = 0
        let turn = 0
        for (let round = 0; round < rounds; round++) {
          const one = await during(() => send(route.method, route.path, token, asked))
          ms = Math.max(ms, one.ms)
          turn = Math.max(turn, one.turn)
        }
        print(`${ms.toFixed(0).padStart(7)} ${String(turn).padStart(7)}  ${what}`)
      }
    print('   wait    turn  of one user at once, and the most memory of the daemon so far')
    for (const { name, count, asked } of parallel()) {
      if (!name.includes(only)) continue
      await tell(name, async () => {
        const answers = Array.from({ length: count }, () => send('POST', '/v1/chat/completions', token, asked))
        return `${[...new Set(await Promise.all(answers))].sort().join(' and ')}, ${peakMiB()} MiB`
      })
    }
  } finally {
    await prober.terminate()
    await daemon.stop('SIGKILL')
    removeHome(daemon)
    await provider.close()
    rmSync(turns, { force: true })
  }

  /** Does something; with the longest wait and turn meanwhile, in milliseconds. */
  async function during<T>(work: () => Promise<T>): Promise<{ result: T; ms: number; turn: number }> {
    await longest()
    longestTurn()
    return { result: await work(), ms: await longest(), turn: longestTurn() }
  }

  async function tell(what: string, work: () => Promise<number | string>): Promise<void> {
    const { result, ms, turn } = await during(work)
    print(`${ms.toFixed(0).padStart(7)} ${String(turn).padStart(7)}  ${what} (${result})`)
  }

  /** The peak resident set of the daemon; NaN where there is no /proc. */
  function peakMiB(): number {
    try {
      const status = readFileSync(`/proc/${daemon.child.pid}/status`, 'utf8')
      return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024)
    } catch {
      return Number.NaN
    }
  }

  /** Milliseconds; clears the notes. */
  function longestTurn(): number {
    const noted = readFileSync(turns, 'utf8').split('\n').map(Number)
    writeFileSync(turns, '')
    return Math.max(...noted)
  }

  function longest(): Promise<number> {
    return new Promise((resolve) => {
      prober.once('message', resolve)
      prober.postMessage('tell')
    })
  }

  /** An administrator, a plugin that answers, a persona with memories and settings, and a saved conversation. */
  async function prepare() {
    const login = await daemon.call('POST', '/api/auth/register', { body: { username: 'ada', password: goodPassword } })
    const { token, user } = login.body as { token: string; user: { id: string } }
    await daemon.call('POST', '/api/plugins/install', { token, body: pluginAt(provider.url) })
    await daemon.call('POST', '/api/plugins/activate/custom', { token })
    const memory_settings = { enabled: true, max_memories: 100_000 }
    const body = { name: 'P', model: 'custom-model', memory_settings, mutation_settings: { enabled: true } }
    const persona = await daemon.call('POST', '/api/personas', { token, body })
    const { id } = persona.body as { id: string }
    for (let index = 0; index < 20; index++)
      await daemon.call('POST', `/api/personas/${id}/memory`, { token, body: { content: `Memory ${index} of a word` } })
    const session = await daemon.call('POST', '/api/sessions', { token, body: { name: 'S' } })
    return { token, ids: { persona: id, session: (session.body as { id: string }).id, user: user.id } }
  }

  function send(method: string, path: string, token: string, { body, type }: Asked): Promise<number | string> {
    return new Promise((resolve) => {
      const headers = {
        authorization: `Bearer ${token}`,
        ...(body.length > 0 && { 'content-type': type, 'content-length': body.length }),
      }
      const asked = request(`${daemon.url}${path}`, { method, headers, agent: false }, (response) => {
        response.resume()
        response.once('close', () => {
          clearTimeout(timer)
          resolve(response.statusCode ?? 0)
        })
      })
      // A pause that is longer is known to be too long, and an answer that takes longer is no pause.
      const timer = setTimeout(() => asked.destroy(new Error('5 s')), 5_000)
      asked.once('error', (reason) => {
        clearTimeout(timer)
        resolve(reason.message)
      })
      asked.end(body)
    })
  }
}

/** 20,000 characters of Korean syllables, each of them an own term and in two pairs. */
const hangul = '가나다라마'.repeat(4_000)

/** Memories that take long to read, and what is searched for; without a search a chat asks with 20,000 characters. */
const longMemories: readonly {
  readonly name: string
  readonly memories: readonly string[]
  readonly search?: string
}[] = [
  {
    name: '250 memories of a form that becomes 18 characters',
    memories: numbered(250, 'ﷺ'.repeat(19_900)),
    search: 'ﷺ',
  },
  { name: '250 memories of one Chinese character', memories: numbered(250, '漢'.repeat(19_900)), search: '漢字' },
  {
    name: '300 ordinary memories of 20 kB',
    memories: numbered(300, 'We walked to the lake with tea and bread. '.repeat(473)),
    search: 'tea at the lake',
  },
  { name: 'no memories of a persona, 20,000 Korean characters', memories: [] },
]

/** At most as many as AICHAT_BENCH_MEMORIES says, on a machine that stores few in a minute. */
function numbered(count: number, text: string): readonly string[] {
  const most = Number(process.env['AICHAT_BENCH_MEMORIES'] ?? count)
  return Array.from({ length: Math.min(count, most) }, (_, at) => `${at} ${text}`)
}

function jsonAsked(body: object): Asked {
  return { name: '', type: 'application/json', body: jsonOf(body) }
}

/** Many heavy requests of one user: those beyond 128 MiB in flight are 429. */
function parallel(): readonly { readonly name: string; readonly count: number; readonly asked: Asked }[] {
  const asked = (content: unknown) => ({
    name: '',
    type: 'application/json',
    body: Buffer.from(JSON.stringify({ model: 'custom-model', messages: [{ role: 'user', content }] })),
  })
  const text = asked('Hello there. '.repeat((7 * MiB) / 13))
  const url = `data:image/png;base64,${'iVBORw0K'.repeat((30 * MiB) / 8)}`
  return [
    { name: '8 texts of 7 MiB', count: 8, asked: text },
    { name: '20 texts of 7 MiB', count: 20, asked: text },
    { name: '8 pictures of 30 MiB', count: 8, asked: asked([{ type: 'image_url', image_url: { url } }]) },
    { name: '150 small chats', count: 150, asked: asked('Hello') },
  ]
}

type Ids = { readonly persona: string; readonly session: string; readonly user: string }

/**
 * Operations that would end the bench's own login or use the network; their inputs are like those of their neighbours.
 */
const leftOut = new Set(['auth.logout', 'auth.change-password', 'auth.reset-password', 'models.pull', 'users.remove'])

/** The routes; the bodies of one, hundreds of megabytes, are made when it is asked. */
function routes({ persona, session, user }: Ids) {
  const filled = (path: string) =>
    path
      .replace('/personas/:id', `/personas/${persona}`)
      .replace('/sessions/:id', `/sessions/${session}`)
      .replace('/users/:id', `/users/${user}`)
      .replace('/plugins/:id', '/plugins/custom')
      .replace(/:\w+/g, 'x')
  const told = (operation: Operation) => ({
    method: operation.method,
    path: filled(operation.path),
    shown: operation.path,
    bodies: () => bodiesOf(operation),
  })
  const mutations = operations.filter(({ name, method }) => method !== 'DELETE' && !leftOut.has(name))
  const dialects = dialectRoutes({} as never, () => ({})).map(({ method, path }) => ({
    method,
    path: path.replace(':id', 'custom-model'),
    shown: path,
    bodies: () => (method === 'GET' ? [nothing] : path.includes('/audio/') ? speechBodies() : chatBodies(path)),
  }))
  const withPersona = {
    method: 'POST',
    path: '/api/chat',
    shown: '/api/chat with a persona',
    bodies: () =>
      fillings.map((filling) => ({
        name: `one text of ${filling}`,
        type: 'application/json',
        body: jsonOf({ persona, messages: [{ role: 'user', content: largestText(7.9 * MiB, filling) }] }),
      })),
  }
  // Without an active plugin no chat goes further than to say so.
  const last = mutations.filter(({ name }) => name === 'plugins.deactivate')
  return [...dialects, withPersona, ...mutations.filter((each) => !last.includes(each)).map(told), ...last.map(told)]
}

/** Texts that a backtracking search for secrets and small talk once took long for. */
const backtracking = ['password:', 'clave:', 'a.', '\u54c8']
const fillings: readonly Filling[] = ['plain', 'marks', 'han', 'escapes']
const nothing: Asked = { name: 'no body', type: 'application/json', body: Buffer.alloc(0) }

function bodiesOf(operation: Operation): readonly Asked[] {
  const { method, limit = MiB, upload, bodyField, input, name } = operation
  if (method === 'GET') return [nothing]
  if (upload?.as === 'multipart') return formBodies(limit, 'file')
  if (upload) return packages()
  if (['chat.complete', 'chat.preview', 'chat.tokens'].includes(name)) return chatBodies(operation.path)
  if (name === 'prices.set')
    return [1000, 5000].map((count) => ({
      name: `${count} prices`,
      type: 'application/json',
      body: jsonOf({
        prices: Array.from({ length: count }, (_, at) => ({
          plugin: 'custom',
          model: `m-${at}`,
          rates: { input: '1', output: '2' },
        })),
      }),
    }))
  const bytes = Math.floor(limit * 0.95)
  const shaped = fillings.map((filling) => {
    const value = largest(input, bytes, filling) as Record<string, unknown>
    return {
      name: `largest, of ${filling}`,
      type: 'application/json',
      body: jsonOf(bodyField ? value[bodyField] : value),
    }
  })
  return [nothing, ...shaped, ...anyBodies(limit)]
}

/** Bodies that fit no schema, at the bounds of every body and beyond. */
function anyBodies(limit: number): readonly Asked[] {
  const { values, names, depth } = requestBounds
  const text = (name: string, body: string): Asked => ({ name, type: 'application/json', body: Buffer.from(body) })
  const cut = (body: string) => (body.length > limit ? body.slice(0, limit) : body)
  const fields = (count: number) => Array.from({ length: count }, (_, index) => `"n${index}":0`).join(',')
  return [
    text('values at the bound', cut(`{"a":[${'0,'.repeat(values - 4)}0]}`)),
    text(
      'objects at the bound',
      cut(`{"a":[${Array.from({ length: values / 2 - 3 }, (_, index) => `{"k${index}":0}`).join(',')}]}`),
    ),
    text('names at the bound', cut(`{${fields(names)}}`)),
    text('values to the last byte', `{"a":[${'0,'.repeat(limit / 2 - 8)}0]}`),
    text('wrong messages to the last byte', `{"messages":[${'{"role":1},'.repeat(limit / 11 - 4)}0]}`),
    text('lists as deep as bytes', '['.repeat(limit - 1)),
    text('as deep as may be', `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`),
    text('white space', `{${' '.repeat(limit - 3)}}`),
    text('line ends and a fault', `${'\n'.repeat(limit - 2)}x`),
    text('a number', `{"a":${'1'.repeat(limit - 6)}}`),
    text('a name', `{"${'k'.repeat(limit - 6)}":0}`),
    { name: 'bytes that are no UTF-8', type: 'application/json', body: Buffer.alloc(limit - 1, 0xff) },
  ]
}

function chatBodies(path: string): readonly Asked[] {
  const limit = path.includes('embeddings') ? 16 * MiB : 32 * MiB
  const shared = { model: 'custom-model', max_tokens: 16 }
  const asked = (name: string, body: object): Asked => ({
    name,
    type: 'application/json',
    body: jsonOf({ ...shared, ...body }),
  })
  if (path.includes('embeddings'))
    return [
      ...fillings.map((filling) =>
        asked(`2,048 texts of ${filling}`, { input: Array(2048).fill(largestText(7000, filling)) }),
      ),
      ...fillings.map((filling) => asked(`one text of ${filling}`, { input: largestText(190_000, filling) })),
      ...anyBodies(limit),
    ]
  const user = (content: unknown) => ({ role: 'user', content })
  const picture = `data:image/png;base64,${'iVBORw0K'.repeat((30 * MiB) / 8)}`
  const image = path.startsWith('/v1/messages')
    ? { type: 'image', source: { type: 'base64', media_type: 'image/png', data: picture.slice(22) } }
    : { type: 'image_url', image_url: { url: picture } }
  return [
    asked('a picture of 30 MiB', { messages: [user([image])] }),
    ...[7.9 * MiB, 30 * MiB].flatMap((bytes) => [
      ...fillings.map((filling) =>
        asked(`one text of ${filling}, ${bytes / MiB} MiB`, { messages: [user(largestText(bytes, filling))] }),
      ),
      ...fillings.map((filling) =>
        asked(`5,000 messages of ${filling}, ${bytes / MiB} MiB`, {
          messages: Array.from({ length: 5000 }, (_, index) => ({
            role: index % 2 ? 'assistant' : 'user',
            content: largestText(bytes / 5100, filling),
          })),
        }),
      ),
    ]),
    asked('12,000 parts', {
      messages: Array.from({ length: 12 }, () => user(Array(1000).fill({ type: 'text', text: 'x' }))),
    }),
    asked('1,000 tools', {
      messages: [user('x')],
      tools: Array.from({ length: 1000 }, (_, index) => ({
        ...(path.startsWith('/v1/messages') ? {} : { type: 'function' }),
        function: {
          name: `f${index}`,
          parameters: {
            type: 'object',
            properties: Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`p${at}`, { type: 'string' }])),
          },
        },
        name: `f${index}`,
        input_schema: { type: 'object' },
      })),
    }),
    asked('4,999 wrong messages', { messages: Array(4999).fill(user([0])) }),
    asked('10,000 unknown fields', {
      messages: [user('x')],
      ...Object.fromEntries(Array.from({ length: requestBounds.names - 4 }, (_, index) => [`n${index}`, 0])),
    }),
    ...anyBodies(limit),
  ]
}

function speechBodies(): readonly Asked[] {
  const text = (bytes: number, filling: Filling) => jsonOf({ model: 'voxa-tts', input: largestText(bytes, filling) })
  return [
    ...fillings.map((filling) => ({
      name: `10,000 characters of ${filling}`,
      type: 'application/json',
      body: text(10_000, filling),
    })),
    ...fillings.map((filling) => ({
      name: `a body of ${filling}`,
      type: 'application/json',
      body: text(250_000, filling),
    })),
    ...anyBodies(256 * 1024),
  ]
}

function formBodies(limit: number, field: string): readonly Asked[] {
  const type = 'multipart/form-data; boundary=b'
  const part = (headers: string, content: Buffer | string) =>
    Buffer.concat([Buffer.from(`--b\r\n${headers}\r\n\r\n`), Buffer.from(content), Buffer.from('\r\n')])
  const named = (content: Buffer | string) =>
    part(`content-disposition: form-data; name="${field}"; filename="f"`, content)
  const end = Buffer.from('--b--\r\n')
  const inner = limit - 1000
  return [
    { name: 'one part', type, body: Buffer.concat([named('x'.repeat(inner)), end]) },
    { name: 'values to the last byte', type, body: Buffer.concat([named(`[${'0,'.repeat(inner / 4)}0]`), end]) },
    {
      name: 'parts to the last byte',
      type,
      body: Buffer.concat([...Array(Math.floor(limit / 60)).fill(named('')), end]).subarray(0, limit),
    },
    { name: 'line ends', type, body: Buffer.concat([named('\r\n--'.repeat(inner / 4)), end]) },
    { name: 'endless headers', type, body: Buffer.from(`--b\r\n${'a: b\r\n'.repeat(inner / 6)}`) },
  ]
}

function packages(): readonly Asked[] {
  return [nothing, ...anyBodies(8 * MiB)]
}

/** A text of about so many bytes in a JSON body, as far as text beyond ASCII and escapes may go. */
function largestText(bytes: number, filling: Filling): string {
  const most = {
    plain: bytes,
    marks: Math.min(bytes, 7.9 * MiB),
    han: Math.min(bytes, 5.9 * MiB),
    escapes: Math.min(bytes, 3.9 * MiB),
  }
  const unit = { plain: 'word ', marks: '\u0301\u0489', han: '漢字', escapes: '\n\t' }[filling]
  return unit.repeat(Math.floor(most[filling] / { plain: 5, marks: 4, han: 6, escapes: 4 }[filling]))
}

function jsonOf(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value) ?? '')
}
