import type { IncomingMemory } from '../../personas/package/archive.ts'

/** The most that one round of statements writes, some milliseconds' work: memories, characters, components of vectors. */
export const slice = { memories: 25, characters: 32 * 1024, components: 64 * 1024 } as const

/** The memories in slices, none of which is larger than that unless it is one memory. */
export function* batches(memories: Iterable<IncomingMemory>): Generator<readonly IncomingMemory[]> {
  let batch: IncomingMemory[] = []
  let [characters, components] = [0, 0]
  for (const memory of memories) {
    const length = memory.content.length + JSON.stringify(memory.metadata).length + JSON.stringify(memory.extra).length
    const dimension = memory.vector?.values.length ?? 0
    const isFull =
      batch.length >= slice.memories ||
      characters + length > slice.characters ||
      components + dimension > slice.components
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
