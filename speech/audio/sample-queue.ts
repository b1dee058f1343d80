export type SampleQueue = ReturnType<typeof createQueue<Float32Array>>

/** A queue of samples or of pieces of a text. A piece that `replaces` the first waiting one replaces all that wait. */
export function createQueue<Piece>(replaces: (piece: Piece, waiting: Piece) => boolean = () => false) {
  const waiting: Piece[] = []
  let finished = false
  let failure: Error | undefined
  let wake = () => {}

  return {
    push(piece: Piece) {
      if (waiting.length > 0 && replaces(piece, waiting[0]!)) waiting.length = 0
      waiting.push(piece)
      wake()
    },
    finish(reason?: Error) {
      if (finished) return
      finished = true
      failure = reason
      wake()
    },
    /** Yields pieces as they come, then ends or throws as the call did. Pieces not taken yet are kept. */
    async *pieces(): AsyncGenerator<Piece> {
      for (;;) {
        const piece = waiting.shift()
        if (piece !== undefined) yield piece
        else if (finished) break
        else
          await new Promise<void>((resolve) => {
            wake = resolve
          })
      }
      if (failure) throw failure
    },
  }
}

/** Pieces as one. */
export function joinSamples(pieces: readonly Float32Array[]): Float32Array {
  return joinInto((size) => new Float32Array(size), pieces)
}

/** Frames of codes as one array. */
export function joinCodes(frames: readonly Int32Array[]): Int32Array {
  return joinInto((size) => new Int32Array(size), frames)
}

function joinInto<Part extends Float32Array | Int32Array>(
  create: (size: number) => Part,
  parts: readonly Part[],
): Part {
  const joined = create(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    joined.set(part, at)
    at += part.length
  }
  return joined
}
