import { AppError } from '../src/errors.ts'
import { countsOf, piecesOf, type SpokenAnswer, skippedOf } from './answer-counts.ts'
import { openWavReader } from './audio/wav-reader.ts'
import { sanitize } from './text/sanitize.ts'
import { pauseAfter, splitChunks, splitSentences } from './text/sentences.ts'
import { isMostlyUnspoken } from './text/unspoken.ts'

/** Characters of one request, and of a text without the end of a sentence that is spoken all the same. */
const partLimit = 2000

/** What was spoken so far: chunks and unspoken pieces, as an answer counts them. */
export interface SpokenSoFar {
  spoken: number
  total: number
  readonly skipped: string[]
}

/**
 * Speaks a text while it comes: each request takes the whole sentences that are there. Yields WAV whose header states no length.
 * A part that cannot be spoken is counted and left out. Throws where that is all, and as `ask` and the text do; an empty text is
 * no failure.
 */
export async function* speakSentences(
  texts: AsyncIterable<string>,
  ask: (text: string) => Promise<SpokenAnswer>,
  soFar: SpokenSoFar,
  speed = 1,
): AsyncGenerator<Uint8Array> {
  let refusal: AppError | undefined
  let sampleRate: number | undefined
  let before = ''
  for await (const text of partsOf(texts)) {
    try {
      const answer = await ask(text)
      const reader = openWavReader(piecesOf(answer))
      const format = await reader.format()
      if (sampleRate === undefined) yield withoutLength(format.header)
      else yield Buffer.alloc(2 * Math.round((pauseAfter(before) * sampleRate) / speed))
      sampleRate = format.sampleRate
      yield* reader.samples()
      const [spoken, total] = countsOf(answer)
      soFar.spoken += spoken
      soFar.total += total
      soFar.skipped.push(...skippedOf(answer))
      before = text
    } catch (thrown) {
      if (!(thrown instanceof AppError) || !isMostlyUnspoken(thrown)) throw thrown
      refusal = thrown
      soFar.total += 1
      soFar.skipped.push([...text.trim()].slice(0, 60).join(''))
    }
  }
  if (sampleRate === undefined && refusal) throw refusal
}

/** The header of a WAV file as that of a stream. */
function withoutLength(header: Buffer): Buffer {
  const stream = Buffer.from(header)
  for (const at of [4, stream.length - 4]) stream.writeUInt32LE(0xffff_ffff, at)
  return stream
}

/** The sentences of a text as they end; those that end while others are spoken come together. */
async function* partsOf(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let waiting = ''
  let isOver = false
  let failure: unknown
  let wake = () => {}
  const reading = (async () => {
    for await (const text of texts) {
      waiting += text
      wake()
    }
  })()
  reading
    .catch((thrown: unknown) => {
      failure = thrown
    })
    .finally(() => {
      isOver = true
      wake()
    })
  for (;;) {
    const end = isOver ? waiting.length : endOfSentences(waiting)
    const ready = waiting.slice(0, end)
    waiting = waiting.slice(end)
    const parts = ready.length <= partLimit ? [ready.trim()] : splitChunks(ready, partLimit)
    for (const part of parts) if (sanitize(part) !== '') yield part
    if (isOver && waiting === '') break
    if (end === 0)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
  }
  if (failure !== undefined) throw failure
}

/** Where the last whole sentence ends; 0 before the first one. A line break within a paragraph is a space. */
function endOfSentences(text: string): number {
  const closed = text.split('```').length % 2 === 1 ? text : text.slice(0, text.lastIndexOf('```'))
  if (closed.trim() === '') return 0
  if (closed.length > 2 * partLimit) return closed.length
  // After a space, the word that may follow tells whether the dot before it ends a sentence.
  const next = /\s$/.test(closed) ? 'Next' : ''
  const line = `${closed.replace(/(?<!\n)\n(?!\n|[ \t]{0,20}(?:[-*#>|]|\d{1,4}[.)]))/g, ' ')}${next}`
  const last = splitSentences(line).at(-1) ?? ''
  return Math.min(closed.length, line.lastIndexOf(last))
}
