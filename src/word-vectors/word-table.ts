/** The place of each word of a list, without an object per word. */
export interface WordTable {
  /** The number of different words. */
  readonly size: number
  /** The place of the word in the list, counted from 0; undefined for another word. */
  find(word: string): number | undefined
}

/**
 * A hash table (open addressing, linear probing) over the UTF-16 units of a list with one word a line. Typed arrays hold all
 * of it: 86,000 strings in a Map would stay on V8's heap, be examined by each full collection, and have it take the objects
 * made beside them for long-lived.
 */
export function createWordTable(lines: string): WordTable {
  const units = new Uint16Array(lines.length + 1)
  let count = 1
  for (let at = 0; at < lines.length; at++) {
    units[at] = lines.charCodeAt(at)
    if (units[at] === newline) count++
  }
  units[lines.length] = newline
  /** The first unit of each word, and behind the last one the end of the list. */
  const starts = new Uint32Array(count + 1)
  for (let at = 0, row = 1; at < units.length; at++) if (units[at] === newline) starts[row++] = at + 1
  // At most half full, so that a search reads one or two slots.
  const slots = new Uint32Array(2 ** Math.ceil(Math.log2(count * 2)))
  const mask = slots.length - 1
  let size = 0
  for (let row = 0; row < count; row++) {
    let slot = hashOfRow(row) & mask
    while (slots[slot] !== 0 && !areEqual(slots[slot]! - 1, row)) slot = (slot + 1) & mask
    if (slots[slot] !== 0) continue
    slots[slot] = row + 1
    size++
  }
  return {
    size,
    find(word) {
      let hash = fnvOffset
      for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word.charCodeAt(at), fnvPrime)
      for (let slot = mixed(hash) & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
        const row = slots[slot]! - 1
        if (isWord(row, word)) return row
      }
      return undefined
    },
  }

  function hashOfRow(row: number): number {
    let hash = fnvOffset
    for (let at = starts[row]!; at < starts[row + 1]! - 1; at++) hash = Math.imul(hash ^ units[at]!, fnvPrime)
    return mixed(hash)
  }

  function isWord(row: number, word: string): boolean {
    const start = starts[row]!
    if (starts[row + 1]! - 1 - start !== word.length) return false
    for (let at = 0; at < word.length; at++) if (units[start + at] !== word.charCodeAt(at)) return false
    return true
  }

  function areEqual(one: number, other: number): boolean {
    const length = starts[one + 1]! - starts[one]!
    if (length !== starts[other + 1]! - starts[other]!) return false
    for (let at = 0; at < length; at++) if (units[starts[one]! + at] !== units[starts[other]! + at]) return false
    return true
  }
}

const newline = 10

/** FNV-1a over UTF-16 units, 32 bits (http://www.isthe.com/chongo/tech/comp/fnv/). */
const fnvOffset = 0x811c9dc5
const fnvPrime = 0x01000193

/** Brings the upper bits down, since a slot is taken from the lower ones. */
function mixed(hash: number): number {
  return (hash ^ (hash >>> 15)) >>> 0
}
