/** A file of tensors seen otherwise: under other names, or with matrices that are stacked one on the other as tensors of their own. */
import { type TensorEntry, type TensorFile, toFloats } from './safetensors.ts'

/** A tensor with the place where it lies in the file beneath: all of that one, or some of its rows. */
interface Place {
  readonly entry: TensorEntry
  readonly whole: string
  readonly part?: { readonly from: number; readonly rows: number }
}

/** The same file, with each tensor under the name that `rename` gives it. The names must stay distinct. */
export function withNames(file: TensorFile, rename: (name: string) => string): TensorFile {
  return withPlaces(file, (entry) => [{ entry: { ...entry, name: rename(entry.name) }, whole: entry.name }])
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
  return withPlaces(file, (entry) => {
    const { name: whole, shape, offset } = entry
    const parts = partsOf(whole) ?? 1
    const [all = 0, ...rest] = shape
    if (parts === 1 || all % parts !== 0) return [{ entry, whole }]
    const [rows, length] = [all / parts, entry.length / parts]
    return Array.from({ length: parts }, (_, index) => ({
      entry: {
        ...entry,
        name: partName(whole, index),
        shape: [rows, ...rest],
        offset: offset + index * length,
        length,
      },
      whole,
      part: { from: index * rows, rows },
    }))
  })
}

function withPlaces(file: TensorFile, placesOf: (entry: TensorEntry) => readonly Place[]): TensorFile {
  const places = new Map([...file.tensors.values()].flatMap(placesOf).map((place) => [place.entry.name, place]))
  const placeOf = (name: string): Omit<Place, 'entry'> => places.get(name) ?? { whole: name }
  const bytes = (name: string) => {
    const { whole, part } = placeOf(name)
    return part ? file.rowBytes(whole, part.from, part.rows) : file.bytes(whole)
  }
  return {
    ...file,
    tensors: new Map([...places].map(([name, { entry }]) => [name, entry])),
    bytes,
    rowBytes(name, from, count) {
      const { whole, part } = placeOf(name)
      return file.rowBytes(whole, (part?.from ?? 0) + from, count)
    },
    row(name, index) {
      const { whole, part } = placeOf(name)
      return file.row(whole, (part?.from ?? 0) + index)
    },
    floats: async (name) => toFloats(await bytes(name), (places.get(name)?.entry ?? file.tensors.get(name)!).dtype),
    external(name) {
      const { shape, offset, length } = places.get(name)?.entry ?? file.external(name)
      return { ...file.external(placeOf(name).whole), shape, offset, length }
    },
  }
}
