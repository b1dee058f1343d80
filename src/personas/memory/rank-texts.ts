/**
 * The ranking of memories without a store, for other programs: of aichat it needs this folder and a few tools. An embedder lets
 * meaning count beside words. A score is the probability that a text answers the question; personas use those from 0.15 on.
 *
 * @example
 * import { rankTexts } from './rank-texts.ts'
 *
 * const axes = [/kayak|boat/i, /allerg|food|eat/i]
 * const values = (text: string) => Float32Array.from(axes, (axis) => Number(axis.test(text)))
 * const space = { key: 'example', model: 'example', dimension: axes.length }
 * const embedder = { trust: 1, embed: async (texts: readonly string[]) => ({ space, vectors: texts.map(values) }) }
 *
 * const facts = ['My kayak is red.', 'The meeting is at nine.', 'I am allergic to nuts.']
 * for (const question of ['What colour is my kayak?', 'Who won the match?'])
 *   console.log(question, (await rankTexts(facts, question, { embedder, floor: 0.15 }))[0]?.text ?? 'nothing')
 */
import type { Embedder } from './embedding.ts'
import { rank } from './ranking.ts'
import { readQuery } from './ranking-query.ts'
import { termsOf } from './ranking-terms.ts'

export interface RankTextsOptions {
  readonly embedder?: Pick<Embedder, 'trust' | 'embed' | 'languages'>
  /** Texts with a lower score are left out; by default 0. */
  readonly floor?: number
  /** To which "last week" refers; by default this moment. Milliseconds since 1970 UTC. */
  readonly now?: number
}

export interface RankedText {
  readonly text: string
  /** From 0 to 1. */
  readonly score: number
}

/** Ranks texts for a question, the best first; those that share neither a word nor a meaning with it are left out. */
export async function rankTexts(
  texts: readonly string[],
  question: string,
  { embedder, floor = 0, now = Date.now() }: RankTextsOptions = {},
): Promise<readonly RankedText[]> {
  const query = readQuery(question, undefined, now)
  const terms = texts.map((text) => termsOf(text).join(' '))
  const [documents, asked] = embedder
    ? await Promise.all([embedder.embed(texts, 'document'), embedder.embed([question], 'query')])
    : []
  const candidates = texts.map((content, at) => ({
    entry: {
      id: String(at),
      user_id: '',
      persona_id: '',
      content,
      timestamp: now,
      importance_score: 0.5,
      metadata: {},
    },
    terms: terms[at]!,
    about: '',
    context: '',
    ...(documents && asked && { cosine: cosineOf(documents.vectors[at]!, asked.vectors[0]!) }),
  }))
  const found = {
    memories: texts.length,
    meanLength: terms.reduce((sum, each) => sum + each.length, 0) / Math.max(1, texts.length),
    frequencies: query.terms.map(({ term }) => terms.filter((each) => ` ${each} `.includes(` ${term} `)).length),
    candidates,
  }
  const knowsLanguage = embedder?.languages?.includes(query.language) ?? true
  const vectors = embedder && { trust: embedder.trust, knowsLanguage }
  return rank(found, { query, vectors, now })
    .filter(({ score }) => score >= floor)
    .map(({ candidate, score }) => ({ text: candidate.entry.content, score }))
}

/** The cosine of two vectors of unit length, or of none; 0 where one is all zeros. */
function cosineOf(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, at) => sum + value * other[at]!, 0)
}
