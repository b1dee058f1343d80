/** Figures of a server's engine since its start. */
export interface SpeechStats {
  /** Chunks that were spoken, those that were spoken again included. */
  readonly chunks: number
  /** Chunks that were spoken again, since their length was far from the expected one. */
  readonly rerolls: number
  /** Seconds of speech that the engine made in a second of the latest work; undefined before its first chunk. */
  readonly pace: number | undefined
}

/** Seconds of work that the pace is measured over. */
const measuredSeconds = 60

export interface SpeechCounter {
  /** Counts a chunk of so many seconds that took so many of work. */
  spoke(seconds: number, workSeconds: number): void
  /** Counts a chunk that is spoken again. */
  rerolled(): void
  read(): SpeechStats
}

/** Counts an engine's work. */
export function createSpeechStats(): SpeechCounter {
  let chunks = 0
  let rerolls = 0
  let speech = 0
  let work = 0
  return {
    spoke(seconds, workSeconds) {
      chunks += 1
      // Older work counts less and less.
      const kept = Math.max(0, 1 - workSeconds / measuredSeconds)
      speech = kept * speech + seconds
      work = kept * work + workSeconds
    },
    rerolled() {
      rerolls += 1
    },
    read: () => ({ chunks, rerolls, pace: work > 0 ? speech / work : undefined }),
  }
}
