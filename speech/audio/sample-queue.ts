/** A queue of samples between a producer and a consumer. */
export interface SampleQueue {
  readonly finished: boolean
  /** Resolves when the call is over, well or not; never rejects. */
  readonly settled: Promise<void>
  push(samples: Float32Array): void
  finish(failure?: Error): void
  /** Yields pieces as they come, then ends or throws as the call did. Pieces not taken yet are kept. */
  pieces(): AsyncGenerator<Float32Array>
}

export function createSampleQueue(): SampleQueue {
  const waiting: Float32Array[] = []
  let finished = false
  let failure: Error | undefined
  let wake = () => {}
  let settle = () => {}
  const settled = new Promise<void>((resolve) => {
    settle = resolve
  })

  return {
    get finished() {
      return finished
    },
    settled,
    push(samples) {
      waiting.push(samples)
      wake()
    },
    finish(reason) {
      if (finished) return
      finished = true
      failure = reason
      settle()
      wake()
    },
    async *pieces() {
      for (;;) {
        const piece = waiting.shift()
        if (piece) yield piece
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
  const samples = new Float32Array(pieces.reduce((sum, piece) => sum + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    samples.set(piece, at)
    at += piece.length
  }
  return samples
}
