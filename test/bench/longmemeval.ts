/**
 * The official retrieval measures of LongMemEval (https://github.com/xiaowu0162/LongMemEval) over the user's own copy of its
 * data, through the product's own store and search: `npm run bench -- longmemeval FILE`, or AICHAT_LONGMEMEVAL=FILE. Each
 * user's turn is a memory, as in the paper's turn granularity.
 */

import { maxContentLength, type NewMemory } from '../../src/personas/memory/memory.ts'
import { rank } from '../../src/personas/memory/ranking.ts'
import { readQuery } from '../../src/personas/memory/ranking-query.ts'
import { candidatesFor } from '../../src/personas/memory/timely-search.ts'
import { type Instance, readInstances } from './longmemeval-parts/data.ts'
import { depths, meanOf, type Scores, scoresAt, sessionScoresAt } from './longmemeval-parts/scores.ts'
import {
  availableEmbedders,
  builtinEmbedder,
  embedded,
  keepAll,
  openStores,
  print,
  queryVector,
} from './memory-parts/scope.ts'

type Embedder = Awaited<ReturnType<typeof availableEmbedders>>[number]['embedder']

export async function bench(files: readonly string[] = []): Promise<void> {
  const file = files[0] ?? process.env['AICHAT_LONGMEMEVAL']
  if (!file) return print('skipped: name a LongMemEval file (npm run bench -- longmemeval FILE, or AICHAT_LONGMEMEVAL)')
  print(`means over the questions that the history answers, turns as memories, in %`)
  print(
    `\n${'setting'.padEnd(26)}${'level'.padEnd(9)}${'k'.padStart(3)}${['recall_any', 'recall_all', 'ndcg_any'].map((name) => name.padStart(12)).join('')}`,
  )
  for (const { name, embedder } of [{ name: 'words', embedder: undefined }, ...(await availableEmbedders())])
    for (const { level, depth, scores, questions } of await measure(file, embedder))
      print(
        `${`${name} (${questions})`.padEnd(26)}${level.padEnd(9)}${String(depth).padStart(3)}${[
          scores.any,
          scores.all,
          scores.ndcg,
        ]
          .map((share) => (share * 100).toFixed(1).padStart(12))
          .join('')}`,
      )
}

export interface Row {
  readonly level: 'turn' | 'session'
  readonly depth: number
  readonly questions: number
  readonly scores: Scores
}

/** Asks every question of a file and gives the means by level and depth. */
export async function measure(file: string, embedder?: Embedder): Promise<readonly Row[]> {
  const rankings: (readonly string[])[] = []
  for (const instance of readInstances(file))
    if (!instance.isAbstention) rankings.push(await rankingOf(instance, embedder))
  return (['turn', 'session'] as const).flatMap((level) =>
    depths.map((depth) => {
      const score = level === 'turn' ? scoresAt : sessionScoresAt
      return { level, depth, questions: rankings.length, scores: meanOf(rankings.map((ids) => score(ids, depth))) }
    }),
  )
}

/** The ids of all turns, the found ones first. */
async function rankingOf({ question, turns, asked: now }: Instance, embedder?: Embedder): Promise<readonly string[]> {
  const stores = await openStores()
  try {
    const scope = await stores.scope()
    const memories = turns.map(
      ({ content, session, timestamp }, at): NewMemory => ({
        // A history may hold a session twice, so that its turns' own ids are not unique.
        id: String(at),
        content: content.slice(0, maxContentLength) || ' ',
        timestamp,
        importance_score: 0.5,
        metadata: { speaker: 'user', conversation: session },
      }),
    )
    await stores.memories.add(scope, embedder ? await embedded(embedder, memories) : memories, keepAll)
    const query = readQuery(question, builtinEmbedder().rarity, now)
    const vector = embedder && (await queryVector(embedder, question))
    const found = await candidatesFor(stores.memories, scope, query, {
      candidates: 400,
      ...(vector && { vector }),
    })
    const vectors = embedder && { trust: embedder.trust, knowsLanguage: true }
    const ranked = rank(found, { query, vectors, now }).map(({ candidate }) => Number(candidate.entry.id))
    const listed = new Set(ranked)
    const rest = turns.map((_, at) => at).filter((at) => !listed.has(at))
    return [...ranked, ...rest].map((at) => turns[at]!.id)
  } finally {
    stores.close()
  }
}
