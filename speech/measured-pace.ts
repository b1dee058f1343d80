/** Seconds of work that the pace is measured over. */
const measuredSeconds = 60

/** How fast a server's engine makes speech. */
export interface MeasuredPace {
  /** Counts a chunk of so many seconds that took so many of work. */
  spoke(seconds: number, workSeconds: number): void
  /** Seconds of speech that it made in a second of the latest work; undefined before its first chunk. */
  read(): number | undefined
}

/** Measures an engine's pace by its chunks. */
export function createMeasuredPace(): MeasuredPace {
  let speech = 0
  let work = 0
  return {
    spoke(seconds, workSeconds) {
      // Older work counts less and less.
      const kept = Math.max(0, 1 - workSeconds / measuredSeconds)
      speech = kept * speech + seconds
      work = kept * work + workSeconds
    },
    read: () => (work > 0 ? speech / work : undefined),
  }
}
