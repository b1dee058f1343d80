/** The loop of Qwen3-TTS: a prompt in, frames of codes out. */
import { floats } from '../../../src/inference/inference.ts'
import { joinSamples } from '../../audio/sample-queue.ts'
import type { CodeChooser } from './choice.ts'
import type { QwenModel, TalkerStreams } from './model.ts'
import type { Prompt } from './prompt.ts'

/** Observes the model frame by frame; for tests. */
export interface GenerationProbe {
  /** A pass of the talker: its input rows, and its normed output and scores of the last one. */
  talker?(rows: Float32Array, hidden: Float32Array, scores: Float32Array): void
  /** A pass of the predictor for a code group: its input rows, its normed output of the last one, and the scores. */
  predictor?(group: number, rows: Float32Array, hidden: Float32Array, scores: Float32Array): void
}

/** The rest of a sentence that never ends is not worth waiting for: seconds for every id of the text, and in addition. */
const [secondsPerId, secondsMore] = [1, 4]

/** A voice that stays the same to the last code for so many frames makes no speech any more: one second. */
const equalFrames = 12

/** How many frames a text of so many ids may have at most. */
function frameLimit(model: QwenModel, ids: number): number {
  const { codec, samplesPerFrame, generation } = model.configuration
  const frameRate = codec.output_sample_rate / samplesPerFrame
  return Math.min(generation.max_new_tokens, Math.ceil((ids * secondsPerId + secondsMore) * frameRate))
}

/** Frames of codes up to the end, the limit, or the abort of the signal, which is looked at before every pass. */
export async function* generateFrames(
  model: QwenModel,
  { talker, predictor }: TalkerStreams,
  prompt: Prompt,
  chooser: CodeChooser,
  options: {
    readonly limit?: number
    readonly signal?: AbortSignal | undefined
    readonly probe?: GenerationProbe
  } = {},
): AsyncGenerator<Int32Array, void, undefined> {
  const { limit = frameLimit(model, prompt.ids), signal, probe } = options
  const { talker_config: file } = model.configuration.model
  const width = file.hidden_size
  const end = file.codec_eos_token_id
  talker.reset()
  let rows = joinSamples(prompt.rows)
  let same = 0
  let before: Int32Array | undefined
  for (let frame = 0; frame < limit; frame++) {
    signal?.throwIfAborted()
    const { hidden, scores } = await talk(rows)
    const first = chooser.first(scores)
    if (first === end) return
    chooser.note(first)
    const codes = await predict(hidden, first)
    yield codes
    same = before?.every((code, group) => code === codes[group]) ? same + 1 : 0
    if (same >= equalFrames) return
    before = codes
    rows = model.frameRow(codes)
    const text = prompt.trailing[frame] ?? prompt.rest
    for (let i = 0; i < width; i++) rows[i]! += text[i]!
  }

  async function talk(input: Float32Array): Promise<{ readonly hidden: Float32Array; readonly scores: Float32Array }> {
    const count = input.length / width
    const { hidden, logits } = await talker.run({ rows: floats([count, width], input) }, count)
    const last = (hidden!.data as Float32Array).slice(-width)
    // The chooser changes the scores, and the runtime may hand out the same memory again.
    const scores = (logits!.data as Float32Array).slice()
    probe?.talker?.(input, last, scores)
    return { hidden: last, scores }
  }

  async function predict(hidden: Float32Array, first: number): Promise<Int32Array> {
    const codes = new Int32Array(file.num_code_groups)
    codes[0] = first
    predictor.reset()
    let input = joinSamples([hidden, model.codeRow(first)])
    for (let group = 1; group < codes.length; group++) {
      signal?.throwIfAborted()
      const count = input.length / width
      const made = await predictor.run({ rows: floats([count, width], input) }, count)
      const narrow = file.code_predictor_config.hidden_size
      const last = (made['hidden']!.data as Float32Array).slice(-narrow)
      const scores = (await model.codeScores(group, last)).slice()
      probe?.predictor?.(group, input, made['hidden']!.data as Float32Array, scores)
      codes[group] = chooser.other(scores, group)
      input = model.groupRow(group, codes[group]!)
    }
    return codes
  }
}
