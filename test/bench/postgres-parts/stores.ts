import { readFileSync, rmSync } from 'node:fs'
import type { NewMemory, Scope, Vector } from '../../../src/personas/memory/memory.ts'
import { openStorage, type Storage } from '../../../src/storage/open-storage.ts'
import { openDatabase } from '../../../src/storage/postgres/connection.ts'
import { temporaryFolder } from '../../helpers/folders.ts'
import { havePostgres, openPostgres } from '../../helpers/postgres/server.ts'
import { storageIn } from '../../helpers/storage/test-storage.ts'
import { keepAll } from '../memory-parts/scope.ts'
import type { createText } from '../memory-parts/text.ts'

/** The same memories in both databases, under the same ids. */
export interface Both {
  readonly sqlite: Storage
  readonly postgres: Storage
  /** The version of PostgreSQL, as `doctor` prints it. */
  readonly fact: string
  /** Milliseconds of CPU time that the server's sessions of this database took so far; undefined where it is on another machine. */
  serverCpu(): Promise<number | undefined>
  close(): Promise<void>
}

const limits = { memories: 1e9, bytes: 1e15 }

/**
 * An empty database of each kind. PostgreSQL's is that of AICHAT_BENCH_POSTGRES, which has to be empty, or a server of its own,
 * which waits for the disk; undefined where there is none.
 */
export async function openBoth(): Promise<Both | undefined> {
  const given = process.env['AICHAT_BENCH_POSTGRES']
  if (given === undefined && !havePostgres()) return undefined
  const server =
    given === undefined ? await openPostgres({ durable: true, settings: { shared_buffers: '1GB' } }) : undefined
  const folders = [0, 1].map(() => temporaryFolder())
  const url = given ?? (await server!.newDatabase())
  const sqlite = await openStorage({ ...storageIn(folders[0]!), limits })
  const postgres = await openStorage({ ...storageIn(folders[1]!), limits, url }, { service: true })
  const watch = openDatabase(url)
  return {
    sqlite,
    postgres,
    fact: await postgres.check(),
    async serverCpu() {
      const rows = await watch.rows<{ pid: number }>(
        'SELECT pid FROM pg_stat_activity WHERE datname = current_database()',
      )
      try {
        return rows.reduce((sum, { pid }) => sum + cpuOf(pid), 0)
      } catch {
        return undefined
      }
    },
    async close() {
      await Promise.all([sqlite.close(), postgres.close(), watch.close()])
      await server?.close()
      for (const folder of folders) rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Milliseconds of a process, in steps of ten (proc(5), fields 14 and 15). */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return 10 * (Number(fields[11]) + Number(fields[12]))
}

let scopes = 0
let memories = 0

/** A new persona of that name in both. */
export async function makeScope({ sqlite, postgres }: Both): Promise<Scope> {
  const id = `bench-${process.pid}-${++scopes}`
  const persona = { id, user_id: 'bench', name: id, model: 'm', parameters: {}, created_at: 0, updated_at: 0 }
  for (const { personas } of [sqlite, postgres]) await personas.save(persona)
  return { personaId: id, userId: 'bench' }
}

/** Adds memories, each with a vector, to both; resolves with the seconds that each took. */
export async function fill(
  { sqlite, postgres }: Both,
  scope: Scope,
  count: number,
  text: ReturnType<typeof createText>,
  vector: () => Vector,
): Promise<{ readonly sqlite: number; readonly postgres: number }> {
  const seconds = { sqlite: 0, postgres: 0 }
  for (let left = count; left > 0; left -= 1000) {
    const batch = Array.from({ length: Math.min(1000, left) }, () => newMemory(text, vector))
    for (const [name, storage] of [
      ['sqlite', sqlite],
      ['postgres', postgres],
    ] as const) {
      const start = performance.now()
      await storage.memories.add(scope, batch, keepAll)
      seconds[name] += (performance.now() - start) / 1000
    }
  }
  return seconds
}

export function newMemory(text: ReturnType<typeof createText>, vector: () => Vector): NewMemory {
  return {
    id: `memory-${++memories}`,
    content: text.sentence(),
    timestamp: text.time(),
    importance_score: 0.5,
    metadata: {},
    vector: vector(),
  }
}
