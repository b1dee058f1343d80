import { AppError } from '../errors.ts'
import { openSession, type Session, type TensorData, type Tensors } from '../inference/inference.ts'

export interface DecoderSizes {
  readonly layers: number
  readonly keyValueHeads: number
  readonly headSize: number
  /** The most tokens of prompt and answer together. */
  readonly context: number
}

/** A text in progress: tokens go in, the scores (logits) of the next one come out. */
export interface Decoder {
  readonly sizes: DecoderSizes
  /** How many tokens the cache holds. */
  readonly length: number
  /** Appends tokens; returns the next one's scores, in an array that is reused. Throws `invalid` beyond the context. */
  append(ids: readonly number[]): Promise<Float32Array>
  /** Forgets the text. */
  reset(): void
  close(): Promise<void>
}

/** Initial capacity of the cache in tokens; it grows by doubling. */
const firstCapacity = 256

/**
 * A decoder from an ONNX file with the inputs and outputs of Hugging Face's exports
 * (https://huggingface.co/docs/optimum, text-generation-with-past): `past_key_values.N.key|value` in and
 * `present.N.key|value` out, each [1, heads, tokens, size]. Throws `invalid` for any other file.
 */
export async function openDecoder(
  path: string,
  sizes: DecoderSizes,
  options: { name: string; threads: number },
): Promise<Decoder> {
  const session = await openSession(path, options)
  const missing = requiredInputs(sizes).filter((name) => !session.inputs.includes(name))
  if (missing.length > 0) {
    await session.close()
    throw new AppError('invalid', `The model ${options.name} is not a decoder with a cache: it has no ${missing[0]}`)
  }
  return createDecoder(session, sizes)
}

/** A decoder over an open session. */
export function createDecoder(session: Session, sizes: DecoderSizes): Decoder {
  const { layers, keyValueHeads, headSize, context } = sizes
  const width = keyValueHeads * headSize
  const pastNames = cacheNames(layers, 'past_key_values')
  const presentNames = cacheNames(layers, 'present')
  const wants = (name: string) => session.inputs.includes(name)
  // The runtime reads the past and writes past and present together: two sets of arrays alternate, nothing is allocated.
  let capacity = 0
  let past: Float32Array[] = []
  let present: Float32Array[] = []
  let ones = new BigInt64Array()
  let length = 0
  const token = { ids: new BigInt64Array(1), places: new BigInt64Array(1) }
  let scores: Float32Array | undefined

  return {
    sizes,
    get length() {
      return length
    },
    async append(ids) {
      const total = length + ids.length
      if (total > context) throw new AppError('invalid', `The text is longer than the ${context} tokens of the model`)
      ensureCapacity(total)
      const feeds = feedsFor(ids, total)
      const into: Record<string, TensorData> = {}
      for (const [index, name] of presentNames.entries()) into[name] = cacheTensor(present[index]!, total)
      // Once their number is known, the scores of a single token are written to the same array each time.
      if (scores && ids.length === 1) into['logits'] = { type: 'float32', shape: [1, 1, scores.length], data: scores }
      const { logits } = await session.run(feeds, into)
      ;[past, present] = [present, past]
      length = total
      return lastRow(logits)
    },
    reset() {
      length = 0
    },
    close: () => session.close(),
  }

  function feedsFor(ids: readonly number[], total: number): Tensors {
    const count = ids.length
    const single = count === 1
    const idData = single ? token.ids : new BigInt64Array(count)
    const places = single ? token.places : new BigInt64Array(count)
    for (let index = 0; index < count; index++) {
      idData[index] = BigInt(ids[index]!)
      places[index] = BigInt(length + index)
    }
    const feeds: Record<string, TensorData> = { input_ids: { type: 'int64', shape: [1, count], data: idData } }
    if (wants('attention_mask'))
      feeds['attention_mask'] = { type: 'int64', shape: [1, total], data: ones.subarray(0, total) }
    if (wants('position_ids')) feeds['position_ids'] = { type: 'int64', shape: [1, count], data: places }
    // Newer exports compute the scores of only this many last tokens.
    if (wants('num_logits_to_keep'))
      feeds['num_logits_to_keep'] = { type: 'int64', shape: [], data: BigInt64Array.of(1n) }
    for (const [index, name] of pastNames.entries()) feeds[name] = cacheTensor(past[index]!, length)
    return feeds
  }

  function cacheTensor(data: Float32Array, tokens: number): TensorData {
    return { type: 'float32', shape: [1, keyValueHeads, tokens, headSize], data: data.subarray(0, tokens * width) }
  }

  function ensureCapacity(tokens: number): void {
    if (tokens <= capacity) return
    capacity = Math.min(context, Math.max(firstCapacity, capacity * 2, tokens))
    const grown = (arrays: readonly Float32Array[]) =>
      Array.from({ length: layers * 2 }, (_, index) => {
        const larger = new Float32Array(capacity * width)
        const old = arrays[index]
        if (old) larger.set(old.subarray(0, length * width))
        return larger
      })
    past = grown(past)
    present = grown([])
    ones = new BigInt64Array(capacity).fill(1n)
  }

  function lastRow(logits: TensorData | undefined): Float32Array {
    const vocabulary = logits?.shape.at(-1) ?? 0
    if (logits?.type !== 'float32' || vocabulary === 0)
      throw new AppError('invalid', 'The model gives no scores as 32-bit numbers')
    scores ??= new Float32Array(vocabulary)
    if (logits.data !== scores) scores.set(logits.data.subarray(logits.data.length - vocabulary))
    return scores
  }
}

function cacheNames(layers: number, prefix: string): readonly string[] {
  return Array.from(
    { length: layers * 2 },
    (_, index) => `${prefix}.${index >> 1}.${index % 2 === 0 ? 'key' : 'value'}`,
  )
}

function requiredInputs({ layers }: DecoderSizes): readonly string[] {
  return ['input_ids', ...cacheNames(layers, 'past_key_values')]
}
