/** A data folder that is copied to PostgreSQL and back: seconds, memory, and how long the event loop stands still. */

import { rmSync, statSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { temporaryFolder } from '../helpers/folders.ts'
import { havePostgres, openPostgres } from '../helpers/postgres/server.ts'
import { copyFromPostgres, copyToPostgres } from '../helpers/storage/copies.ts'
import { openStorageIn } from '../helpers/storage/test-storage.ts'
import { keepAll } from './memory-parts/scope.ts'
import { createText } from './memory-parts/text.ts'
import { print } from './parts/figures.ts'
import { newMemory } from './postgres-parts/stores.ts'
import { createTopics } from './postgres-parts/topics.ts'

const dimension = 1536

/** Can be given as AICHAT_BENCH_MEMORIES. */
const memories = Number(process.env['AICHAT_BENCH_MEMORIES'] ?? 100_000)

export async function bench(): Promise<void> {
  print(`Aim: ${memories} memories × ${dimension} each way ≤ 120 s, the event loop held ≤ 100 ms.`)
  if (!havePostgres()) return print('No PostgreSQL here, and none could be installed.')
  const server = await openPostgres({ durable: true, settings: { shared_buffers: '512MB', max_wal_size: '4GB' } })
  const [folder, back] = [1, 2].map(() => temporaryFolder()) as [string, string]
  try {
    await fill(folder)
    print(`${(statSync(join(folder, 'aichat.db')).size / 1e6).toFixed(0)} MB in SQLite`)
    const url = await server.newDatabase()
    await measured('to PostgreSQL', () => copyToPostgres(folder, url))
    await measured('from PostgreSQL', () => copyFromPostgres(url, back))
  } finally {
    await server.close()
    for (const one of [folder, back]) rmSync(one, { recursive: true, force: true })
  }
}

async function fill(folder: string): Promise<void> {
  const storage = await openStorageIn(folder)
  const text = createText(7)
  const vector = createTopics(dimension, 11)
  const scope = { personaId: 'p', userId: 'bench' }
  const times = { created_at: 0, updated_at: 0 }
  await storage.personas.save({ id: 'p', user_id: 'bench', name: 'b', model: 'm', parameters: {}, ...times })
  for (let at = 0; at < memories; at += 500) {
    const batch = Array.from({ length: Math.min(500, memories - at) }, () => newMemory(text, vector))
    await storage.memories.add(scope, batch, keepAll)
  }
  await storage.close()
}

async function measured(name: string, work: () => Promise<unknown>): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 5 })
  let most = 0
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss)
  }, 100)
  const [cpu, begun] = [process.cpuUsage(), performance.now()]
  delay.enable()
  await work()
  delay.disable()
  clearInterval(watch)
  const used = process.cpuUsage(cpu)
  print(
    `${name}: ${((performance.now() - begun) / 1000).toFixed(1)} s, ${((used.user + used.system) / 1e6).toFixed(1)} s of CPU here, load ${loadavg()[0]!.toFixed(1)}; at most ${(most / 1e6).toFixed(0)} MB; the event loop held ${(delay.max / 1e6).toFixed(0)} ms at most, p99.9 ${(delay.percentile(99.9) / 1e6).toFixed(0)} ms`,
  )
}
