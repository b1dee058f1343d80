/** A file of tensors seen otherwise: under other names, or with matrices that are stacked one on the other as tensors of their own. */
import { type TensorEntry, type TensorFile, toFloats } from './safetensors.ts'

/** Where a tensor lies in the file beneath: all of that one, or some of its rows. */
interface Place {
  readonly whole: string
  readonly part?: { readonly from: number; readonly rows: number }
}

/** The same file, with each tensor under the name that `rename` gives it. The names must stay distinct. */
export function withNames(file: TensorFile, rename: (name: string) => string): TensorFile {
  const tensors = new Map<string, TensorEntry>()
  const places = new Map<string, Place>()
  for (const entry of file.tensors.values()) {
    const name = rename(entry.name)
    places.set(name, { whole: entry.name })
    tensors.set(name, { ...entry, name })
  }
  return withPlaces(file, tensors, places)
}

/** The name of part `index` of a stacked tensor. */
export function partName(name: string, index: number): string {
  return `${name}#${index}`
}

/**
 * The same file, with each tensor for which `partsOf` gives a number split into so many equal parts along its first axis,
 * `partName(…)`; the whole one is no longer there. A number that does not divide its rows leaves it whole.
 */
export function withParts(file: TensorFile, partsOf: (name: string) => number | undefined): TensorFile {
  const tensors = new Map<string, TensorEntry>()
  const places = new Map<string, Place>()
  for (const entry of file.tensors.values()) {
    const parts = partsOf(entry.name) ?? 1
    const [rows = 0, ...rest] = entry.shape
    if (parts === 1 || rows % parts !== 0) tensors.set(entry.name, entry)
    else
      for (let index = 0; index < parts; index++) {
        const name = partName(entry.name, index)
        const length = entry.length / parts
        tensors.set(name, {
          ...entry,
          name,
          shape: [rows / parts, ...rest],
          offset: entry.offset + index * length,
          length,
        })
        places.set(name, { whole: entry.name, part: { from: (index * rows) / parts, rows: rows / parts } })
      }
  }
  return withPlaces(file, tensors, places)
}

function withPlaces(
  file: TensorFile,
  tensors: ReadonlyMap<string, TensorEntry>,
  places: ReadonlyMap<string, Place>,
): TensorFile {
  const placeOf = (name: string): Place => places.get(name) ?? { whole: name }
  const bytes = (name: string) => {
    const { whole, part } = placeOf(name)
    return part ? file.rowBytes(whole, part.from, part.rows) : file.bytes(whole)
  }
  return {
    ...file,
    tensors,
    bytes,
    rowBytes(name, from, count) {
      const { whole, part } = placeOf(name)
      return file.rowBytes(whole, (part?.from ?? 0) + from, count)
    },
    row(name, index) {
      const { whole, part } = placeOf(name)
      return file.row(whole, (part?.from ?? 0) + index)
    },
    floats: async (name) => toFloats(await bytes(name), (tensors.get(name) ?? file.tensors.get(name)!).dtype),
    external(name) {
      const { whole, part } = placeOf(name)
      if (!part) return file.external(whole)
      const { shape, offset, length } = tensors.get(name)!
      return { ...file.external(whole), shape, offset, length }
    },
  }
}
