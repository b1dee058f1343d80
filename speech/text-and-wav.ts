/**
 * The text and the WAV side of speech, for other programs: written text made ready to be read aloud and cut into sentences, and
 * samples as a WAV file and back. Of aichat it needs `text/`, `audio/` and the errors.
 *
 * @example
 * import { parseWav, pauseAfter, sanitize, splitSentences, writeWav } from './text-and-wav.ts'
 *
 * const rate = 16_000
 * const sentences = splitSentences(sanitize('**Dear Dr. Ames**, we leave at 5 p.m. today. Bring *two* coats!'))
 * const tone = (seconds: number) => Float32Array.from({ length: rate * seconds }, (_, at) => Math.sin(at / 10) / 4)
 * const spoken = sentences.flatMap((text) => [...tone(text.length / 15), ...new Float32Array(rate * pauseAfter(text))])
 *
 * const { samples, sampleRate } = parseWav(writeWav(Float32Array.from(spoken), rate))
 * console.log(sentences, (samples.length / sampleRate).toFixed(1), 'seconds')
 */
export { parseWav, writeWav } from './audio/wav.ts'
export { sanitize } from './text/sanitize.ts'
export { pauseAfter, splitSentences } from './text/sentences.ts'
