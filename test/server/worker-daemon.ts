import { once } from 'node:events'
import { Agent, type IncomingMessage, request } from 'node:http'
import type { WorkerState } from '../../src/app/crew.ts'
import { goodPassword, removeHome, type SpawnedDaemon, spawnDaemon } from '../helpers/program/daemon.ts'
import { pluginAt } from '../helpers/program/installation.ts'
import { type Answer, openStandIn, type StandIn } from '../helpers/providers/fake-provider.ts'

/** A client that keeps one connection, and so one worker. */
export interface Client {
  /** Of the worker that answers it. */
  readonly pid: number
  call(method: string, path: string, options?: ClientCall): Promise<ClientAnswer>
  /** Sends a request; the caller reads the answer. */
  open(method: string, path: string, options?: ClientCall): Promise<IncomingMessage>
}

export interface ClientCall {
  readonly body?: unknown
  readonly token?: string
  readonly headers?: Record<string, string>
}

export interface ClientAnswer {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any
}

/** A daemon of two workers with an administrator and an active plugin, and a client at each of them. */
export interface WorkerDaemon extends SpawnedDaemon {
  readonly provider: StandIn
  readonly token: string
  readonly first: Client
  readonly second: Client
  /** The workers as the daemon tells them. */
  workers(): Promise<readonly WorkerState[]>
  /** The lines of its log with this message, once there are so many. */
  logged(message: string, most?: number): Promise<readonly Record<string, unknown>[]>
  /** The line of the request with this id, once it is there. */
  requested(id: string): Promise<Record<string, unknown>>
}

/** A service of two workers that several tests use, one after the other. */
export interface WorkerService {
  /** Does something with it, with a client at each worker; its provider answers in this way meanwhile. */
  use(answer: Answer, work: (daemon: WorkerDaemon) => Promise<void>): Promise<void>
  stop: SpawnedDaemon['stop']
  close(): Promise<void>
}

/** Opens a service for one piece of work. */
export async function withWorkers(
  answer: Answer,
  work: (daemon: WorkerDaemon) => Promise<void>,
  environment: Record<string, string> = {},
): Promise<void> {
  const service = await openWorkers(environment)
  try {
    await service.use(answer, work)
  } finally {
    await service.close()
  }
}

export async function openWorkers(environment: Record<string, string> = {}): Promise<WorkerService> {
  let answering: Answer = (_, response) => void response.destroy()
  const provider = await openStandIn((request, response) => answering(request, response))
  const daemon = await spawnDaemon({ CUSTOM_API_KEY: 'sk-test-123456', ...environment }, undefined, ['--workers', '2'])
  const login = await daemon.call('POST', '/api/auth/register', { body: { username: 'ada', password: goodPassword } })
  const { token } = login.body as { token: string }
  const plugin = pluginAt(provider.url, { retry: { attempts: 1 } })
  for (const [path, body] of [['install', plugin], ['activate/custom']] as const) {
    const answer = await daemon.call('POST', `/api/plugins/${path}`, { token, body })
    if (answer.status >= 400) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  }
  let used = 0
  return {
    async use(answer, work) {
      answering = answer
      await useWorkers(daemon, provider, token, ++used, work)
    },
    stop: daemon.stop,
    async close() {
      if (daemon.child.exitCode === null && daemon.child.signalCode === null) await daemon.stop('SIGKILL')
      await provider.close()
      removeHome(daemon)
    },
  }
}

/** Does something with a service and a new client at each of its workers; `use` is the number of this use. */
async function useWorkers(
  daemon: SpawnedDaemon,
  provider: StandIn,
  token: string,
  use: number,
  work: (daemon: WorkerDaemon) => Promise<void>,
): Promise<void> {
  const agents: Agent[] = []
  try {
    const workers = async () => {
      for (;;) {
        const { status, body } = await daemon.call('GET', '/api/status', { token })
        // The first process, which is none of the two, finds a database that was away in its own time.
        if (status !== 503) return body.workers
      }
    }
    const logged = async (message: string, most = 1) => {
      for (;;) {
        // The last piece may be the begin of a line.
        const whole = daemon.output.stderr.split('\n').slice(0, -1)
        const lines = whole.filter((line) => line.includes(`"msg":"${message}"`))
        if (lines.length >= most) return lines.map((line) => JSON.parse(line))
        await once(daemon.child.stderr!, 'data')
      }
    }
    const requested = async (id: string): Promise<Record<string, unknown>> => {
      for (let seen = 1; ; seen++) {
        const lines = await logged('request', seen)
        const found = lines.find(({ request_id: each }) => each === id)
        if (found) return found
        seen = lines.length
      }
    }
    const clientOf = async (name: string): Promise<Client> => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      agents.push(agent)
      const client = clientAt(daemon.url, agent, token)
      await client.call('GET', '/api/sessions', { headers: { 'x-request-id': name } })
      const line = await requested(name)
      const pid = (await workers()).find(({ worker }: { worker: number }) => worker === line['worker'])?.pid
      return { ...client, pid }
    }
    const first = await clientOf(`${use}-first`)
    let second = await clientOf(`${use}-second`)
    // A connection of another client may have ended a moment ago: the next one is dealt to the other worker.
    for (let again = 0; second.pid === first.pid; again++) second = await clientOf(`${use}-second-${again}`)
    await work({ ...daemon, provider, token, first, second, workers, logged, requested })
  } finally {
    for (const agent of agents) agent.destroy()
  }
}

function clientAt(url: string, agent: Agent, ownToken: string): Omit<Client, 'pid'> {
  const open: Client['open'] = async (method, path, { body, token = ownToken, headers = {} } = {}) => {
    const sent = request(`${url}${path}`, {
      agent,
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    })
    sent.end(body === undefined ? undefined : JSON.stringify(body))
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    return response
  }
  return {
    open,
    async call(method, path, options) {
      const response = await open(method, path, options)
      const text = await textOf(response)
      return { status: response.statusCode!, headers: response.headers, text, body: readable(text) }
    },
  }
}

/** The rest of an answer. Rejects where it is cut off. */
export async function textOf(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of response.setEncoding('utf8')) text += piece
  return text
}

function readable(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
