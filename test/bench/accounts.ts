import { Agent, request } from 'node:http'
import { performance } from 'node:perf_hooks'
import { goodPassword, type SpawnedDaemon, spawnDaemon } from '../helpers/program/daemon.ts'
import { quantile } from './parts/figures.ts'

const rounds = 5
const roundMs = 3000
/** Logins in flight during the second half of a round. */
const logins = 32

/**
 * How a flood of logins disturbs everybody else: the latency of GET /api/auth/me, one request after the other on one
 * connection, alone and with logins in flight, in turns. Every status is checked.
 */
export async function bench(): Promise<void> {
  await using daemon = await spawnDaemon({ AICHAT_LOG_LEVEL: 'warn', NODE_OPTIONS: '' })
  const { body } = await daemon.call('POST', '/api/auth/register', {
    body: { username: 'bench', password: goodPassword },
  })
  const alone: number[] = []
  const beside: number[] = []
  const rates: number[] = []
  await latencies(daemon, body.token, 500)
  for (let round = 0; round < rounds; round++) {
    alone.push(...(await latencies(daemon, body.token, roundMs)))
    const flood = startFlood(daemon)
    beside.push(...(await latencies(daemon, body.token, roundMs)))
    rates.push((await flood.stop()) / (roundMs / 1000))
  }
  process.stdout.write(`GET /api/auth/me, one at a time, ${rounds} × ${roundMs / 1000} s each way\n`)
  print('alone', alone)
  print(`${logins} logins in flight`, beside)
  process.stdout.write(
    `  logins answered meanwhile: ${rates.map((rate) => rate.toFixed(1)).join(', ')} per second\n` +
      `  aim: p99 under 50 ms with ${logins} logins in flight: ${quantile(beside, 0.99) < 50 ? 'met' : 'missed'}\n`,
  )
}

/** Keeps so many logins in flight until it is stopped; resolves with how many were answered, all of them 200. */
function startFlood(daemon: SpawnedDaemon): { stop(): Promise<number> } {
  const end = new AbortController()
  let answered = 0
  const clients = Array.from({ length: logins }, async () => {
    while (!end.signal.aborted) {
      const { status } = await daemon.call('POST', '/api/auth/login', {
        body: { username: 'bench', password: goodPassword },
      })
      if (status !== 200) throw new Error(`A login was answered with ${status}`)
      if (!end.signal.aborted) answered++
    }
  })
  return {
    async stop() {
      end.abort()
      await Promise.all(clients)
      return answered
    },
  }
}

/** Milliseconds of each request, one after the other, for so long. */
async function latencies({ url }: SpawnedDaemon, token: string, forMs: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const measured: number[] = []
  const until = performance.now() + forMs
  while (performance.now() < until) {
    const began = performance.now()
    const status = await new Promise<number>((resolve, reject) => {
      request(`${url}/api/auth/me`, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode!))
      })
        .on('error', reject)
        .end()
    })
    if (status !== 200) throw new Error(`GET /api/auth/me was answered with ${status}`)
    measured.push(performance.now() - began)
  }
  agent.destroy()
  return measured
}

function print(what: string, values: readonly number[]): void {
  const [p50, p99, most] = [0.5, 0.99, 1].map((share) => quantile(values, share).toFixed(2).padStart(7))
  process.stdout.write(
    `  ${what.padEnd(22)} p50 ${p50} ms   p99 ${p99} ms   max ${most} ms   (${values.length} requests)\n`,
  )
}
