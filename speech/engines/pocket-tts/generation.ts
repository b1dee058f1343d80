/** The loop of pocket-tts: a voice and a text in, latents frame by frame, and from those the samples. */

import { floats, type TensorData } from '../../../src/inference/inference.ts'
import type { CacheRows } from '../../blocks/key-value-cache.ts'
import type { Stream } from '../../blocks/state-stream.ts'
import type { PocketModel } from './model.ts'
import type { NoiseSource } from './noise.ts'
import type { TextChunk } from './text.ts'

/** Fills the language model's cache with conditioning rows [rows, width], behind the row that newer models put first. */
export async function prefillVoice(
  model: PocketModel,
  stream: Stream,
  conditions: { readonly rows: number; readonly data: Float32Array },
): Promise<CacheRows> {
  const { width } = model.languageModel
  const before = model.rowBeforeVoice ?? new Float32Array()
  const rows = conditions.rows + before.length / width
  const data = new Float32Array(rows * width)
  data.set(before)
  data.set(conditions.data, before.length)
  stream.reset()
  await stream.run({ embeddings: floats([rows, width], data), latents: floats([0, model.geometry.latent]) }, rows)
  return stream.cache.copy()
}

/**
 * The latents of one chunk, one per frame. `stream` must begin with the voice. The frame that reaches the end's step plus
 * the tail is not spoken; a text without a found end is cut at its limit. Stops when the signal is aborted.
 */
export async function* generateLatents(
  model: PocketModel,
  stream: Stream,
  chunk: TextChunk,
  noise: NoiseSource,
  signal?: AbortSignal,
): AsyncGenerator<Float32Array, void, undefined> {
  const { geometry, configuration, languageModel } = model
  const { endThreshold } = configuration.sampling
  let embeddings = model.embed(chunk.ids)
  let latent = model.firstLatent
  let last = Number.POSITIVE_INFINITY
  for (let frame = 0; frame < chunk.frameLimit; frame++) {
    signal?.throwIfAborted()
    // The text goes in together with the first frame: one pass over the weights less.
    const rows = embeddings.shape[0]! + 1
    const { hidden, end } = await stream.run({ embeddings, latents: floats([1, geometry.latent], latent) }, rows)
    embeddings = floats([0, languageModel.width])
    const ended = lastRow(end!, 1)[0]! > endThreshold
    if (ended && last === Number.POSITIVE_INFINITY) last = frame + chunk.framesAfterEnd
    if (frame >= last) return
    latent = await flow(model, floats([1, languageModel.width], lastRow(hidden!, languageModel.width)), noise)
    yield latent
  }
}

/** From noise to a latent, along the velocities of the flow head. */
async function flow(model: PocketModel, condition: TensorData, noise: NoiseSource): Promise<Float32Array> {
  const { flowSteps } = model.configuration.sampling
  const { latent } = model.geometry
  let x = noise(latent)
  for (let step = 0; step < flowSteps; step++) {
    const velocity = await model.velocity(step, condition, floats([1, latent], x))
    x = x.map((value, index) => value + velocity[index]! / flowSteps)
  }
  return x
}

export interface ClipOptions {
  /** Frames that the encoder takes at once; more take more memory and no less time. */
  readonly framesPerPiece?: number
  readonly signal?: AbortSignal | undefined
}

/** The conditioning rows [frames, width] of a clip at the model's rate; it is filled up with silence to whole frames. */
export async function encodeClip(
  model: PocketModel,
  samples: Float32Array,
  { framesPerPiece = 2, signal }: ClipOptions = {},
): Promise<{ readonly rows: number; readonly data: Float32Array }> {
  const { samplesPerFrame, encoder } = model.geometry
  const { width } = model.languageModel
  const stream = await model.openEncoderStream()
  const frames = Math.ceil(samples.length / samplesPerFrame)
  const data = new Float32Array(frames * width)
  for (let frame = 0; frame < frames; frame += framesPerPiece) {
    signal?.throwIfAborted()
    const count = Math.min(framesPerPiece, frames - frame)
    const piece = new Float32Array(count * samplesPerFrame)
    piece.set(samples.subarray(frame * samplesPerFrame, (frame + count) * samplesPerFrame))
    const first: TensorData = { type: 'bool', shape: [1], data: Uint8Array.of(frame === 0 ? 1 : 0) }
    const audio = floats([piece.length, 1], piece)
    const { conditions } = await stream.run({ audio, first }, count * (encoder?.stride ?? 0))
    data.set(conditions!.data as Float32Array, frame * width)
  }
  return { rows: frames, data }
}

function lastRow({ data }: TensorData, width: number): Float32Array {
  return (data as Float32Array).subarray(-width)
}
