/** Matrices that a file holds stacked one on the other, as tensors of their own: a part is used and quantised like any. */
import { type TensorEntry, type TensorFile, toFloats } from './safetensors.ts'

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
  const places = new Map<string, { readonly whole: string; readonly from: number; readonly rows: number }>()
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
        places.set(name, { whole: entry.name, from: (index * rows) / parts, rows: rows / parts })
      }
  }

  function rowBytes(name: string, from: number, count: number): Promise<Uint8Array> {
    const place = places.get(name)
    return place ? file.rowBytes(place.whole, place.from + from, count) : file.rowBytes(name, from, count)
  }

  function bytes(name: string): Promise<Uint8Array> {
    const place = places.get(name)
    return place ? file.rowBytes(place.whole, place.from, place.rows) : file.bytes(name)
  }

  return {
    ...file,
    tensors,
    bytes,
    rowBytes,
    rowNow(name, row) {
      const place = places.get(name)
      return place ? file.rowNow(place.whole, place.from + row) : file.rowNow(name, row)
    },
    floats: async (name) => toFloats(await bytes(name), (tensors.get(name) ?? file.tensors.get(name)!).dtype),
    external(name) {
      const place = places.get(name)
      if (!place) return file.external(name)
      const { shape, offset, length } = tensors.get(name)!
      return { ...file.external(place.whole), shape, offset, length }
    },
  }
}
