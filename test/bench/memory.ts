/**
 * The cost of a search: among other scopes, over HTTP, at two dimensions, and as a scope grows; and its size on disk.
 */

import type { EmbeddingSpace, NewMemory, Scope } from '../../src/personas/memory/memory.ts'
import { rank } from '../../src/personas/memory/ranking.ts'
import { readQuery } from '../../src/personas/memory/ranking-query.ts'
import { candidatesFor } from '../../src/personas/memory/timely-search.ts'
import { overHttp } from './memory-parts/http.ts'
import { builtinEmbedder, keepAll, openStores, percentiles } from './memory-parts/scope.ts'
import { createText } from './memory-parts/text.ts'
import { print } from './parts/figures.ts'

const builtin = builtinEmbedder()

type Stores = Awaited<ReturnType<typeof openStores>>

/** Sizes of a scope can be given as AICHAT_BENCH_MEMORIES=100,1000. */
const sizes = (process.env['AICHAT_BENCH_MEMORIES'] ?? '100,1000,10000,100000').split(',').map(Number)

export async function bench(): Promise<void> {
  print(
    'Aim: 1,000 memories among 200 other scopes, p50 ≤ 5 ms in process and ≤ 8 ms over HTTP; 60 MB for 200 × 20 × 1,536.',
  )
  for (const dimension of [256, 1536]) await amongOthers(dimension)
  await crowd()
  await growth()
}

/** The cost of other users' memories: none, since every scope has posting lists and a range of vectors of its own. */
async function crowd(): Promise<void> {
  print('\n1,000 memories of 64 dimensions among more and more scopes of 20')
  print('scopes    search p50 / p99 ms')
  const stores = await openStores()
  const text = createText(2)
  const scope = await stores.scope()
  await fill(stores, scope, 1000, 64, text)
  let there = 0
  for (const others of [0, 200, 2000]) {
    for (; there < others; there++) await fill(stores, await stores.scope(), 20, 64, text)
    print(`${String(others).padStart(6)}    ${await latency(stores, scope, 64, text)}`)
  }
  stores.close()
}

/** The scope that is asked, and 200 others of 20 memories each. */
async function amongOthers(dimension: number): Promise<void> {
  const stores = await openStores()
  const text = createText(dimension)
  for (let other = 0; other < 200; other++) await fill(stores, await stores.scope(), 20, dimension, text)
  const others = stores.bytes()
  const scope = await stores.scope()
  await fill(stores, scope, 1000, dimension, text)
  print(`\n${dimension} dimensions: 200 scopes × 20 memories take ${megabytes(others)} MB`)
  print(`  in process, 1,000 memories: ${await latency(stores, scope, dimension, text)}`)
  stores.close()
  print(`  over HTTP, 1,000 memories:  ${await overHttp(dimension, text)}`)
}

async function growth(): Promise<void> {
  print('\nOne scope of growing size, 256 dimensions')
  print('memories    stored in s    file MB    search p50 / p99 ms')
  for (const size of sizes) {
    const stores = await openStores()
    const text = createText(1)
    const scope = await stores.scope()
    const start = performance.now()
    for (let left = size; left > 0; left -= 1000) await fill(stores, scope, Math.min(1000, left), 256, text)
    const seconds = (performance.now() - start) / 1000
    const file = megabytes(stores.bytes())
    const search = await latency(stores, scope, 256, text, size > 10_000 ? 30 : 200)
    print(`${String(size).padStart(8)}${seconds.toFixed(1).padStart(15)}${file.padStart(11)}    ${search}`)
    stores.close()
  }
  print(`A term brings at most 2,000 memories from each column, ranking sees at most 180, and beyond 2^19 components only the
vectors that their sketches choose are read. What grows is the scan of the sketches, a bit per component; and the vectors that are compared, a share of 1 in 64.`)
}

async function fill(stores: Stores, scope: Scope, count: number, dimension: number, text: Text): Promise<void> {
  const space = spaceOf(dimension)
  const memories = Array.from({ length: count }, (): NewMemory => {
    const vector = { space, values: text.vector(dimension) }
    return { content: text.sentence(), timestamp: text.time(), importance_score: 0.5, metadata: {}, vector }
  })
  await stores.memories.add(scope, memories, keepAll)
}

type Text = ReturnType<typeof createText>

function spaceOf(dimension: number): EmbeddingSpace {
  return { key: `bench/${dimension}`, model: 'bench', dimension }
}

async function latency(stores: Stores, scope: Scope, dimension: number, text: Text, rounds = 300): Promise<string> {
  const times: number[] = []
  for (let round = 0; round < rounds + 20; round++) {
    const query = text.question()
    const vector = { space: spaceOf(dimension), values: text.vector(dimension) }
    const start = performance.now()
    const read = readQuery(query, builtin.rarity, text.now())
    const found = await candidatesFor(stores.memories, scope, read, { vector, candidates: 120 })
    rank(found, { query: read, vectors: { trust: 0.5, knowsLanguage: true }, now: text.now() }).slice(0, 10)
    // The first rounds fill caches and let the compiler warm up.
    if (round >= 20) times.push(performance.now() - start)
  }
  return percentiles(times)
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1)
}
