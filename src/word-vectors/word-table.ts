/**
 * A hash table (open addressing, linear probing) over the UTF-8 bytes of a list with one word a line, as it is kept in a file: a
 * process that asks for ten words would else spend 40 ms on its making. Typed arrays hold all of it: 86,000 strings in a Map
 * would stay on V8's heap, be examined by each full collection, and have it take the objects made next to them for long-lived.
 */
export type WordIndex = ReturnType<typeof indexWords>

/** The slots of the index of so many words: at most half of them are taken, so that a search reads one or two. */
export function slotsFor(count: number): number {
  return 2 ** Math.ceil(Math.log2(count * 2))
}

/** Makes the index of a list. Of equal words the first one counts. */
export function indexWords(list: Uint8Array) {
  /** The first byte of each word, and behind the last one that of a word that would follow. */
  const starts = Uint32Array.from(
    [0, ...placesOf(newline, list), list.length].map((at, row) => (row > 0 ? at + 1 : at)),
  )
  const count = starts.length - 1
  /** The places of words, counted from 1; 0 is a free slot. */
  const slots = new Uint32Array(slotsFor(count))
  const mask = slots.length - 1
  /** The number of different words. */
  let size = 0
  for (let row = 0; row < count; row++) {
    const word = list.subarray(starts[row]!, starts[row + 1]! - 1)
    let slot = hashOf(word) & mask
    while (slots[slot] !== 0 && !isWord(list, starts, slots[slot]! - 1, word)) slot = (slot + 1) & mask
    if (slots[slot] !== 0) continue
    slots[slot] = row + 1
    size++
  }
  return { starts, slots, size }
}

/** Searches by an index that was made of this list; bytes behind the last word are ignored. */
export function openWordTable(list: Uint8Array, { starts, slots }: Pick<WordIndex, 'starts' | 'slots'>) {
  const mask = slots.length - 1
  return {
    /** The place of the word in the list, counted from 0; undefined for another word. */
    find(word: string): number | undefined {
      const sought = Buffer.from(word)
      for (let slot = hashOf(sought) & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
        const row = slots[slot]! - 1
        if (isWord(list, starts, row, sought)) return row
      }
      return undefined
    },
  }
}

const newline = 10

function placesOf(byte: number, list: Uint8Array): readonly number[] {
  const places: number[] = []
  for (let at = list.indexOf(byte); at >= 0; at = list.indexOf(byte, at + 1)) places.push(at)
  return places
}

function isWord(list: Uint8Array, starts: Uint32Array, row: number, word: Uint8Array): boolean {
  const start = starts[row]!
  if (starts[row + 1]! - 1 - start !== word.length) return false
  for (let at = 0; at < word.length; at++) if (list[start + at] !== word[at]) return false
  return true
}

/** FNV-1a, 32 bits (http://www.isthe.com/chongo/tech/comp/fnv/). */
const fnvOffset = 0x811c9dc5
const fnvPrime = 0x01000193

function hashOf(word: Uint8Array): number {
  let hash = fnvOffset
  for (let at = 0; at < word.length; at++) hash = Math.imul(hash ^ word[at]!, fnvPrime)
  // Brings the upper bits down, since a slot is taken from the lower ones.
  return (hash ^ (hash >>> 15)) >>> 0
}
