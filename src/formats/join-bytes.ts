import { type HeavyWork, heavyTurn } from '../process/process.ts'

/** Bytes that are copied or decoded in one turn of the event loop: some three milliseconds' work, most of it for fresh memory. */
export const bytesAtOnce = 2 * 1024 * 1024

/** Joins the pieces of a large body, in turns of the event loop of at most `bytesAtOnce` or one piece. Throws as `heavyTurn`. */
export async function joinInTurns(pieces: readonly Buffer[], length: number, work?: HeavyWork): Promise<Buffer> {
  const joined = Buffer.allocUnsafeSlow(length)
  let at = 0
  let left = 0
  for (const piece of pieces) {
    if (piece.length > left) {
      await heavyTurn(work)
      left = bytesAtOnce
    }
    joined.set(piece, at)
    at += piece.length
    left -= piece.length
  }
  return joined
}

/** Reads all of a body, which may have no end. Throws what `tooLong` makes when it has more than `limit` bytes. */
export async function readBytes(body: AsyncIterable<Uint8Array>, limit: number, tooLong: () => Error): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of body) {
    length += piece.length
    if (length > limit) throw tooLong()
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}
