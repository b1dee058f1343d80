/** How the next token is chosen. Names and meanings are those of Hugging Face's GenerationConfig and OpenAI's API. */
export interface SamplingOptions {
  /** 0 takes the likeliest token always. */
  readonly temperature: number
  /** Only the likeliest tokens that together have this probability are chosen from; 1 is all. */
  readonly topP: number
  /** Only so many of the likeliest; 0 is all. */
  readonly topK: number
  /** Above 1, tokens that stand in the prompt or the answer become less likely (Keskar et al. 2019, arXiv:1909.05858). */
  readonly repetitionPenalty: number
  /** Taken off the score of a token that stands in the answer: once, and for each time it does. */
  readonly presencePenalty: number
  readonly frequencyPenalty: number
  /** The same seed, prompt and options give the same answer. */
  readonly seed: number
}

export interface Sampler {
  /** Chooses by the scores, which it changes. */
  choose(scores: Float32Array): number
  /** Tells that a token stands in the text now. */
  add(id: number, place: 'prompt' | 'answer'): void
}

export function createSampler(options: SamplingOptions): Sampler {
  const { temperature, topP, topK, repetitionPenalty, presencePenalty, frequencyPenalty } = options
  const seen = new Set<number>()
  const counts = new Map<number, number>()
  const random = generator(options.seed)
  return {
    add(id, place) {
      seen.add(id)
      if (place === 'answer') counts.set(id, (counts.get(id) ?? 0) + 1)
    },
    choose(scores) {
      penalise(scores)
      if (temperature === 0 || topK === 1) return indexOfLargest(scores)
      const largest = scores[indexOfLargest(scores)]!
      const kept = topK > 0 && topK < scores.length ? largestOf(scores, topK) : undefined
      return draw(weightsOf(scores, kept, largest))
    },
  }

  function penalise(scores: Float32Array): void {
    if (repetitionPenalty !== 1)
      for (const id of seen) {
        const score = scores[id] ?? 0
        scores[id] = score > 0 ? score / repetitionPenalty : score * repetitionPenalty
      }
    if (presencePenalty !== 0 || frequencyPenalty !== 0)
      for (const [id, count] of counts) scores[id]! -= presencePenalty + frequencyPenalty * count
  }

  /** The candidates with their unnormalised probabilities. */
  function weightsOf(scores: Float32Array, kept: readonly number[] | undefined, largest: number): Candidates {
    const weight = (id: number) => Math.exp((scores[id]! - largest) / temperature)
    let total = 0
    if (kept) {
      const weights = kept.map(weight)
      for (const value of weights) total += value
      return nucleus({ ids: kept, weights, total })
    }
    const weights = new Float64Array(scores.length)
    for (let id = 0; id < scores.length; id++) total += weights[id] = weight(id)
    if (topP >= 1) return { ids: undefined, weights, total }
    // All tokens below this share have less than 1 - topP together, so none of them can belong to the nucleus.
    const least = ((1 - topP) / scores.length) * total
    const ids: number[] = []
    for (let id = 0; id < weights.length; id++) if (weights[id]! >= least) ids.push(id)
    return nucleus({ ids, weights: ids.map((id) => weights[id]!), total })
  }

  /** The likeliest candidates that together reach topP (Holtzman et al. 2020, arXiv:1904.09751); at least one. */
  function nucleus(all: Required<Candidates> & { ids: readonly number[] }): Candidates {
    if (topP >= 1) return all
    const order = all.ids.map((_, index) => index).sort((a, b) => all.weights[b]! - all.weights[a]!)
    let total = 0
    let count = 0
    while (count < order.length && total < topP * all.total) total += all.weights[order[count++]!]!
    const best = order.slice(0, Math.max(1, count))
    return { ids: best.map((index) => all.ids[index]!), weights: best.map((index) => all.weights[index]!), total }
  }

  function draw({ ids, weights, total }: Candidates): number {
    let left = random() * total
    let last = 0
    for (let index = 0; index < weights.length; index++) {
      const weight = weights[index]!
      if (weight === 0) continue
      last = index
      left -= weight
      if (left <= 0) break
    }
    return ids ? ids[last]! : last
  }
}

interface Candidates {
  /** Undefined where the index is the id. */
  readonly ids: readonly number[] | undefined
  readonly weights: ArrayLike<number>
  readonly total: number
}

function indexOfLargest(scores: Float32Array): number {
  let best = 0
  for (let index = 1; index < scores.length; index++) if (scores[index]! > scores[best]!) best = index
  return best
}

/** The ids of the so many largest scores, in no order; of equal ones the first. */
function largestOf(scores: Float32Array, count: number): number[] {
  const ids = Array.from({ length: count }, (_, id) => id)
  let lowest = lowestOf(ids)
  for (let id = count; id < scores.length; id++) {
    if (scores[id]! <= scores[ids[lowest]!]!) continue
    ids[lowest] = id
    lowest = lowestOf(ids)
  }
  return ids

  function lowestOf(among: readonly number[]): number {
    let found = 0
    for (let index = 1; index < among.length; index++)
      if (scores[among[index]!]! < scores[among[found]!]!) found = index
    return found
  }
}

/** Numbers from 0 up to 1 by the 32-bit generator mulberry32 (Tommy Ettinger, public domain). */
function generator(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
