/** When each word is heard: the model's own steps tell. */
import type { WordTime } from '../engine.ts'
import type { HandedWord } from './words.ts'

/**
 * Tells each word once its end is known. Call the result with the words handed out so far and the step of the text's end.
 * `written` holds the word of the text that begins with each handed one: '' where that continues, undefined for a pause.
 * `secondsOf` turns a step into seconds of the sound.
 */
export function createWordTimes(
  written: readonly (string | undefined)[],
  secondsOf: (step: number) => number,
  tell: (words: readonly WordTime[]) => void,
): (handed: readonly HandedWord[], endStep: number | undefined) => void {
  let finished = 0
  return (handed, endStep) => {
    const words: WordTime[] = []
    while (finished < handed.length) {
      const text = written[finished]
      let next = finished + 1
      while (written[next] === '') next += 1
      // The last word ends with the text.
      const end = next < written.length ? handed[next]?.step : endStep
      if (end === undefined) break
      if (text !== undefined)
        words.push({ text, start: Math.max(0, secondsOf(handed[finished]!.step)), end: secondsOf(end) })
      finished = next
    }
    if (words.length > 0) tell(words)
  }
}
