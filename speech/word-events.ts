import { AppError, toAppError } from '../src/errors.ts'
import type { WordTime } from './engines/engine.ts'
import type { Speech } from './speaking.ts'

/** An event of an answer with word times, as the `data` of a server-sent event. The first two names are OpenAI's. */
export type SpeechEvent =
  /** Bytes of a file in base64; together they form one whose header states no length. */
  | { readonly type: 'speech.audio.delta'; readonly audio: string }
  | { readonly type: 'speech.audio.done'; readonly spoken: number; readonly total: number }
  /** The next words with their times, seconds from the first sample; `estimated` where the engine guesses them. */
  | { readonly type: 'speech.audio.words'; readonly words: readonly WordTime[]; readonly estimated: boolean }
  | { readonly type: 'error'; readonly error: string; readonly details: readonly string[] }

/** Bytes of audio in one event, a multiple of three, so that base64 needs no padding. */
const pieceSize = 48 * 1024

/**
 * The server-sent events of a text. `audio` is the file as it is made; a failure in the middle is the last event.
 */
export async function* speechEvents(speech: Speech, audio: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of audio) {
      yield* audioEvents(piece)
      yield* wordEvents(speech)
    }
    yield* wordEvents(speech)
    const { spoken, total } = speech
    yield eventOf({ type: 'speech.audio.done', spoken, total })
  } catch (thrown) {
    const { message, details } = thrown instanceof AppError ? thrown : toAppError(thrown)
    yield eventOf({ type: 'error', error: message, details })
  }
}

function* audioEvents(bytes: Buffer): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += pieceSize)
    yield eventOf({
      type: 'speech.audio.delta',
      audio: bytes.toString('base64', at, Math.min(bytes.length, at + pieceSize)),
    })
}

function* wordEvents(speech: Speech): Generator<Uint8Array> {
  const words = speech.takeWords().map(({ text, start, end }) => ({ text, start: rounded(start), end: rounded(end) }))
  if (words.length > 0)
    yield eventOf({ type: 'speech.audio.words', words, estimated: speech.wordTimes === 'estimated' })
}

function eventOf(event: SpeechEvent): Uint8Array {
  return Buffer.from(`data: ${JSON.stringify(event)}\n\n`)
}

/** To milliseconds. */
function rounded(seconds: number): number {
  return Math.round(seconds * 1000) / 1000
}
