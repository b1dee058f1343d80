import { join } from 'node:path'
import { setImmediate as yieldTurn } from 'node:timers/promises'
import { AppError } from '../errors.ts'
import { openTensorFile } from '../inference/inference.ts'
import type { SentenceModel } from './sentence-model.ts'
import { openTokenizer } from './tokenizer.ts'

/** Word pieces of a text that count: the reference's default (https://github.com/MinishLab/model2vec, `encode`). */
const longestText = 512

/** Characters read of a text: a word piece has four to five, so that the pieces that count lie within. */
const longestRead = 20 * longestText

/**
 * Opens a static embedding model in model2vec's format: a table with a vector for each word piece (`embeddings` of
 * model.safetensors); a text is the mean of the vectors of its pieces, of length 1. Needs no onnxruntime. Throws `invalid`
 * or `unavailable` naming the file that is wrong.
 */
export async function openStaticModel({ name, folder }: { name: string; folder: string }): Promise<SentenceModel> {
  const tokenizer = openTokenizer(folder, name, false)
  const { rows, width, values } = await readTable(join(folder, 'model.safetensors'))
  return {
    async embed(texts, signal) {
      const vectors: Float32Array[] = []
      for (const text of texts) {
        await yieldTurn()
        signal?.throwIfAborted()
        vectors.push(meanOf(piecesOf(text)))
      }
      return vectors
    },
    close: async () => {},
  }

  /** The pieces that have a meaning; a text without any is represented by the piece for unknown ones. */
  function piecesOf(text: string): readonly number[] {
    const all = tokenizer.encode(text.slice(0, longestRead), false).filter((id) => id < rows)
    const known = all.filter((id) => id !== tokenizer.unknown).slice(0, longestText)
    return known.length > 0 ? known : [tokenizer.unknown ?? 0]
  }

  function meanOf(pieces: readonly number[]): Float32Array {
    const sum = new Float32Array(width)
    for (const piece of pieces)
      for (let column = 0; column < width; column++) sum[column]! += values[piece * width + column]!
    const length = Math.hypot(...sum)
    return length > 0 ? sum.map((value) => value / length) : sum
  }
}

async function readTable(path: string): Promise<{ rows: number; width: number; values: Float32Array }> {
  const file = await openTensorFile(path)
  try {
    const entry = file.tensors.get('embeddings')
    const [rows = 0, width = 0] = entry?.shape ?? []
    if (entry?.shape.length !== 2 || rows === 0 || width === 0)
      throw new AppError('invalid', `${path} holds no table of embeddings: pull the model again`)
    return { rows, width, values: await file.floats('embeddings') }
  } finally {
    await file.close()
  }
}
