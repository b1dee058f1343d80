/** The voice as the backbone looks at it: keys and values of every layer, computed once for an utterance's whole length. */
import type { Session, TensorData } from '../../../src/inference/inference.ts'
import { joinSamples } from '../../audio/sample-queue.ts'
import type { TransformerShape } from '../../blocks/transformer.ts'
import { addPositions, type Conditions, voiceSlots } from './conditions.ts'

/** A voice as its file holds it, or the voices of a script. */
export interface VoiceEmbedding {
  /** Equal voices have equal keys. */
  readonly key: string
  readonly frames: number
  /** One [embedding size, frames] for each voice, at most as many as there are slots. */
  readonly data: readonly Float32Array[]
}

export type VoiceMemory = ReturnType<typeof createVoiceMemory>

/**
 * A place for one voice at a time, or for those of one script. The slots of voices that are not there are the same for every
 * voice, and four fifths of the work: they stay while as many slots are used. `open` gives a layer's session, which is opened for each voice again and closed before the next layer's:
 * the weights of all would take more memory than the voice does.
 */
export function createVoiceMemory(
  open: (layer: number) => Promise<Session>,
  shape: TransformerShape,
  conditions: Conditions,
  scale: number,
) {
  const { width, layers, heads, headSize } = shape
  let arrays: Float32Array[] = []
  let frames = 0
  let used = 0
  let key: string | undefined

  return {
    /** The inputs `memory_keys_N` and `memory_values_N` for a voice; the arrays belong to this place and hold the last one asked for. */
    async of(voice: VoiceEmbedding): Promise<Record<string, TensorData>> {
      if (voice.frames !== frames || voice.key !== key) await hear(voice)
      return tensors(0, frames * voiceSlots)
    },
  }

  async function hear(voice: VoiceEmbedding): Promise<void> {
    key = undefined
    const count = voice.frames
    const rows = joinSamples(voice.data.map(conditions.voice))
    const spoken = count * voice.data.length
    const isCleared = count === frames && voice.data.length === used
    const silence = isCleared ? undefined : conditions.silence(count * voiceSlots - spoken)
    if (silence) {
      frames = 0
      arrays = Array.from({ length: layers * 2 }, () => new Float32Array(count * voiceSlots * width))
    }
    const parts = [
      { from: 0, data: addPositions(rows, width, 0, scale) },
      ...(silence?.length ? [{ from: spoken, data: addPositions(silence, width, spoken, scale) }] : []),
    ]
    for (let layer = 0; layer < layers; layer++) {
      const session = await open(layer)
      try {
        for (const { from, data } of parts) {
          const made = data.length / width
          const feeds = { rows: { type: 'float32' as const, shape: [made, width], data } }
          await session.run(feeds, tensors(from, made, layer))
        }
      } finally {
        await session.close()
      }
    }
    frames = count
    used = voice.data.length
    key = voice.key
  }

  /** The rows of all layers, or of one. */
  function tensors(from: number, count: number, layer?: number): Record<string, TensorData> {
    const named: Record<string, TensorData> = {}
    for (const [index, array] of arrays.entries()) {
      if (layer !== undefined && index >> 1 !== layer) continue
      const data = array.subarray(from * width, (from + count) * width)
      const name = `memory_${index % 2 === 0 ? 'keys' : 'values'}_${index >> 1}`
      named[name] = { type: 'float32', shape: [count, heads, headSize], data }
    }
    return named
  }
}
