import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as yieldTurn } from 'node:timers/promises'
import { Tokenizer } from '@huggingface/tokenizers'
import { AppError } from '../errors.ts'
import { openSession, type Session, type TensorData } from '../inference/inference.ts'

/** A model of sentence embeddings in this process. */
export type SentenceModel = Awaited<ReturnType<typeof openSentenceModel>>

/** all-MiniLM-L6-v2 was trained on texts of up to 256 word pieces (its model card). */
const longestText = 256
/** Word pieces in one run, padding counted: texts of about one length go together up to this many. */
const batchTokens = 4096
const mostTexts = 64

/** Opens a BERT-like encoder from its folder. Throws `invalid` naming the file that is wrong. */
export async function openSentenceModel(options: { name: string; folder: string; threads: number }) {
  const { folder, name } = options
  const tokenizer = openTokenizer(folder, name)
  const session = await openSession(join(folder, 'onnx', 'model_quantized.onnx'), options)
  return {
    /** Returns a unit vector for each text, in order. Longer texts than the model reads are cut at their end. */
    async embed(texts: readonly string[], signal?: AbortSignal): Promise<readonly Float32Array[]> {
      const rows = texts.map((text) => piecesOf(tokenizer, text))
      const vectors: Float32Array[] = new Array(texts.length)
      for (const batch of batches(rows)) {
        await yieldTurn()
        signal?.throwIfAborted()
        const made = await run(
          session,
          batch.map((index) => rows[index]!),
        )
        for (const [place, index] of batch.entries()) vectors[index] = made[place]!
      }
      return vectors
    },
    close: () => session.close(),
  }
}

/** Opens the tokenizer of a model. Throws `invalid` naming its folder. */
function openTokenizer(folder: string, name: string): Tokenizer {
  const read = (file: string): object => JSON.parse(readFileSync(join(folder, file), 'utf8')) as object
  try {
    return new Tokenizer(read('tokenizer.json'), read('tokenizer_config.json'))
  } catch (cause) {
    throw new AppError('invalid', `The tokenizer of ${name} in ${folder} cannot be read: pull the model again`, {
      cause,
    })
  }
}

/** The word pieces of a text with its begin and end tokens. */
function piecesOf(tokenizer: Tokenizer, text: string): readonly number[] {
  const { ids } = tokenizer.encode(text, { add_special_tokens: true })
  return ids.length <= longestText ? ids : [...ids.slice(0, longestText - 1), ids.at(-1)!]
}

/** Indexes of the rows of each batch, sorted by length to save padding. */
function batches(rows: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const order = rows.map((_, index) => index).sort((a, b) => rows[b]!.length - rows[a]!.length)
  const made: number[][] = []
  for (const index of order) {
    const current = made.at(-1)
    const width = current ? rows[current[0]!]!.length : 0
    if (current && current.length < mostTexts && (current.length + 1) * width <= batchTokens) current.push(index)
    else made.push([index])
  }
  return made
}

/** Mean pooling over the real word pieces, then length 1 (sentence-transformers' modules of this model). */
async function run(session: Session, rows: readonly (readonly number[])[]): Promise<readonly Float32Array[]> {
  const width = Math.max(1, ...rows.map((row) => row.length))
  const shape = [rows.length, width]
  const ids = new BigInt64Array(rows.length * width)
  const mask = new BigInt64Array(rows.length * width)
  for (const [row, pieces] of rows.entries())
    for (const [place, id] of pieces.entries()) {
      ids[row * width + place] = BigInt(id)
      mask[row * width + place] = 1n
    }
  const feeds: Record<string, TensorData> = {
    input_ids: { type: 'int64', shape, data: ids },
    attention_mask: { type: 'int64', shape, data: mask },
  }
  if (session.inputs.includes('token_type_ids'))
    feeds['token_type_ids'] = { type: 'int64', shape, data: new BigInt64Array(rows.length * width) }
  const outputs = await session.run(feeds)
  const states = outputs['last_hidden_state'] ?? outputs[session.outputs[0]!]
  const size = states?.shape.at(-1) ?? 0
  if (states?.type !== 'float32' || states.data.length !== rows.length * width * size)
    throw new AppError('invalid', 'The embedding model returns no vectors for its word pieces')
  return rows.map((pieces, row) => pooled(states.data, row * width * size, pieces.length, size))
}

function pooled(states: Float32Array, from: number, count: number, size: number): Float32Array {
  const vector = new Float32Array(size)
  for (let piece = 0; piece < count; piece++)
    for (let index = 0; index < size; index++) vector[index]! += states[from + piece * size + index]!
  let squares = 0
  for (const value of vector) squares += value * value
  const length = Math.sqrt(squares)
  return length > 0 ? vector.map((value) => value / length) : vector
}
