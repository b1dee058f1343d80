/** Seconds of work that the pace is measured over. */
const measuredSeconds = 60

export type MeasuredPace = ReturnType<typeof createMeasuredPace>

/** Measures by its chunks how fast an engine makes speech. */
export function createMeasuredPace() {
  let speech = 0
  let work = 0
  return {
    /** Counts a chunk of so many seconds that took so many of work. */
    spoke(seconds: number, workSeconds: number) {
      // Older work counts less and less.
      const kept = Math.max(0, 1 - workSeconds / measuredSeconds)
      speech = kept * speech + seconds
      work = kept * work + workSeconds
    },
    /** Seconds of speech that it made in a second of the latest work; undefined before its first chunk. */
    read: () => (work > 0 ? speech / work : undefined),
  }
}
