import { StringDecoder } from 'node:string_decoder'

/** A line of text, or its length in bytes where it was too long to be kept. */
type Line = { readonly text: string } | { readonly tooLong: true }

/** Splits bytes into lines; of a line longer than `longest` bytes nothing is kept but that it was there. */
export function createLineSplitter(longest: number): (bytes: Buffer) => readonly Line[] {
  let pieces: Buffer[] = []
  let size = 0
  return (bytes) => {
    const lines: Line[] = []
    let from = 0
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
      keep(bytes.subarray(from, end))
      lines.push(size > longest ? { tooLong: true } : { text: decoded(pieces) })
      pieces = []
      size = 0
      from = end + 1
    }
    keep(bytes.subarray(from))
    return lines
  }

  function keep(piece: Buffer): void {
    size += piece.length
    if (size > longest) pieces = []
    else if (piece.length > 0) pieces.push(piece)
  }
}

function decoded(pieces: readonly Buffer[]): string {
  return new StringDecoder('utf8').end(Buffer.concat(pieces))
}
