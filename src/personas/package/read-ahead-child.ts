import { serveThread } from '../../process/process.ts'
import type { PackageMemory } from './format.ts'
import type { ReadAhead } from './read-ahead.ts'
import { type PlainFile, verifyReading } from './verify-file.ts'

/** The most that one item holds, as one slice of a stage does. */
const most = { memories: 25, bytes: 256 * 1024 } as const

/** Some tens of milliseconds' work. */
const recordsPerSign = 500

// Runs on a thread, see read-ahead.ts.
await serveThread<PlainFile, ReadAhead>(async (file, emit) => {
  let memories: PackageMemory[] = []
  let bytes = 0
  const hand = () => {
    if (memories.length === 0) return
    const { moved, buffer } = together(memories, bytes)
    emit({ memories: moved }, [buffer])
    memories = []
    bytes = 0
  }
  let records = 0
  // Says that the thread is there.
  const tick = () => {
    if (++records % recordsPerSign === 0) emit({ memories: [] }, [])
  }
  const read = await verifyReading(file, {
    memory(memory, _count, isSound) {
      tick()
      // Nothing more is imported, and the rest is read for its problems.
      if (!isSound) return
      memories.push(memory)
      bytes += memory.vector?.byteLength ?? 0
      if (memories.length >= most.memories || bytes >= most.bytes) hand()
    },
    record: tick,
  })
  hand()
  emit(read, [])
})

/** The memories with their vectors in one buffer: a buffer of its own costs more to move than to copy. */
function together(memories: readonly PackageMemory[], bytes: number) {
  const buffer = new ArrayBuffer(bytes)
  let at = 0
  const moved = memories.map(({ fields, vector }): PackageMemory => {
    if (!vector) return { fields }
    const copy = new Float32Array(buffer, at, vector.length)
    copy.set(vector)
    at += vector.byteLength
    return { fields, vector: copy }
  })
  return { moved, buffer }
}
