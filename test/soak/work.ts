import { request } from 'node:http'
import type { CallApi } from '../helpers/program/daemon.ts'
import { goodPassword } from '../helpers/program/daemon.ts'
import type { Measures } from './measure.ts'
import { soakFaults } from './provider.ts'

export interface Scene {
  readonly url: string
  readonly call: CallApi
  readonly token: string
  readonly measures: Measures
  /** Aborted at the end of the load. */
  readonly signal: AbortSignal
}

type Work = (scene: Scene, turn: number) => Promise<void>

/** The kinds of work, each with its workers and the milliseconds that one rests between two turns. */
export const works: readonly {
  readonly name: string
  readonly workers: number
  readonly restMs: number
  readonly work: Work
}[] = [
  { name: 'chat', workers: 3, restMs: 100, work: (scene) => chat(scene, 'chat', 'healthy:model-healthy', false) },
  { name: 'stream', workers: 3, restMs: 100, work: (scene) => chat(scene, 'stream', 'healthy:model-healthy', true) },
  { name: 'paced', workers: 20, restMs: 200, work: (scene) => chat(scene, 'paced stream', 'paced:model-paced', true) },
  { name: 'fault', workers: 4, restMs: 300, work: faultyChat },
  { name: 'login', workers: 1, restMs: 1_000, work: login },
  { name: 'memory', workers: 1, restMs: 300, work: memories },
  { name: 'import', workers: 1, restMs: 5_000, work: imports },
  { name: 'speech', workers: 1, restMs: 3_000, work: speech },
  { name: 'slow reader', workers: 5, restMs: 500, work: slowReader },
  { name: 'killed client', workers: 2, restMs: 300, work: killedClient },
  { name: 'health', workers: 1, restMs: 500, work: health },
]

/** Statuses that each route may answer with under this load; any other counts against the daemon. */
export const expected: Readonly<Record<string, RegExp>> = {
  chat: /^200$/,
  stream: /^200$/,
  'paced stream': /^200$/,
  // Every failure of a provider has a class of its own; none is our 500, and none the caller's 401.
  'fault chat': /^(?:200|400|402|413|422|429|502|503|504|stream error)$/,
  'fault stream': /^(?:200|400|402|413|422|429|502|503|504|stream error)$/,
  login: /^200$/,
  'wrong login': /^(?:401|429)$/,
  'memory add': /^201$/,
  'memory search': /^200$/,
  'memory list': /^200$/,
  'memory wipe': /^200$/,
  export: /^200$/,
  import: /^20[01]$/,
  'remove persona': /^200$/,
  speech: /^200$/,
  'slow reader': /^(?:200|cut)$/,
  'killed client': /^left$/,
  health: /^200$/,
}

async function chat(scene: Scene, route: string, model: string, stream: boolean): Promise<void> {
  const began = performance.now()
  const response = await fetch(`${scene.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${scene.token}` },
    body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'Say hello' }] }),
  })
  const text = await response.text()
  const whole = !stream || response.status !== 200 || text.includes('[DONE]')
  scene.measures.note(route, whole ? String(response.status) : 'stream error', performance.now() - began)
}

async function faultyChat(scene: Scene, turn: number): Promise<void> {
  const index = turn % soakFaults.length
  const stream = Math.floor(turn / soakFaults.length) % 2 === 0
  await chat(scene, stream ? 'fault stream' : 'fault chat', `fault-${index}:model-fault-${index}`, stream)
}

async function timed(
  { call, measures, token }: Scene,
  route: string,
  method: string,
  path: string,
  body?: unknown,
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
): Promise<any> {
  const began = performance.now()
  const answer = await call(method, path, { token, ...(body !== undefined && { body }) })
  measures.note(route, String(answer.status), performance.now() - began)
  return answer.body
}

async function login(scene: Scene, turn: number): Promise<void> {
  const { token } = await timed(scene, 'login', 'POST', '/api/auth/login', { username: 'ada', password: goodPassword })
  if (token !== undefined) await scene.call('POST', '/api/auth/logout', { token })
  // Five failures of an address in a quarter of an hour would refuse the valid logins too.
  if (turn % 400 === 399)
    await timed(scene, 'wrong login', 'POST', '/api/auth/login', { username: 'nobody', password: 'Wr0ngPassword' })
}

let persona: string | undefined

async function memories(scene: Scene, turn: number): Promise<void> {
  persona ??= (
    await scene.call('POST', '/api/personas', {
      token: scene.token,
      body: { name: 'Soak', model: 'healthy:model-healthy', memory_settings: { enabled: true } },
    })
  ).body.id as string
  const path = `/api/personas/${persona}/memory`
  await timed(scene, 'memory add', 'POST', path, { content: `On day ${turn} the river rose by ${turn % 17} inches` })
  if (turn % 3 === 0) await timed(scene, 'memory search', 'POST', `${path}/search`, { query: `river on day ${turn}` })
  if (turn % 5 === 0) await timed(scene, 'memory list', 'GET', `${path}?limit=50`)
  // Bounds the stored data, so that growth of the process is not growth of its data.
  if (turn % 500 === 499) await timed(scene, 'memory wipe', 'DELETE', path)
}

async function imports(scene: Scene): Promise<void> {
  if (persona === undefined) return
  const began = performance.now()
  const headers = { authorization: `Bearer ${scene.token}`, 'content-type': 'application/json' }
  const exported = await fetch(`${scene.url}/api/personas/${persona}/export`, { method: 'POST', headers, body: '{}' })
  const file = Buffer.from(await exported.arrayBuffer())
  scene.measures.note('export', String(exported.status), performance.now() - began)
  const again = performance.now()
  const imported = await fetch(`${scene.url}/api/personas/import`, { method: 'POST', headers, body: file })
  const answer = (await imported.json()) as { persona_id?: string }
  scene.measures.note('import', String(imported.status), performance.now() - again)
  if (answer.persona_id) await timed(scene, 'remove persona', 'DELETE', `/api/personas/${answer.persona_id}`)
}

async function speech({ url, token, measures }: Scene, turn: number): Promise<void> {
  const began = performance.now()
  const response = await fetch(`${url}/v1/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({
      model: 'tts-1',
      voice: 'alloy',
      input: `This is sentence number ${turn}.`,
      response_format: 'wav',
    }),
  })
  await response.arrayBuffer()
  measures.note('speech', String(response.status), performance.now() - began)
}

/** Asks for a megabyte and reads a little of it each time; leaves after some seconds. */
async function slowReader(scene: Scene): Promise<void> {
  const began = performance.now()
  const outcome = await raw(scene, 'large:model-large', (response, done) => {
    response.pause()
    let reads = 0
    const timer = setInterval(() => {
      response.read(1024)
      if (++reads < 40) return
      clearInterval(timer)
      done()
    }, 100)
    response.on('close', () => clearInterval(timer))
  })
  scene.measures.note('slow reader', outcome, performance.now() - began)
}

/** Leaves in the middle of a stream without a word. */
async function killedClient(scene: Scene): Promise<void> {
  const began = performance.now()
  await raw(scene, 'paced:model-paced', (response, done) => {
    response.once('data', done)
  })
  scene.measures.note('killed client', 'left', performance.now() - began)
}

/** A stream over a socket of its own, which is destroyed once `read` is done with it. */
function raw(
  { url, token }: Scene,
  model: string,
  read: (response: import('node:http').IncomingMessage, done: () => void) => void,
): Promise<string> {
  const body = JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'Say much' }] })
  return new Promise((resolve) => {
    const sent = request(
      `${url}/v1/chat/completions`,
      {
        method: 'POST',
        agent: false,
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      },
      (response) => {
        const end = (outcome: string) => {
          sent.destroy()
          resolve(outcome)
        }
        response.on('error', () => {})
        response.on('close', () => end(response.complete ? String(response.statusCode) : 'cut'))
        read(response, () => end(String(response.statusCode)))
      },
    )
    sent.on('error', () => resolve('cut'))
    sent.end(body)
  })
}

async function health(scene: Scene): Promise<void> {
  await timed(scene, 'health', 'GET', '/health')
}
