import type { IncomingMemory } from '../../personas/package/archive.ts'

/** The most that one slice holds. */
export interface SliceBounds {
  readonly memories: number
  readonly characters: number
  /** Of vectors. */
  readonly components: number
}

/** The most that one round of SQLite's statements writes, some milliseconds' work. */
export const slice: SliceBounds = { memories: 25, characters: 32 * 1024, components: 64 * 1024 }

/** The memories in slices, none of which is larger than that unless it is one memory. */
export function* batches(
  memories: Iterable<IncomingMemory>,
  most: SliceBounds = slice,
): Generator<readonly IncomingMemory[]> {
  let batch: IncomingMemory[] = []
  let [characters, components] = [0, 0]
  for (const memory of memories) {
    const length = memory.content.length + JSON.stringify(memory.metadata).length + JSON.stringify(memory.extra).length
    const dimension = memory.vector?.values.length ?? 0
    const isFull =
      batch.length >= most.memories || characters + length > most.characters || components + dimension > most.components
    if (isFull && batch.length > 0) {
      yield batch
      batch = []
      characters = components = 0
    }
    batch.push(memory)
    characters += length
    components += dimension
  }
  if (batch.length > 0) yield batch
}
