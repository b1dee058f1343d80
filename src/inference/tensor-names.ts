/** A file of tensors under other names: those of files that hold the same model in another spelling. */
import type { TensorEntry, TensorFile } from './safetensors.ts'

/** The same file, with each tensor under the name that `rename` gives it. The names must stay distinct. */
export function withNames(file: TensorFile, rename: (name: string) => string): TensorFile {
  const stored = new Map<string, string>()
  const tensors = new Map<string, TensorEntry>()
  for (const entry of file.tensors.values()) {
    const name = rename(entry.name)
    stored.set(name, entry.name)
    tensors.set(name, { ...entry, name })
  }
  const storedName = (name: string) => stored.get(name) ?? name
  return {
    ...file,
    tensors,
    bytes: (name) => file.bytes(storedName(name)),
    rowBytes: (name, from, count) => file.rowBytes(storedName(name), from, count),
    rowNow: (name, row) => file.rowNow(storedName(name), row),
    floats: (name) => file.floats(storedName(name)),
    external: (name) => file.external(storedName(name)),
  }
}
