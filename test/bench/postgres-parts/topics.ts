import type { EmbeddingSpace, Vector } from '../../../src/personas/memory/memory.ts'
import { randomFrom } from '../parts/figures.ts'

/**
 * Unit vectors as those of an embedding model lie: about 300 topics, all on one side of a common mean. Two of one topic have
 * a cosine of about 0.45, of two topics one of about 0.2.
 */
export function createTopics(dimension: number, seed: number): () => Vector {
  const space: EmbeddingSpace = { key: `bench/${dimension}`, model: 'bench', dimension }
  const random = randomFrom(seed)
  // A sum of uniform numbers is near enough to a normal one.
  const direction = () => unit(Float32Array.from({ length: dimension }, () => random() + random() + random() - 1.5))
  const mean = direction()
  const topics = Array.from({ length: 300 }, direction)
  return () => {
    const topic = topics[Math.floor(random() * topics.length)]!
    const own = direction()
    const values = Float32Array.from(mean, (value, at) => 0.45 * value + 0.5 * topic[at]! + 0.74 * own[at]!)
    return { space, values: unit(values) }
  }
}

function unit(values: Float32Array): Float32Array {
  const length = Math.hypot(...values)
  return values.map((value) => value / length)
}
