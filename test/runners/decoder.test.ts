import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { isRuntimeInstalled } from '../../src/inference/session.ts'
import { type Decoder, openDecoder } from '../../src/runners/decoder.ts'
import { closing } from '../helpers/disposal.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { buildDecoder, randomWeights } from '../helpers/providers/tiny-decoder.ts'
import { suite } from '../helpers/suite.ts'
import { referenceLogits } from './decoder-reference.ts'

const all = suite('the decoder with its cache')
const test = (await isRuntimeInstalled()) ? all : all.skip

const shape = { vocabulary: 61, hidden: 32, intermediate: 48, layers: 3, heads: 4, keyValueHeads: 2, positions: 600 }
const weights = randomWeights(shape, 7)
const sizes = { layers: 3, keyValueHeads: 2, headSize: 8, context: 600 }

async function withDecoder(run: (decoder: Decoder) => Promise<void>, context = sizes.context): Promise<void> {
  const folder = temporaryFolder()
  const path = join(folder, 'model.onnx')
  writeFileSync(path, buildDecoder(shape, weights.form))
  await using decoder = closing(await openDecoder(path, { ...sizes, context }, { name: 'tiny', threads: 1 }))
  await run(decoder)
}

const best = (scores: Float32Array) => scores.indexOf(Math.max(...scores))

async function greedy(
  decoder: Decoder,
  prompt: readonly number[],
  count: number,
  cut = prompt.length,
): Promise<number[]> {
  decoder.reset()
  await (cut > 0 && cut < prompt.length ? decoder.append(prompt.slice(0, cut)) : undefined)
  let scores = await decoder.append(cut < prompt.length ? prompt.slice(cut) : prompt)
  const out: number[] = []
  for (let step = 0; step < count; step++) {
    const next = best(scores)
    out.push(next)
    scores = await decoder.append([next])
  }
  return out
}

function greedyReference(prompt: readonly number[], count: number): number[] {
  const ids = [...prompt]
  for (let step = 0; step < count; step++) ids.push(best(referenceLogits(ids, shape, weights)))
  return ids.slice(prompt.length)
}

const prompts: readonly (readonly number[])[] = [[5], [1, 2, 3, 4], [60, 0, 17, 17, 17, 3, 44, 9, 21], [8, 8]]

test('greedy output equals a full recomputation in plain loops, token for token', () =>
  withDecoder(async (decoder) => {
    for (const prompt of prompts) assert.equal(await greedy(decoder, prompt, 40), greedyReference(prompt, 40))
  }))

test('the scores themselves agree with the reference', () =>
  withDecoder(async (decoder) => {
    const ids = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5]
    let scores = new Float32Array()
    for (const id of ids) scores = new Float32Array(await decoder.append([id]))
    const expected = referenceLogits(ids, shape, weights)
    for (const [index, score] of scores.entries()) assert.ok(Math.abs(score - expected[index]!) < 1e-3)
  }))

test('a prompt in pieces is the same prompt', () =>
  withDecoder(async (decoder) => {
    const prompt = Array.from({ length: 30 }, (_, index) => (index * 7) % 61)
    const whole = await greedy(decoder, prompt, 12)
    for (const cut of [1, 2, 15, 29]) assert.equal(await greedy(decoder, prompt, 12, cut), whole)
  }))

test('the cache grows past its first capacity without losing anything', () =>
  withDecoder(async (decoder) => {
    const ids = Array.from({ length: 300 }, (_, index) => (index * 11) % 61)
    await decoder.append(ids.slice(0, 250))
    let scores = new Float32Array()
    for (const id of ids.slice(250)) scores = new Float32Array(await decoder.append([id]))
    assert.is(best(scores), best(referenceLogits(ids, shape, weights)))
  }))

test('a text longer than the context is refused', () =>
  withDecoder(async (decoder) => {
    await decoder.append([1, 2, 3, 4, 5, 6, 7, 8])
    try {
      await decoder.append([9])
      assert.unreachable()
    } catch (reason) {
      assert.match((reason as Error).message, /longer than the 8 tokens/)
    }
  }, 8))

test('a model that is no decoder is refused by name', async () => {
  const folder = temporaryFolder()
  try {
    const path = join(folder, 'model.onnx')
    writeFileSync(path, buildDecoder({ ...shape, layers: 2 }, randomWeights({ ...shape, layers: 2 }).form))
    await openDecoder(path, sizes, { name: 'tiny', threads: 1 })
    assert.unreachable()
  } catch (reason) {
    assert.match((reason as Error).message, /not a decoder with a cache: it has no past_key_values.2.key/)
  }
})

all.run()
