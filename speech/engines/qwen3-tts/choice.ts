/** How codes are chosen from scores. */
import { randomInt } from 'node:crypto'
import { createSampler } from '../../../src/inference/inference.ts'
import { controlIds, type GenerationFile, type TalkerFile } from './configuration.ts'

export type CodeChooser = ReturnType<typeof createChooser>

/** The end cannot be chosen in so many frames at the start. */
const leastFrames = 2

/** Chooses as the model's own settings say; the same seed makes the same choices. `greedy` takes the likeliest always. */
export function createChooser(
  generation: GenerationFile,
  talker: TalkerFile,
  { seed = randomInt(2 ** 32), greedy = false }: { readonly seed?: number | undefined; readonly greedy?: boolean } = {},
) {
  const first = createSampler({
    seed,
    temperature: greedy || !generation.do_sample ? 0 : generation.temperature,
    topK: generation.top_k,
    topP: generation.top_p,
    repetitionPenalty: generation.repetition_penalty,
  })
  const other = createSampler({
    seed: seed ^ 0x5bd1e995,
    temperature: greedy || !generation.subtalker_dosample ? 0 : generation.subtalker_temperature,
    topK: generation.subtalker_top_k,
    topP: generation.subtalker_top_p,
  })
  const end = talker.codec_eos_token_id
  const controls = Array.from({ length: controlIds }, (_, index) => talker.vocab_size - controlIds + index)
  const notCodes = controls.filter((id) => id !== end)
  const notYet = [...notCodes, end]
  let frames = 0
  return {
    /** The first code of the next frame, or the code of the end. The scores are changed. */
    first(scores: Float32Array): number {
      const id = first.choose(scores, frames < leastFrames ? notYet : notCodes)
      frames += 1
      return id
    },
    /** Notes the first code that a frame got: it becomes less likely in the next ones. */
    note: (code: number) => first.add(code, 'answer'),
    /** The code of another group, from 1. The scores are changed. */
    other: (scores: Float32Array, _group: number) => other.choose(scores),
  }
}
