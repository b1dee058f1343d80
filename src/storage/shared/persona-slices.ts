import { type IncomingMemory, snapshotBatch } from '../../personas/personas.ts'

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

/** Parts rows into pages within the limits of a snapshot's batch; a single larger row is a page of its own. */
export function* pagesOf<R>(rows: readonly R[], sizeOf: (row: R) => number): Generator<readonly R[]> {
  let page: R[] = []
  let bytes = 0
  for (const row of rows) {
    const size = sizeOf(row)
    if (page.length > 0 && (bytes + size > snapshotBatch.bytes || page.length === snapshotBatch.rows)) {
      yield page
      page = []
      bytes = 0
    }
    page.push(row)
    bytes += size
  }
  if (page.length > 0) yield page
}
