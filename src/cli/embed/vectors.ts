import { AppError } from '../../errors.ts'
import { embedTexts } from '../../operations/embeddings.ts'
import type { Cli } from '../terminal/cli.ts'
import { openProgress } from '../terminal/progress.ts'

/** A text with its vector. */
export interface Embedded {
  readonly text: string
  readonly vector: Float32Array
  /** The model that made it; empty for the built-in one. */
  readonly model: string
}

/** Texts of one request, and their characters: a daemon takes 16 MiB of JSON, a provider some hundred texts. */
const [mostTexts, mostCharacters] = [200, 200_000]

/** The texts' vectors, in their order, in as many requests as it takes. Throws the errors of the operation. */
export async function* vectorsOf(
  cli: Cli,
  texts: readonly string[],
  model: string | undefined,
): AsyncGenerator<Embedded> {
  const progress = openProgress(cli)
  let done = 0
  try {
    for (const batch of batchesOf(texts)) {
      if (batch.length < texts.length) progress.show(done / texts.length, `${done} of ${texts.length} texts`)
      const answer = await cli.ask(embedTexts, {
        input: [...batch],
        encoding_format: 'base64',
        ...(model !== undefined && { model }),
      })
      if (answer.data.length !== batch.length)
        throw new AppError('protocol', `The model made ${answer.data.length} vectors of ${batch.length} texts`)
      done += batch.length
      progress.clear()
      for (const [index, text] of batch.entries())
        yield { text, vector: vectorIn(answer.data[index]!.embedding), model: answer.model }
      if (cli.io.outClosed) return
    }
  } finally {
    progress.clear()
  }
}

function* batchesOf(texts: readonly string[]): Generator<readonly string[]> {
  let batch: string[] = []
  let characters = 0
  for (const text of texts) {
    if (batch.length === mostTexts || (batch.length > 0 && characters + text.length > mostCharacters)) {
      yield batch
      batch = []
      characters = 0
    }
    batch.push(text)
    characters += text.length
  }
  if (batch.length > 0) yield batch
}

/** A vector of numbers, or of 32-bit numbers in base64. */
function vectorIn(embedding: readonly number[] | string): Float32Array {
  if (typeof embedding !== 'string') return Float32Array.from(embedding)
  const bytes = Buffer.from(embedding, 'base64')
  return Float32Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4))
}

/** The cosine of the angle between two vectors, from -1 to 1; 0 where one of them is null, as that of a text without words. */
export function cosineOf(a: Float32Array, b: Float32Array): number {
  let [product, ownLength, otherLength] = [0, 0, 0]
  for (const [index, value] of a.entries()) {
    const other = b[index] ?? 0
    product += value * other
    ownLength += value * value
    otherLength += other * other
  }
  const length = Math.sqrt(ownLength * otherLength)
  return length === 0 ? 0 : product / length
}
