/** The rows that tokens and codes stand for. The tables take hundreds of megabytes: their rows are read from the file. */
import { type TensorFile, toFloats } from '../../../src/inference/inference.ts'
import type { KyutaiConfiguration } from './configuration.ts'
import { tensorNames } from './tensors.ts'

/** The two text streams of a value; the second is undefined without a token. */
export interface TextPair {
  readonly main: Float32Array | undefined
  readonly second: Float32Array | undefined
}

export interface Tables {
  /** The backbone's rows of a text value; -1 has none. */
  text(value: number): TextPair
  /** The backbone's row of a code; undefined for -1. */
  code(book: number, code: number): Float32Array | undefined
  /** The input row of the depth transformer for its first codebook, and the matrix that widens it. */
  depthText(value: number): { readonly embedded: Float32Array; readonly spread: Float32Array }
  /** The same for the codebook behind `book`. */
  depthCode(book: number, code: number): { readonly embedded: Float32Array; readonly spread: Float32Array }
}

/** Opens the tables of a model's file. */
export async function openTables(file: TensorFile, { model }: KyutaiConfiguration): Promise<Tables> {
  const base = model.text_card + 1
  const low = model.depformer_low_rank_embeddings
  const text = rowsOf(file, `${tensorNames.text}.weight`)
  const depthText = rowsOf(file, `${tensorNames.depthText}.weight`)
  const books = Array.from({ length: model.n_q }, (_, book) => rowsOf(file, tensorNames.codes(book)))
  const textSpread = sideBySide(
    await file.floats(`${tensorNames.depthText}.out1.weight`),
    await file.floats(`${tensorNames.depthText}.out2.weight`),
    low,
  )
  const depthBooks = await Promise.all(
    Array.from({ length: model.dep_q - 1 }, async (_, book) => ({
      row: rowsOf(file, tensorNames.depthCodes(book)),
      spread: await file.floats(tensorNames.depthSpread(book)),
    })),
  )

  return {
    text(value) {
      const [main, second] = apart(value)
      return {
        main: main === undefined ? undefined : text(main),
        second: second === undefined ? undefined : text(second),
      }
    },
    code: (book, code) => (code < 0 ? undefined : books[book]!(code)),
    depthText(value) {
      const embedded = new Float32Array(low * 2)
      const [main, second] = apart(value)
      if (main !== undefined) embedded.set(depthText(main))
      if (second !== undefined) embedded.set(depthText(second), low)
      return { embedded, spread: textSpread }
    },
    depthCode(book, code) {
      const { row, spread } = depthBooks[book]!
      return { embedded: code < 0 ? new Float32Array(low) : row(code), spread }
    },
  }

  /** The tokens of both streams in one number. */
  function apart(value: number): [main: number | undefined, second: number | undefined] {
    if (value < 0) return [undefined, undefined]
    const second = Math.floor(value / base) - 1
    return [value % base, second < 0 ? undefined : second]
  }
}

function rowsOf(file: TensorFile, name: string): (id: number) => Float32Array {
  const { dtype } = file.tensors.get(name)!
  return (id) => toFloats(file.rowNow(name, id), dtype)
}

/** Two matrices [rows, size] as one [rows, 2 × size]. */
function sideBySide(left: Float32Array, right: Float32Array, size: number): Float32Array {
  return Float32Array.from({ length: left.length * 2 }, (_, i) => {
    const at = Math.floor(i / (size * 2)) * size + (i % size)
    return i % (size * 2) < size ? left[at]! : right[at]!
  })
}
