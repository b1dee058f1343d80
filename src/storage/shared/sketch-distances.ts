/** Sketches of one width, one after the other, each filled up with zeros to whole words of 32 bits. */
export type Words = Uint32Array<ArrayBuffer>

/** The words of sketches, some of which may be absent. */
export function wordsOf(bytes: number): number {
  return Math.ceil(bytes / 4)
}

/**
 * Writes how many bits of each sketch differ from the query's, for as many as there are. A word's set bits are counted side by side
 * in fields of two, four and eight bits (Warren, "Hacker's Delight", 5-1); fields of eight hold the sum of up to
 * fifteen words before they are added up.
 */
export function hammingDistances(sketches: Words, query: Words, into: Uint16Array, from: number): void {
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
export function leastOf(distances: Uint16Array, limit: number, most: number): Uint32Array {
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
