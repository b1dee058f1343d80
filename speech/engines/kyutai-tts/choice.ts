/** How tokens are chosen from scores. */
import { randomInt } from 'node:crypto'
import { createSampler } from '../../../src/inference/inference.ts'
import type { ModelFile } from './configuration.ts'

export type CodeChooser = ReturnType<typeof createChooser>

/** Only so many of the likeliest are chosen from: the authors' program. */
const [bestTexts, bestCodes] = [25, 250]

/** Chooses as the model's own settings say; the same seed makes the same choices. `greedy` takes the likeliest always. */
export function createChooser(
  { lm_gen_config: generation }: ModelFile,
  { seed = randomInt(2 ** 32), greedy = false }: { readonly seed?: number | undefined; readonly greedy?: boolean } = {},
) {
  const text = createSampler({ seed, topK: bestTexts, temperature: greedy ? 0 : generation.text_temp })
  const code = createSampler({ seed: seed ^ 0x5bd1e995, topK: bestCodes, temperature: greedy ? 0 : generation.temp })
  return {
    text: (scores: Float32Array) => text.choose(scores),
    code: (scores: Float32Array) => code.choose(scores),
  }
}
