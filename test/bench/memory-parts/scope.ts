import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openHttpClient } from '../../../src/http-client/agent.ts'
import { openHub } from '../../../src/model-hub/hub.ts'
import { knownModels } from '../../../src/model-hub/known-models.ts'
import type { Embedder } from '../../../src/personas/memory/embedding.ts'
import type { NewMemory, Scope, Vector } from '../../../src/personas/memory/memory.ts'
import { type BuiltinEmbedder, createBuiltinEmbedder } from '../../../src/runners/embedder-builtin.ts'
import { createOllamaEmbeddings } from '../../../src/runners/embedder-ollama.ts'
import { createPulledEmbedder, embeddingForms } from '../../../src/runners/pulled-embedder.ts'
import { readSettings } from '../../../src/settings/read-settings.ts'
import { openDatabase } from '../../../src/storage/sqlite/database.ts'
import { temporaryFolder } from '../../helpers/folders.ts'
import { memoryStoreOf, personaStoreOf } from '../../helpers/storage/test-storage.ts'

/** Nothing is evicted while it is measured. */
export const keepAll = { maxMemories: 1_000_000, maxAge: 1e15, cleanup: false, now: 0 }

/** The product's own store in a database of its own. */
export async function openStores() {
  const folder = temporaryFolder()
  const path = join(folder, 'aichat.db')
  const db = await openDatabase(path)
  const memories = memoryStoreOf(db)
  const personas = personaStoreOf(db)
  let count = 0
  return {
    db,
    memories,
    /** A new persona's scope. */
    async scope(): Promise<Scope> {
      const scope = { personaId: `persona-${++count}`, userId: 'bench' }
      const times = { created_at: 0, updated_at: 0 }
      await personas.save({ id: scope.personaId, user_id: 'bench', name: 'b', model: 'm', parameters: {}, ...times })
      return scope
    },
    /** The size of the database's file once all of it is there. */
    bytes() {
      db.pragma('wal_checkpoint(TRUNCATE)')
      return statSync(path).size
    },
    close() {
      db.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The built-in embedder, its vectors where the build has put them. */
export function builtinEmbedder(): BuiltinEmbedder {
  const root = fileURLToPath(new URL('.', import.meta.resolve('#package')))
  return createBuiltinEmbedder(join(root, 'dist', 'data', 'word-vectors.bin'))
}

/** The models of `aichat models pull` that lie in the models folder of this user; their processes end with this one. */
function pulledEmbedders(): readonly { readonly name: string; readonly embedder: Embedder }[] {
  const { modelsFolder, hubEndpoint } = readSettings(process.env)
  const send = () => Promise.reject(new Error('a bench pulls no model'))
  const hub = openHub({ modelsFolder, known: knownModels, endpoint: hubEndpoint, token: undefined, send })
  return [...embeddingForms]
    .map(([name, form]) => ({ name, embedder: createPulledEmbedder({ name, form, installed: () => hub.find(name) }) }))
    .filter(({ embedder }) => embedder.isInstalled())
}

/** The built-in embedder, the pulled ones and, where one answers, an embedding model of the local runner. */
export async function availableEmbedders(): Promise<readonly { readonly name: string; readonly embedder: Embedder }[]> {
  const builtin = builtinEmbedder()
  const found = [...(builtin.space() ? [{ name: 'built-in', embedder: builtin }] : []), ...pulledEmbedders()]
  const url = (process.env['OLLAMA_HOST'] ?? '127.0.0.1:11434').replace(/^(?!https?:)/, 'http://')
  const outbound = openHttpClient({ allowPrivate: true })
  const ollama = createOllamaEmbeddings({ url, send: outbound.send, now: () => performance.now() })
  const installed = (await ollama.installed()) ?? []
  const wanted = process.env['AICHAT_BENCH_EMBEDDER'] ?? installed[0]?.name
  if (wanted) return [...found, { name: wanted, embedder: ollama.embedder(wanted) }]
  await outbound.close()
  return found
}

/** The memories with their vectors, embedded in batches. */
export async function embedded(embedder: Embedder, memories: readonly NewMemory[]): Promise<NewMemory[]> {
  const result: NewMemory[] = []
  for (let at = 0; at < memories.length; at += 64) {
    const batch = memories.slice(at, at + 64)
    const texts = batch.map(({ content }) => content)
    const { space, vectors } = await embedder.embed(texts, 'document')
    batch.forEach((memory, index) => {
      result.push({ ...memory, vector: { space, values: vectors[index]! } })
    })
  }
  return result
}

export async function queryVector(embedder: Embedder, query: string): Promise<Vector> {
  const { space, vectors } = await embedder.embed([query], 'query')
  return { space, values: vectors[0]! }
}

/** The middle and the slow end of some milliseconds. */
export function percentiles(times: number[]): string {
  times.sort((a, b) => a - b)
  const at = (share: number) => times[Math.floor((times.length - 1) * share)]!.toFixed(2)
  return `p50 ${at(0.5)}, p99 ${at(0.99)} ms`
}
