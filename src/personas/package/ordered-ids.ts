import { randomInt, randomUUID } from 'node:crypto'

/** Of the bits behind the time so many count: twice as many rows as are ever written at once, from a random start. */
const countBits = 26

/**
 * Ids for many rows that are stored one after the other: UUIDs of version 7 (RFC 9562, 5.7 and 6.2), each greater than the
 * one before. Random ones would each change another page of an index, and a transaction writes every changed page.
 * @param now milliseconds since 1970 UTC
 */
export function orderedIds(now: number): () => string {
  const time = now.toString(16).padStart(12, '0')
  const start = `${time.slice(0, 8)}-${time.slice(8)}-7`
  let count = randomInt(2 ** (countBits - 1))
  return () => {
    const next = count++
    const high = (next >>> 14).toString(16).padStart(3, '0')
    const low = (0x8000 | (next & 0x3fff)).toString(16)
    return `${start}${high}-${low}-${randomUUID().slice(24)}`
  }
}
