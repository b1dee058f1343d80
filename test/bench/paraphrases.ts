/** Memories and questions that share no content word: only meaning can match them. */

import { readFileSync } from 'node:fs'
import type { Embedder } from '../../src/personas/memory/embedding.ts'
import { rank } from '../../src/personas/memory/ranking.ts'
import { readQuery } from '../../src/personas/memory/ranking-query.ts'
import { candidatesFor } from '../../src/personas/memory/timely-search.ts'
import { testData } from '../helpers/data.ts'
import { readScenes } from './memory-parts/scenes.ts'
import {
  availableEmbedders,
  builtinEmbedder,
  embedded,
  keepAll,
  openStores,
  queryVector,
} from './memory-parts/scope.ts'
import { print } from './parts/figures.ts'

type Pair = readonly [memory: string, query: string]

export async function bench(): Promise<void> {
  const path = testData('memory', 'paraphrases.json')
  await measure('our own pairs, on which the settings were chosen', readScenes('paraphrase-pairs'))
  if (!path) return print('\nskipped: no memory/paraphrases.json in AICHAT_TEST_DATA')
  const { items } = JSON.parse(readFileSync(path, 'utf8')) as { items: { memory: string; query: string }[] }
  await measure(
    'memory/paraphrases.json, which nothing was chosen on',
    items.map(({ memory, query }): Pair => [memory, query]),
  )
}

async function measure(title: string, pairs: readonly Pair[]): Promise<void> {
  print(`\n${pairs.length} pairs: ${title}. Share found in %, with 95 % Wilson intervals`)
  print(`${'setting'.padEnd(28)}${'top 1'.padEnd(20)}${'top 3'.padEnd(20)}top 10`)
  row('lexical', await places(pairs, undefined, 'lexical'))
  for (const { name, embedder } of await availableEmbedders()) {
    row(`vectors: ${name}`, await places(pairs, embedder, 'vectors'))
    row(`hybrid: ${name}`, await places(pairs, embedder, 'hybrid'))
  }
  reportUnknown(pairs)
}

/** For each pair, the place of its memory among all memories; infinite where it was not found. */
async function places(
  pairs: readonly Pair[],
  embedder: Embedder | undefined,
  mode: 'lexical' | 'vectors' | 'hybrid',
): Promise<number[]> {
  const stores = await openStores()
  const scope = await stores.scope()
  const memories = pairs.map(([content], at) => ({
    id: String(at),
    content,
    timestamp: at,
    importance_score: 0.5,
    metadata: {},
  }))
  await stores.memories.add(scope, embedder ? await embedded(embedder, memories) : memories, keepAll)
  const { rarity } = builtinEmbedder()
  const result: number[] = []
  for (const [at, [, query]] of pairs.entries()) {
    const read = readQuery(query, rarity, pairs.length)
    const asked = mode === 'vectors' ? { ...read, terms: [], pairs: [] } : read
    const vector = embedder && (await queryVector(embedder, query))
    const found = await candidatesFor(stores.memories, scope, asked, { candidates: 120, ...(vector && { vector }) })
    const ranked = rank(found, {
      query: asked,
      vectors: embedder && { trust: embedder.trust, knowsLanguage: true },
      now: pairs.length,
    })
    const place = ranked.findIndex(({ candidate }) => candidate.entry.id === String(at))
    result.push(place < 0 ? Number.POSITIVE_INFINITY : place)
  }
  stores.close()
  return result
}

function row(name: string, found: readonly number[]): void {
  const cells = [1, 3, 10].map((k) => wilson(found.filter((place) => place < k).length, found.length).padEnd(20))
  print(`${name.padEnd(28)}${cells.join('').trimEnd()}`)
}

/** `68.3 (55.8–78.7)` (E. B. Wilson, "Probable inference, the law of succession, and statistical inference", 1927). */
function wilson(hits: number, total: number): string {
  const z = 1.96
  const share = hits / total
  const middle = (share + z ** 2 / (2 * total)) / (1 + z ** 2 / total)
  const half = (z / (1 + z ** 2 / total)) * Math.sqrt((share * (1 - share)) / total + z ** 2 / (4 * total ** 2))
  const [low, high] = [middle - half, middle + half].map((bound) => (Math.min(1, Math.max(0, bound)) * 100).toFixed(1))
  return `${(share * 100).toFixed(1)} (${low}–${high})`
}

function reportUnknown(pairs: readonly Pair[]): void {
  const builtin = builtinEmbedder()
  if (!builtin.space()) return print('The built-in word vectors are not built.')
  const words = pairs.map(([, query]) => builtin.unknownWords(query))
  const distinct = [...new Set(words.flat())]
  const queries = words.filter(({ length }) => length > 0).length
  print(`queries with a word that the built-in vectors do not know: ${[queries, ...distinct].join(' ')}`)
}
