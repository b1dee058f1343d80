import * as assert from 'uvu/assert'
import { createSampler, type SamplingOptions } from '../../src/inference/sampling.ts'
import { fc } from '../helpers/properties.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('choosing the next token')

const plain: SamplingOptions = {
  temperature: 1,
  topP: 1,
  topK: 0,
  repetitionPenalty: 1,
  presencePenalty: 0,
  frequencyPenalty: 0,
  seed: 1,
}

const scores = fc.array(fc.float({ min: -20, max: 20, noNaN: true }), { minLength: 1, maxLength: 40 })

function choices(options: Partial<SamplingOptions>, list: readonly number[], count = 200): Set<number> {
  const sampler = createSampler({ ...plain, ...options })
  return new Set(Array.from({ length: count }, () => sampler.choose(Float32Array.from(list))))
}

/** Ids from the likeliest to the least. */
const ranked = (list: readonly number[]) => [...list.keys()].sort((a, b) => list[b]! - list[a]!)

test('temperature 0 takes the likeliest', () => {
  fc.assert(
    fc.property(scores, (list) =>
      assert.equal([...choices({ temperature: 0 }, list, 3)], [list.indexOf(Math.max(...list))]),
    ),
  )
})

test('top-k chooses among the k likeliest only', () => {
  fc.assert(
    fc.property(scores, fc.integer({ min: 1, max: 8 }), (list, topK) => {
      const least = list[ranked(list)[Math.min(topK, list.length) - 1]!]!
      for (const id of choices({ topK, temperature: 5 }, list)) assert.ok(list[id]! >= least)
    }),
  )
})

test('top-p chooses within the smallest set that reaches p', () => {
  fc.assert(
    fc.property(scores, fc.double({ min: 0.05, max: 0.99, noNaN: true }), (list, topP) => {
      const powers = list.map((score) => Math.exp(Math.fround(score) - Math.max(...list)))
      const total = powers.reduce((sum, power) => sum + power, 0)
      let reached = 0
      let least = Number.POSITIVE_INFINITY
      for (const id of ranked(list)) {
        if (reached >= topP * total * (1 + 1e-9)) break
        reached += powers[id]!
        least = list[id]!
      }
      // Scores that differ by less than their probabilities can show are equal.
      for (const id of choices({ topP }, list)) assert.ok(list[id]! >= least - 1e-6)
    }),
  )
})

test('tokens come as often as their probability', () => {
  const sampler = createSampler({ ...plain, seed: 5 })
  const counts = [0, 0, 0]
  for (let draw = 0; draw < 30_000; draw++) counts[sampler.choose(Float32Array.from([Math.log(6), Math.log(3), 0]))]!++
  for (const [id, share] of [0.6, 0.3, 0.1].entries()) assert.ok(Math.abs(counts[id]! / 30_000 - share) < 0.015)
})

test('a higher temperature spreads the choice, a lower one gathers it', () => {
  const list = [3, 2, 1, 0]
  const share = (temperature: number) => {
    const sampler = createSampler({ ...plain, temperature })
    let first = 0
    for (let draw = 0; draw < 3000; draw++) if (sampler.choose(Float32Array.from(list)) === 0) first++
    return first / 3000
  }
  assert.ok(share(0.3) > share(1) && share(1) > share(5))
})

test('the repetition penalty makes earlier tokens less likely, for scores of either sign', () => {
  const sampler = createSampler({ ...plain, temperature: 0, repetitionPenalty: 1.5 })
  sampler.add(0, 'prompt')
  assert.is(sampler.choose(Float32Array.from([3, 2.5])), 1)
  assert.is(sampler.choose(Float32Array.from([-2, -2.5])), 1)
  assert.is(sampler.choose(Float32Array.from([6, 2.5])), 0)
})

test('presence and frequency penalties count the answer, not the prompt', () => {
  const sampler = createSampler({ ...plain, temperature: 0, presencePenalty: 1, frequencyPenalty: 0.5 })
  sampler.add(1, 'prompt')
  assert.is(sampler.choose(Float32Array.from([2, 2.4])), 1)
  sampler.add(1, 'answer')
  assert.is(sampler.choose(Float32Array.from([2, 3.4])), 0)
  assert.is(sampler.choose(Float32Array.from([2, 3.6])), 1)
  sampler.add(1, 'answer')
  assert.is(sampler.choose(Float32Array.from([2, 3.6])), 0)
})

test('equal seeds choose equally', () => {
  const draw = (seed: number) => {
    const sampler = createSampler({ ...plain, seed, topP: 0.95 })
    return Array.from({ length: 30 }, () => sampler.choose(Float32Array.from([1, 1.1, 0.9, 1, 1.2])))
  }
  assert.equal(draw(9), draw(9))
  assert.not.equal(draw(9), draw(10))
})

test.run()
