/** The rows that tokens and codes stand for. The tables take hundreds of megabytes: their rows are read from the file. */
import type { TensorFile } from '../../../src/inference/inference.ts'
import type { KyutaiConfiguration } from './configuration.ts'
import { tensorNames } from './tensors.ts'

/** Opens the tables of a model's file. */
export async function openTables(file: TensorFile, { model }: KyutaiConfiguration) {
  const base = model.text_card + 1
  const low = model.depformer_low_rank_embeddings
  const text = (id: number) => file.row(`${tensorNames.text}.weight`, id)
  const depthText = (id: number) => file.row(`${tensorNames.depthText}.weight`, id)
  const textSpread = sideBySide(
    await file.floats(`${tensorNames.depthText}.out1.weight`),
    await file.floats(`${tensorNames.depthText}.out2.weight`),
    low,
  )
  const spreads = await Promise.all(
    Array.from({ length: model.dep_q - 1 }, (_, book) => file.floats(tensorNames.depthSpread(book))),
  )

  return {
    /** The backbone's rows of both text streams of a value: -1 has none, and the second is undefined without a token. */
    text(value: number) {
      const [main, second] = apart(value)
      return {
        main: main === undefined ? undefined : text(main),
        second: second === undefined ? undefined : text(second),
      }
    },
    /** The backbone's row of a code; undefined for -1. */
    code: (book: number, code: number) => (code < 0 ? undefined : file.row(tensorNames.codes(book), code)),
    /** The input row of the depth transformer for its first codebook, and the matrix that widens it. */
    depthText(value: number) {
      const embedded = new Float32Array(low * 2)
      const [main, second] = apart(value)
      if (main !== undefined) embedded.set(depthText(main))
      if (second !== undefined) embedded.set(depthText(second), low)
      return { embedded, spread: textSpread }
    },
    /** The same for the codebook behind `book`. */
    depthCode(book: number, code: number) {
      const embedded = code < 0 ? new Float32Array(low) : file.row(tensorNames.depthCodes(book), code)
      return { embedded, spread: spreads[book]! }
    },
  }

  /** The tokens of both streams in one number. */
  function apart(value: number): [main: number | undefined, second: number | undefined] {
    if (value < 0) return [undefined, undefined]
    const second = Math.floor(value / base) - 1
    return [value % base, second < 0 ? undefined : second]
  }
}

/** Two matrices [rows, size] as one [rows, 2 × size]. */
function sideBySide(left: Float32Array, right: Float32Array, size: number): Float32Array {
  return Float32Array.from({ length: left.length * 2 }, (_, i) => {
    const at = Math.floor(i / (size * 2)) * size + (i % size)
    return i % (size * 2) < size ? left[at]! : right[at]!
  })
}
