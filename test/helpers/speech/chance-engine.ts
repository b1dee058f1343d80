import type { SpeechEngine, WordTime } from '../../../speech/engines/engine.ts'

/** Samples per second of this engine; small, so that tests can count. */
const chanceRate = 8000

const secondsPerLetter = 0.01

/** Hooks with which a test observes and changes the engine. */
export interface ChanceOptions {
  /** Called before each chunk with its text and its number, from 1 on; may wait. */
  begin?(text: string, number: number): Promise<void> | void
  readonly wordTimes?: 'measured' | 'estimated' | undefined
}

/** An engine that chooses at random, by its seed: the same text with the same seed is the same noise. */
export function createChanceEngine({ begin, wordTimes }: ChanceOptions = {}): SpeechEngine {
  let number = 0
  return {
    id: 'chance',
    sampleRate: chanceRate,
    capabilities: {
      languages: ['English'],
      ...(wordTimes && { wordTimes }),
    },
    async load() {},
    prepareVoice: async (source) => ({ key: source.kind }),
    async *synthesize({ text, seed = 1, onWords }, signal) {
      number += 1
      const own = number
      await begin?.(text, own)
      signal?.throwIfAborted()
      let at = 0
      const words: WordTime[] = []
      let state = seed >>> 0
      for (const word of text.split(/\s+/).filter(Boolean)) {
        const length = word.length * secondsPerLetter
        words.push({ text: word, start: at, end: at + length })
        at += length
        const samples = new Float32Array(Math.round(length * chanceRate))
        for (let index = 0; index < samples.length; index++) {
          state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
          samples[index] = state / 2 ** 32 - 0.5
        }
        yield samples
      }
      onWords?.(words)
    },
    async close() {},
  }
}
