import type { WordTime } from '../../engines/engine.ts'
import type { WrittenWord } from './reading.ts'

/**
 * Tells the words of a chunk as they were written, from the times of the words that an engine speaks for them: `$5` is heard from
 * `five` to `dollars`. Call the result with the engine's words.
 */
export function createWrittenWords(
  words: readonly WrittenWord[],
  tell: (words: readonly WordTime[]) => void,
): (heard: readonly WordTime[]) => void {
  let next = 0
  /** Spoken words of the next written one that were heard, and when the first began. */
  let count = 0
  let start = 0
  return (heard) => {
    const known: { text: string; start: number; end: number }[] = []
    for (const { text, start: from, end } of heard) {
      const already = known.length
      for (let spoken = text.split(/\s+/).length; spoken > 0 && next < words.length; ) {
        if (count === 0) start = from
        const taken = Math.min(spoken, words[next]!.spoken - count)
        count += taken
        spoken -= taken
        if (count < words[next]!.spoken) break
        // Words that the engine tells as one are one here too.
        const last = known.at(-1)
        if (last && known.length > already) last.text += ` ${words[next]!.text}`
        else known.push({ text: words[next]!.text, start, end })
        next += 1
        count = 0
      }
    }
    if (known.length > 0) tell(known)
  }
}
