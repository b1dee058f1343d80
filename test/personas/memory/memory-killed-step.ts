/**
 * Stores and wipes memories until it is killed: `memory-killed-step.ts DATABASE ROUND`. Writes a line before and after each
 * action, synchronously.
 */
import { writeSync } from 'node:fs'
import type { NewMemory, RetentionPolicy, Scope } from '../../../src/personas/memory/memory.ts'
import { openDatabase } from '../../../src/storage/sqlite/database.ts'
import { memoryStoreOf } from '../../helpers/storage/test-storage.ts'

export type Line = { readonly action?: Action; readonly done?: true }

export interface Action {
  readonly user: string
  /** Ids and categories of the stored memories. */
  readonly store?: readonly (readonly [id: string, category: string])[]
  /** The category that is wiped; '' for everything. */
  readonly wipe?: string
}

const [path = '', round = '0'] = process.argv.slice(2)
const store = memoryStoreOf(await openDatabase(path))
const space = { key: 'killed/64', model: 'killed', dimension: 64 }
const keepAll: RetentionPolicy = { maxMemories: 1e6, maxAge: Number.MAX_SAFE_INTEGER, cleanup: false, now: 0 }
const categories = ['work', 'home', 'sport']

for (let step = 0; ; step++) {
  const user = step % 2 === 0 ? 'u1' : 'u2'
  const scope: Scope = { personaId: `persona of ${user}`, userId: user }
  const wipe = step % 11 === 10 ? '' : categories[step % 3]!
  if (step % 5 === 4) await told({ user, wipe }, () => store.wipe(scope, wipe === '' ? {} : { category: wipe }))
  else {
    const memories = Array.from({ length: 1 + (step % 7) }, (_, at) => memoryOf(`${round}/${step}/${at}`, step + at))
    const names = memories.map(({ id, metadata }): [string, string] => [id!, String(metadata['category'])])
    await told({ user, store: names }, () => store.add(scope, memories, keepAll))
  }
}

function memoryOf(id: string, seed: number): NewMemory {
  const values = Float32Array.from({ length: 64 }, (_, at) => Math.sin(seed * 7919 + at * 104_729) / Math.sqrt(32))
  return {
    id,
    content: `In ${id.replaceAll('/', ' ')} she saw the harbour and 柏林`,
    timestamp: seed * 1000,
    importance_score: 0.5,
    metadata: { category: categories[seed % 3]!, speaker: 'Ann' },
    vector: { space, values },
  }
}

async function told(action: Action, work: () => Promise<unknown>): Promise<void> {
  say({ action })
  await work()
  say({ done: true })
}

function say(line: Line): void {
  writeSync(1, `${JSON.stringify(line)}\n`)
}
