import { toPcm16 } from './audio/wav.ts'
import type { WordTime } from './engines/engine.ts'

/** Puts the chunks of one text behind each other: a pause between two, and the words at their times in the whole. */
export function createTelling(sampleRate: number) {
  let words: WordTime[] = []
  /** Samples passed on so far. */
  let samplesTold = 0
  /** Before the next chunk: seconds. */
  let pause = 0

  return {
    /**
     * Passes a chunk's samples on as mono 16-bit PCM, behind the pause of the one before, and returns its seconds. `wordTimes`
     * may grow meanwhile. Returns 0 where the chunk has no sample. `pauseBehind` is in seconds.
     */
    async *tell(
      pauseBehind: number,
      pieces: AsyncIterable<Float32Array> | Iterable<Float32Array>,
      wordTimes: readonly WordTime[],
    ): AsyncGenerator<Buffer, number, undefined> {
      let start: number | undefined
      let samplesHere = 0
      let read = 0
      const readWords = (begin: number) => {
        for (; read < wordTimes.length; read++) {
          const { text: word, start: from, end } = wordTimes[read]!
          words.push({ text: word, start: begin + from, end: begin + end })
        }
      }
      for await (const samples of pieces) {
        if (start === undefined) {
          const silent = Math.round(pause * sampleRate)
          if (silent > 0) yield Buffer.alloc(2 * silent)
          samplesTold += silent
          start = samplesTold / sampleRate
        }
        samplesHere += samples.length
        samplesTold += samples.length
        readWords(start)
        yield toPcm16(samples)
      }
      if (start === undefined) return 0
      readWords(start)
      pause = pauseBehind
      return samplesHere / sampleRate
    },
    /** The words that were reported since the last call, in seconds from the first sample of all. */
    takeWords(): readonly WordTime[] {
      const taken = words
      words = []
      return taken
    },
  }
}
