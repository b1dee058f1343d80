/** The voice as the backbone looks at it: keys and values of every layer, computed once for an utterance's whole length. */
import type { Session, TensorData } from '../../../src/inference/session.ts'
import type { TransformerShape } from '../../blocks/transformer.ts'
import { addPositions, type Conditions, voiceSlots } from './conditions.ts'

/** A voice as its file holds it. */
export interface VoiceEmbedding {
  /** Equal voices have equal keys. */
  readonly key: string
  readonly frames: number
  /** [embedding size, frames] */
  readonly data: Float32Array
}

export interface VoiceMemory {
  /** The inputs `memory_keys_N` and `memory_values_N` for a voice; the arrays belong to this place and hold the last one asked for. */
  of(voice: VoiceEmbedding): Promise<Record<string, TensorData>>
}

/**
 * A place for one voice at a time. The slots of voices that are not there are the same for every voice, and four fifths of
 * the work: they stay. The session that computes is opened for each voice anew: its weights would take more memory than the
 * voice does.
 */
export function createVoiceMemory(
  open: () => Promise<Session>,
  shape: TransformerShape,
  conditions: Conditions,
  scale: number,
): VoiceMemory {
  const { width, layers, heads, headSize } = shape
  let arrays: Float32Array[] = []
  let frames = 0
  let key: string | undefined

  return {
    async of(voice) {
      if (voice.frames !== frames || voice.key !== key) await hear(voice)
      return tensors(0, frames * voiceSlots)
    },
  }

  async function hear(voice: VoiceEmbedding): Promise<void> {
    key = undefined
    const session = await open()
    try {
      if (voice.frames !== frames) await clear(session, voice.frames)
      await fill(session, conditions.voice(voice.data), 0)
      key = voice.key
    } finally {
      await session.close()
    }
  }

  async function clear(session: Session, count: number): Promise<void> {
    frames = 0
    arrays = Array.from({ length: layers * 2 }, () => new Float32Array(count * voiceSlots * width))
    await fill(session, conditions.silence(count * (voiceSlots - 1)), count)
    frames = count
  }

  /** Computes rows into their place, the first one being row `from`. */
  async function fill(session: Session, rows: Float32Array, from: number): Promise<void> {
    const count = rows.length / width
    const data = addPositions(rows, width, from, scale)
    await session.run({ rows: { type: 'float32', shape: [count, width], data } }, tensors(from, count))
  }

  function tensors(from: number, count: number): Record<string, TensorData> {
    return Object.fromEntries(
      arrays.map((array, index) => [
        `memory_${index % 2 === 0 ? 'keys' : 'values'}_${index >> 1}`,
        {
          type: 'float32',
          shape: [count, heads, headSize],
          data: array.subarray(from * width, (from + count) * width),
        } satisfies TensorData,
      ]),
    )
  }
}
