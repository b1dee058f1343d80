import { createHash } from 'node:crypto'
import { copyHeader, copyTrailer } from './copy-format.ts'

/** The rows of a table, as both sides must have them. */
export interface TableDigest {
  readonly rows: number
  /** SHA-256 of the rows in their order, in hex. */
  readonly digest: string
}

/** Sums up rows in the format of COPY. */
export function createTableDigest() {
  const hash = createHash('sha256').update(copyHeader)
  let rows = 0
  return {
    /** Adds rows without header and end. */
    add(bytes: Uint8Array, count: number): void {
      hash.update(bytes)
      rows += count
    },
    end: (): TableDigest => ({ rows, digest: hash.update(copyTrailer).digest('hex') }),
  }
}
