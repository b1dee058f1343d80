/** Normally distributed noise that a seed repeats exactly. */
import { randomInt } from 'node:crypto'

/** `size` fresh numbers per call. */
export type NoiseSource = (size: number) => Float32Array

/** Mean 0, variance `temperature`; with a limit, a number outside ± that is drawn again. */
export function createNoise(temperature: number, limit?: number, seed = randomInt(2 ** 32)): NoiseSource {
  const deviation = Math.sqrt(temperature)
  const normal = createNormal(seed)
  return (size) => Float32Array.from({ length: size }, draw)

  function draw(): number {
    let number = normal() * deviation
    while (limit !== undefined && Math.abs(number) > limit) number = normal() * deviation
    return number
  }
}

/** Box and Muller 1958: two uniform numbers make two normal ones. */
function createNormal(seed: number): () => number {
  const uniform = createUniform(seed)
  let spare: number | undefined
  return () => {
    if (spare !== undefined) {
      const number = spare
      spare = undefined
      return number
    }
    const radius = Math.sqrt(-2 * Math.log(1 - uniform()))
    const angle = 2 * Math.PI * uniform()
    spare = radius * Math.sin(angle)
    return radius * Math.cos(angle)
  }
}

/** Numbers in [0, 1) by sfc32 (Doty-Humphrey, PractRand); the first rounds mix the seed in. */
function createUniform(seed: number): () => number {
  const state = Uint32Array.of(0x9e3779b9, 0x243f6a88, seed, 1)
  for (let round = 0; round < 16; round++) next()
  return () => next() / 2 ** 32

  function next(): number {
    const [a = 0, b = 0, c = 0, counter = 0] = state
    const result = (a + b + counter) >>> 0
    state[0] = b ^ (b >>> 9)
    state[1] = c + (c << 3)
    state[2] = ((c << 21) | (c >>> 11)) + result
    state[3] = counter + 1
    return result
  }
}
