import type { Candidate, Found } from './memory.ts'
import { scoreTerms, type Weights, weights } from './ranking-lexical.ts'

/** The parts of a memory's score: `score = (lexical + vector) · recency · importance`. */
export interface Parts {
  /** The match with the query's words; about 1 when its own text contains all of them. */
  readonly lexical: number
  /** The similarity in meaning, weighted by the trust in the vector space. */
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
  /** The text of the query. */
  readonly query: string
  /** The query's terms in the order in which the store counted their frequencies. */
  readonly terms: readonly string[]
  /** The trust in the vector space, see `Embedder.trust`; undefined leaves vectors out. */
  readonly trust: number | undefined
  /** Milliseconds since 1970 UTC. */
  readonly now: number
  /** Other weights than the product's, for measurements. */
  readonly weights?: Weights
}

/**
 * Ranks the candidates of a store, best first. Memories that match by neither term nor vector are left out. Pure, and the
 * same for every store.
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
 * Priors as factors near 1: tie-breaks between memories that match equally well, which cannot lift one that does not match.
 * A sum, as in "Generative Agents" (Park et al., 2023), would let a recent and important but irrelevant memory win.
 */
const priors = {
  /** A memory of importance 1 counts this much more than one of importance 0. */
  importance: 0.1,
  /** The recency of a very old memory. */
  oldest: 0.95,
  /** Milliseconds after which half of the difference is gone: 30 days. */
  halfLife: 30 * 86_400_000,
} as const

function recencyOf(timestamp: number, now: number): number {
  const age = Math.max(0, now - timestamp)
  return priors.oldest + (1 - priors.oldest) * 0.5 ** (age / priors.halfLife)
}

/** Best lexical scores below the first: no match by words; above the second: a full one. */
const unanswered = 0.15
const answered = 0.25

/** Added to the required lexical score where a single memory is near in meaning. */
const alone = 0.3

/**
 * The shares of words and meaning in a score. Cosines are normalised over a query's candidates, since their range differs by
 * space: the nearest counts in full, the median nothing. (Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid
 * Retrieval", 2023, find such a sum of normalised scores better than a sum of reciprocal ranks, which loses the lead of a
 * clear winner by words.)
 */
function fuse(candidates: readonly Candidate[], best: number, trust: number | undefined): Fusion {
  const cosines = candidates.flatMap(({ cosine }) => cosine ?? []).sort((a, b) => b - a)
  const [nearest] = cosines
  if (trust === undefined || nearest === undefined) return { lexical: 1, vector: candidates.map(() => 0) }
  const middle = cosines[cosines.length >> 1]!
  const span = Math.max(nearest - middle, 1e-6)
  const lead = (nearest - (cosines[1] ?? middle)) / span
  // The better the match by words, the less meaning adds; where there is hardly one, a chance match must not win.
  const lost = Math.min(1, Math.max(0, (answered - best + alone * lead) / (answered - unanswered)))
  const weight = lost + (1 - lost) * trust * Math.max(0, 1 - best)
  // A trace of the plain cosine keeps the farther half in order too.
  const nearness = (cosine: number) =>
    0.95 * Math.max(0, (cosine - middle) / span) + 0.05 * Math.max(0, cosine / Math.max(nearest, 1e-6))
  return {
    lexical: 1 - 0.9 * lost,
    vector: candidates.map(({ cosine }) => (cosine === undefined ? 0 : weight * nearness(cosine))),
  }
}

interface Fusion {
  /** The factor of lexical scores. */
  readonly lexical: number
  /** The addend of each candidate. */
  readonly vector: readonly number[]
}
