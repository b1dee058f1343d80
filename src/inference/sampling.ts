/** How the next token is chosen. Names and meanings are those of Hugging Face's GenerationConfig and OpenAI's API. */
export interface SamplingOptions {
  /** 0 takes the likeliest token always. */
  readonly temperature: number
  /** Only the likeliest tokens that together have this probability are chosen from; 1 is all. */
  readonly topP: number
  /** Only so many of the likeliest; 0 is all. */
  readonly topK: number
  /** Above 1, tokens that are in the prompt or the answer become less likely (Keskar et al. 2019, arXiv:1909.05858). */
  readonly repetitionPenalty: number
  /** Taken off the score of a token in the answer: once, and once for each occurrence. */
  readonly presencePenalty: number
  readonly frequencyPenalty: number
  /** The same seed, prompt and options give the same answer. */
  readonly seed: number
}

/** Tokens are sorted into boxes by score, so many for each factor e; 40 factors below the best none is drawn. */
const boxesPerFactor = 64
const hopeless = 40
const boxes = boxesPerFactor * hopeless
/** The probability at the upper edge of each box. */
const edges = Float64Array.from({ length: boxes }, (_, box) => Math.exp(-box / boxesPerFactor))

/** Chooses tokens one after the other; an option that is left out bounds nothing and penalises nothing. */
export function createSampler(options: Pick<SamplingOptions, 'temperature' | 'seed'> & Partial<SamplingOptions>) {
  const { temperature, topP = 1, topK = 0, repetitionPenalty = 1, presencePenalty = 0, frequencyPenalty = 0 } = options
  const seen = new Set<number>()
  const counts = new Map<number, number>()
  const random = generator(options.seed)
  const sums = new Float64Array(boxes)
  let weights = new Float64Array()
  let places = new Uint16Array()
  return {
    /** Adds a token to the text. */
    add(id: number, place: 'prompt' | 'answer') {
      seen.add(id)
      if (place === 'answer') counts.set(id, (counts.get(id) ?? 0) + 1)
    },
    /** Chooses by the scores, which it changes: they are as penalised afterwards, -Infinity where an id is forbidden. */
    choose(scores: Float32Array, forbidden: Iterable<number> = []): number {
      penalise(scores)
      for (const id of forbidden) scores[id] = Number.NEGATIVE_INFINITY
      const best = indexOfLargest(scores)
      if (temperature === 0 || topK === 1) return best
      if (weights.length !== scores.length) {
        weights = new Float64Array(scores.length)
        places = new Uint16Array(scores.length)
      }
      const ids = topK > 0 && topK < scores.length ? largestOf(scores, topK) : undefined
      const total = weigh(scores, scores[best]!, ids)
      return topP >= 1 ? draw(ids, total) : draw(...nucleus(ids, total))
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

  /** Sets the unnormalised probabilities of the ids, or of all, and the sums of the boxes; returns their sum. */
  function weigh(scores: Float32Array, largest: number, ids: readonly number[] | undefined): number {
    sums.fill(0)
    let total = 0
    const scale = boxesPerFactor / temperature
    const count = ids?.length ?? scores.length
    for (let index = 0; index < count; index++) {
      const id = ids ? ids[index]! : index
      const below = (largest - scores[id]!) * scale
      if (!(below < boxes)) {
        weights[id] = 0
        places[id] = boxes
        continue
      }
      const box = below | 0
      // exp within a box by its series; four terms are exact to 2e-9, and far faster than Math.exp.
      const rest = (below - box) / boxesPerFactor
      const weight = edges[box]! * (1 - rest * (1 - rest * (0.5 - rest / 6)))
      weights[id] = weight
      places[id] = box
      sums[box]! += weight
      total += weight
    }
    return total
  }

  /**
   * The likeliest ids that together reach topP (Holtzman et al. 2020, arXiv:1904.09751), at least one, with their sum.
   * All of the better boxes belong to them; only the box in which the sum is reached must be put in order.
   */
  function nucleus(ids: readonly number[] | undefined, total: number): [readonly number[], number] {
    const wanted = topP * total
    let reached = 0
    let last = 0
    while (last < boxes - 1 && reached + sums[last]! < wanted) reached += sums[last++]!
    const kept: number[] = []
    const open: number[] = []
    const count = ids?.length ?? places.length
    for (let index = 0; index < count; index++) {
      const id = ids ? ids[index]! : index
      if (places[id]! < last) kept.push(id)
      else if (places[id] === last) open.push(id)
    }
    open.sort((a, b) => weights[b]! - weights[a]!)
    for (const id of open) {
      if (reached >= wanted && kept.length > 0) break
      kept.push(id)
      reached += weights[id]!
    }
    return [kept, reached]
  }

  function draw(ids: readonly number[] | undefined, total: number): number {
    let left = random() * total
    let last = 0
    const count = ids?.length ?? weights.length
    for (let index = 0; index < count; index++) {
      const id = ids ? ids[index]! : index
      const weight = weights[id]!
      if (weight === 0) continue
      last = id
      left -= weight
      if (left <= 0) break
    }
    return last
  }
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
