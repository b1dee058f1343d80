import { rangeOf } from '../shared/memory-scope.ts'
import type { Database } from './connection.ts'
import { blockBits } from './sketch-triggers.ts'

/** The sketches of a connection's large scopes, kept in memory. */
export interface Sketches {
  /**
   * The numbers of a scope's memories with the nearest sketches, the nearest first, of equally near ones the earlier; the same as
   * a scan of the table finds. Expects to run inside the search's transaction.
   */
  nearest(scopeId: number, space: number, bits: Buffer, limit: number): number[]
  /** Bytes that are kept now, over all scopes. */
  bytes(): number
}

/** Memories of a scope from which on its sketches are kept: the scan of fewer takes half a millisecond. */
export const leastKept = 4_096

export interface SketchLimits {
  /** Bytes that are kept, over all scopes. */
  readonly bytes: number
  /** Blocks that one search reads from the database into memory; the database scans the rest. */
  readonly readAtOnce: number
}

/** The sketches of 300,000 memories of 1,536 components; and some milliseconds' work. */
const usual: SketchLimits = { bytes: 64 * 1024 ** 2, readAtOnce: 12 }

/** Milliseconds for which sketches that no search asked for are kept. */
const keptMs = 300_000

/** The sketches of one block, as they were at its mark. */
interface Block {
  readonly mark: number
  /** The memories' places in the block, and their sketches in that order. */
  readonly places: Uint16Array
  readonly words: Words
}

/** The sketches in memory of one scope, for one space. */
interface Kept {
  readonly space: number
  readonly blocks: Map<number, Block>
}

const made = new WeakMap<Database, Sketches>()

/** The sketches of this connection. Expects no open transaction at the first call. */
export function sketchesOf(db: Database): Sketches {
  const sketches = made.get(db) ?? createSketches(db)
  made.set(db, sketches)
  return sketches
}

/** The sketches of a connection that has none yet; see `sketchesOf`. */
export function createSketches(db: Database, limits: SketchLimits = usual): Sketches {
  const marks = db
    .prepare<[number, number], [block: number, mark: number]>(
      'SELECT block, mark FROM memory_sketch_block WHERE block BETWEEN ? AND ? ORDER BY block',
    )
    .raw()
  const read = db
    .prepare<[number, number, number], [number: number, bits: Buffer]>(
      'SELECT memory_id, bits FROM memory_sketch WHERE memory_id BETWEEN ? AND ? AND space_id = ? ORDER BY memory_id',
    )
    .raw()
  const scan = db
    .prepare<[object], [number: number, distance: number]>(
      `SELECT memory_id, vec_distance_hamming(vec_bit(bits), vec_bit(@bits)) AS distance FROM memory_sketch
        WHERE memory_id BETWEEN @low AND @high AND space_id = @space ORDER BY distance LIMIT @limit`,
    )
    .raw()
  /** The scope that was asked for last stands last. */
  const scopes = new Map<number, Kept>()
  let bytes = 0
  let usedAt = 0
  let isWatched = false
  forgetAtOnce()

  return { nearest, bytes: () => bytes }

  function nearest(scopeId: number, space: number, bits: Buffer, limit: number): number[] {
    const query = new Uint32Array(wordsOf(bits.length))
    new Uint8Array(query.buffer).set(bits)
    const { low, high } = rangeOf(scopeId)
    const listed = marks.all(blockOf(low), blockOf(high))
    const { blocks, count } = upToDate(keptOf(scopeId, space), scopeId, listed, query.length)
    const next = listed[blocks.length]
    const rest = next ? scan.all({ low: next[0] * blockSize, high, space, bits, limit }) : []
    const distances = new Uint16Array(count + rest.length)
    let from = 0
    for (const { places, words } of blocks) {
      hammingDistances(words, query, distances, from)
      from += places.length
    }
    for (const [, distance] of rest) distances[from++] = distance
    return numbersAt(leastOf(distances, limit, bits.length * 8), listed, blocks, rest)
  }

  /** The scope's first blocks as they are now; where too many have to be read, or would be kept, the last ones are left out. */
  function upToDate(
    kept: Kept,
    scopeId: number,
    listed: readonly (readonly [block: number, mark: number])[],
    width: number,
  ): { readonly blocks: readonly Block[]; readonly count: number } {
    const blocks: Block[] = []
    let count = 0
    let left = limits.readAtOnce
    for (const [number, mark] of listed) {
      let block = kept.blocks.get(number)
      if (block?.mark !== mark) {
        forget(kept, number)
        if (left-- === 0 || !makeRoom(scopeId, width)) break
        block = readBlock(number, mark, kept.space, width)
        kept.blocks.set(number, block)
        bytes += sizeOf(block)
      }
      blocks.push(block)
      count += block.places.length
    }
    // Blocks that are empty now have no mark.
    if (kept.blocks.size > blocks.length) {
      const there = new Set(listed.map(([number]) => number))
      for (const number of kept.blocks.keys()) if (!there.has(number)) forget(kept, number)
    }
    return { blocks, count }
  }

  function readBlock(number: number, mark: number, space: number, width: number): Block {
    const low = number * blockSize
    const rows = read.all(low, low + blockSize - 1, space)
    const places = new Uint16Array(rows.length)
    const words = new Uint32Array(rows.length * width)
    const into = new Uint8Array(words.buffer)
    rows.forEach(([memory, bits], at) => {
      places[at] = memory - low
      into.set(bits, at * width * 4)
    })
    return { mark, places, words }
  }

  function keptOf(scopeId: number, space: number): Kept {
    usedAt = performance.now()
    if (!isWatched) setTimeout(tidy, keptMs).unref()
    isWatched = true
    const before = scopes.get(scopeId)
    if (before && before.space !== space) forgetScope(scopeId)
    const kept = scopes.get(scopeId) ?? { space, blocks: new Map() }
    scopes.delete(scopeId)
    scopes.set(scopeId, kept)
    return kept
  }

  /** Whether a block more may be kept: the scopes that were not asked for longest go first. */
  function makeRoom(scopeId: number, width: number): boolean {
    const needed = blockSize * (width * 4 + 2)
    for (const other of scopes.keys()) {
      if (bytes + needed <= limits.bytes) return true
      if (other !== scopeId) forgetScope(other)
    }
    return bytes + needed <= limits.bytes
  }

  function forgetScope(scopeId: number): void {
    const kept = scopes.get(scopeId)
    if (!kept) return
    for (const number of kept.blocks.keys()) forget(kept, number)
    scopes.delete(scopeId)
  }

  /** The sketches are overwritten: they tell something about the texts that they come from. */
  function forget({ blocks }: Kept, number: number): void {
    const block = blocks.get(number)
    if (!block) return
    block.words.fill(0)
    bytes -= sizeOf(block)
    blocks.delete(number)
  }

  function tidy(): void {
    const unused = performance.now() - usedAt
    isWatched = unused < keptMs
    if (isWatched) setTimeout(tidy, keptMs - unused).unref()
    else for (const scopeId of scopes.keys()) forgetScope(scopeId)
  }

  /** A sketch that this connection removes leaves the memory with its row, without waiting for a search. */
  function forgetAtOnce(): void {
    db.function('forget_sketch', { directOnly: false }, (number: unknown) => {
      const kept = scopes.get(Math.floor(Number(number) / 2 ** 24))
      if (kept) forget(kept, blockOf(Number(number)))
      return null
    })
    db.exec(`CREATE TEMP TRIGGER IF NOT EXISTS forget_sketch AFTER DELETE ON main.memory_sketch BEGIN
      SELECT forget_sketch(old.memory_id);
    END`)
  }
}

const blockSize = 2 ** blockBits

function blockOf(number: number): number {
  return Math.floor(number / blockSize)
}

function sizeOf({ places, words }: Block): number {
  return places.byteLength + words.byteLength
}

/** The memories' numbers at places of the blocks' sketches, which the others follow. */
function numbersAt(
  chosen: Uint32Array,
  listed: readonly (readonly [block: number, mark: number])[],
  blocks: readonly Block[],
  rest: readonly (readonly [number: number, distance: number])[],
): number[] {
  const starts: number[] = []
  let count = 0
  for (const { places } of blocks) {
    starts.push(count)
    count += places.length
  }
  const numberAt = (place: number) => {
    if (place >= count) return rest[place - count]![0]
    let [low, high] = [0, starts.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (starts[middle]! <= place) low = middle
      else high = middle - 1
    }
    return listed[low]![0] * blockSize + blocks[low]!.places[place - starts[low]!]!
  }
  return Array.from(chosen, numberAt)
}

/** Sketches of one width, one after the other, each filled up with zeros to whole words of 32 bits. */
type Words = Uint32Array<ArrayBuffer>

/** The words of sketches, some of which may be absent. */
function wordsOf(bytes: number): number {
  return Math.ceil(bytes / 4)
}

/**
 * Writes how many bits of each sketch differ from the query's, for as many as there are. A word's set bits are counted side by side
 * in fields of two, four and eight bits (Warren, "Hacker's Delight", 5-1); fields of eight hold the sum of up to
 * fifteen words before they are added up.
 */
function hammingDistances(sketches: Words, query: Words, into: Uint16Array, from: number): void {
  const width = query.length
  const count = sketches.length / width
  for (let each = 0, at = 0; each < count; each++) {
    let distance = 0
    for (let word = 0; word < width; ) {
      const end = Math.min(width, word + 15)
      let fields = 0
      for (; word < end; word++, at++) {
        let bits = sketches[at]! ^ query[word]!
        bits -= (bits >>> 1) & 0x55555555
        bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333)
        fields += (bits + (bits >>> 4)) & 0x0f0f0f0f
      }
      // Up to 120 in each of four fields, and up to 480 together: they are added up in fields of sixteen bits.
      const pairs = (fields & 0x00ff00ff) + ((fields >>> 8) & 0x00ff00ff)
      distance += (pairs & 0xffff) + (pairs >>> 16)
    }
    into[from + each] = distance
  }
}

/** The places of the `limit` least distances, the least first; of equal ones the earlier places. None is above `most`. */
function leastOf(distances: Uint16Array, limit: number, most: number): Uint32Array {
  const starts = new Uint32Array(most + 2)
  for (let at = 0; at < distances.length; at++) starts[distances[at]! + 1]!++
  for (let distance = 1; distance < starts.length; distance++) starts[distance]! += starts[distance - 1]!
  const places = new Uint32Array(Math.min(limit, distances.length))
  for (let at = 0; at < distances.length; at++) {
    const place = starts[distances[at]!]!++
    if (place < places.length) places[place] = at
  }
  return places
}
