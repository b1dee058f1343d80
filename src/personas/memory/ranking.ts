import type { Candidate, Found } from './memory.ts'
import { scoreTerms, type Weights, weights } from './ranking-lexical.ts'

/** What a memory's score is made of: `score = (lexical + vector) · recency · importance`. */
export interface Parts {
  /** How much of the question's words it answers; 1 is about all of them in its own text. */
  readonly lexical: number
  /** How near it is in meaning, weighed by how far the vectors' space can be trusted. */
  readonly vector: number
  /** Between `priors.oldest` and 1. */
  readonly recency: number
  /** Between 1 and `1 + priors.importance`. */
  readonly importance: number
}

export interface Ranked {
  readonly candidate: Candidate
  readonly score: number
  readonly parts: Parts
}

export interface RankOptions {
  /** As it was asked. */
  readonly query: string
  /** The query's terms in the order in which the store counted their frequencies. */
  readonly terms: readonly string[]
  /** How far the space of the vectors can be trusted, see `Embedder.trust`; undefined leaves them out. */
  readonly trust: number | undefined
  /** Milliseconds since 1970 UTC. */
  readonly now: number
  /** Others than the product's, to measure with. */
  readonly weights?: Weights
}

/**
 * Orders what a store found, best first. Memories that neither a term nor a vector speaks for are left out.
 * Pure, and the same for every store.
 */
export function rank(found: Found, options: RankOptions): readonly Ranked[] {
  const lexical = scoreTerms(found, options.query, options.terms, options.weights ?? weights)
  const fusion = fuse(found.candidates, Math.max(0, ...lexical), options.trust)
  return found.candidates
    .map((candidate, at): Ranked => {
      const parts = {
        lexical: lexical[at]! * fusion.lexical,
        vector: fusion.vector[at]!,
        recency: recencyOf(candidate.entry.timestamp, options.now),
        importance: 1 + priors.importance * candidate.entry.importance_score,
      }
      return { candidate, parts, score: (parts.lexical + parts.vector) * parts.recency * parts.importance }
    })
    .filter(({ parts }) => parts.lexical + parts.vector > 0)
    .sort((a, b) => b.score - a.score || b.candidate.entry.timestamp - a.candidate.entry.timestamp)
}

/**
 * Gentle priors, factors near 1: they decide between memories that answer equally well and cannot lift one that does not
 * answer. A sum, as in "Generative Agents" (Park et al., 2023), would let a fresh and important but beside-the-point memory win.
 */
const priors = {
  /** A memory of importance 1 counts this much more than one of importance 0. */
  importance: 0.1,
  /** What a very old memory still counts. */
  oldest: 0.95,
  /** Milliseconds after which half of the difference is gone: 30 days. */
  halfLife: 30 * 86_400_000,
} as const

function recencyOf(timestamp: number, now: number): number {
  const age = Math.max(0, now - timestamp)
  return priors.oldest + (1 - priors.oldest) * 0.5 ** (age / priors.halfLife)
}

/** A question whose best match by words scores less than the one is not answered by words, more than the other it is. */
const unanswered = 0.15
const answered = 0.25

/** How much better the words have to answer where one memory is near in meaning and no other is. */
const alone = 0.3

/**
 * How much of a score the words and the meaning each make. Cosines are stretched over a query's candidates, since spaces
 * differ in what they call near: the nearest counts in full, one no nearer than most counts nothing. (Bruch, Gai and Ingber,
 * "An Analysis of Fusion Functions for Hybrid Retrieval", 2023, find such a sum of normalised scores better than a sum of
 * reciprocal ranks, which the words' clear winner enters like any other.)
 */
function fuse(candidates: readonly Candidate[], best: number, trust: number | undefined): Fusion {
  const cosines = candidates.flatMap(({ cosine }) => cosine ?? []).sort((a, b) => b - a)
  const [nearest] = cosines
  if (trust === undefined || nearest === undefined) return { lexical: 1, vector: candidates.map(() => 0) }
  const middle = cosines[cosines.length >> 1]!
  const span = Math.max(nearest - middle, 1e-6)
  const lead = (nearest - (cosines[1] ?? middle)) / span
  // The better the words answer, the less meaning has to add; where they hardly do, a chance match must not win.
  const lost = Math.min(1, Math.max(0, (answered - best + alone * lead) / (answered - unanswered)))
  const weight = lost + (1 - lost) * trust * Math.max(0, 1 - best)
  // A trace of the plain cosine keeps the farther half in order too: among few memories it is worth showing.
  const nearness = (cosine: number) =>
    0.95 * Math.max(0, (cosine - middle) / span) + 0.05 * Math.max(0, cosine / Math.max(nearest, 1e-6))
  return {
    lexical: 1 - 0.9 * lost,
    vector: candidates.map(({ cosine }) => (cosine === undefined ? 0 : weight * nearness(cosine))),
  }
}

interface Fusion {
  /** What a lexical score is multiplied with. */
  readonly lexical: number
  /** What each candidate's nearness adds. */
  readonly vector: readonly number[]
}
