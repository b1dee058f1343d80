import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { cheapHashes } from '../helpers/cheap-bcrypt.ts'
import { goodPassword, type SpawnedDaemon, spawnDaemon } from '../helpers/program/daemon.ts'
import { openSlowSockets, openStreams, patient } from '../server/crowd.ts'
import { createMeasures, sampleOf } from '../soak/measure.ts'
import { openLoadProvider } from '../soak/provider.ts'

const streams = 1_000
const slowSockets = 500
/** Timed requests, and the milliseconds between two. */
const probes = 300
const probeMs = 20

/** The heap of the daemon, which V8 fills before it collects: MiB. */
const heapMebibytes = 384

/** A thousand paced streams at once; 500 slow sockets beside measured requests; and the memory before and after. */
export async function bench(): Promise<void> {
  const provider = await openLoadProvider()
  const daemon = await spawnDaemon({
    CUSTOM_API_KEY: 'sk-of-the-bench',
    AICHAT_LIMIT_REQUESTS_PER_USER: '5000',
    AICHAT_LOG_LEVEL: 'error',
    // A leak would not fit into this heap.
    NODE_OPTIONS: `${cheapHashes.NODE_OPTIONS} --max-old-space-size=${heapMebibytes}`,
  })
  try {
    const { body } = await daemon.call('POST', '/api/auth/register', {
      body: { username: 'ada', password: goodPassword },
    })
    for (const name of ['paced', 'large', 'healthy'])
      await daemon.call('POST', '/api/plugins/install', {
        token: body.token,
        body: { ...provider.plugin(name, name), ...patient },
      })
    const memory = () => sampleOf(daemon.child.pid!, 0)
    await openStreams(daemon.url, body.token, 'paced:model-paced', 50)
    const before = memory()
    for (let round = 1; round <= 3; round++) {
      const { complete, longestGapMs } = await openStreams(daemon.url, body.token, 'paced:model-paced', streams)
      const { mebibytes } = memory()
      print(
        `${complete} of ${streams} streams complete, longest gap ${longestGapMs.toFixed(0)} ms; ${mebibytes.toFixed(0)} MiB`,
      )
    }
    print(`alone: ${await probed(daemon, body.token)}`)
    const slow = await openSlowSockets(daemon.url, body.token, 'large:model-large', slowSockets)
    const unread = Math.floor(slowSockets / 3)
    print(`while ${unread} answers of 1 MB arrive that nobody reads: ${await probed(daemon, body.token)}`)
    await sleep(5_000)
    print(
      `beside ${slowSockets} slow sockets: ${await probed(daemon, body.token)}; ${memory().mebibytes.toFixed(0)} MiB`,
    )
    for (const socket of slow) socket.destroy()
    await sleep(5_000)
    const after = memory()
    print(
      `at rest ${before.mebibytes.toFixed(0)} → ${after.mebibytes.toFixed(0)} MiB, ${before.files} → ${after.files} open files`,
    )
  } finally {
    await daemon.stop()
    await provider.close()
    rmSync(daemon.home, { recursive: true, force: true })
  }
}

async function probed(daemon: SpawnedDaemon, token: string): Promise<string> {
  const measures = createMeasures()
  for (let probe = 0; probe < probes; probe++) {
    const began = performance.now()
    const chat = { model: 'healthy:model-healthy', messages: [{ role: 'user', content: 'Hello' }] }
    const { status } = await daemon.call('POST', '/v1/chat/completions', { token, body: chat })
    measures.note('chat', String(status), performance.now() - began)
    await sleep(probeMs)
  }
  const outcomes = [...measures.outcomes.get('chat')!].map(([status, count]) => `${status}: ${count}`).join(', ')
  return `chats p50 ${measures.quantile('chat', 0.5).toFixed(1)} ms, p99 ${measures.quantile('chat', 0.99).toFixed(1)} ms (${outcomes})`
}

function print(line: string): void {
  process.stdout.write(`  ${line}\n`)
}
