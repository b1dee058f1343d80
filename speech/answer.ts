import { AppError, toAppError } from '../src/errors.ts'
import { audioFormat, type FormatName } from './audio/formats.ts'
import { tagsOf } from './audio/tags.ts'
import { wavHeaderBytes } from './audio/wav.ts'
import type { WordTime } from './engines/engine.ts'
import type { Speech } from './speaking.ts'

/**
 * A file of audio to be sent, or server-sent events with its pieces and its words; with headers that name the engine and the
 * skipped parts of the text. In this process the headers of a stream are live: `x-speech-chunks` is counted up while the
 * body is read.
 */
export interface SpeechAnswer {
  readonly type: string
  readonly headers: Readonly<Record<string, string>>
  /** Names of headers that are final only when the body has ended; over HTTP they are repeated as trailers. */
  readonly trailers: readonly string[]
  readonly body: AsyncIterable<Uint8Array>
}

/** The form of audio that is sent while it is made: a file, or the events of `word-events.ts`. The names are OpenAI's. */
export type StreamFormat = 'audio' | 'sse'

interface AnswerForm {
  /** How audio is sent while it is made; without it the answer begins when all is spoken. */
  readonly stream?: StreamFormat | undefined
  /** WAV by default. */
  readonly format?: FormatName | undefined
  /** What the tags say. */
  readonly text: string
  readonly voice: unknown
}

/**
 * Speaks a text: a file, which has a length where it is WAV or samples alone, or one that is sent while it is made; with word
 * times always as events. Throws as these ways do, and `invalid` for word times beside another format than WAV.
 */
export async function answerWith(
  speech: Speech,
  { stream, format = 'wav', text, voice }: AnswerForm,
): Promise<SpeechAnswer> {
  if (speech.wordTimes && format !== 'wav')
    throw new AppError('invalid', 'Word times come with WAV alone', {
      details: [`leave out response_format "${format}", or the timestamps`],
    })
  const { type, load } = audioFormat(format)
  const encode = await load()
  const { sampleRate, engine } = speech
  const tags = tagsOf(text, voice, engine)
  const form: EncodedForm = {
    type: format === 'pcm' ? `${type};rate=${sampleRate}` : type,
    encode: (pcm, dataBytes) => encode(pcm, { sampleRate, tags, dataBytes }),
    ...(format === 'wav' && { headerBytes: wavHeaderBytes }),
    ...(format === 'pcm' && { headerBytes: 0 }),
  }
  return stream || speech.wordTimes ? streamed(speech, form, stream) : whole(speech, form)
}

interface EncodedForm {
  readonly type: string
  /** Bytes before the samples; undefined where these are compressed, and the length of the file is not known. */
  readonly headerBytes?: number
  encode(pcm: AsyncIterable<Buffer>, dataBytes?: number): AsyncGenerator<Buffer>
}

async function whole(speech: Speech, { type, headerBytes, encode }: EncodedForm): Promise<SpeechAnswer> {
  const pieces = await speakWhole(speech)
  const size = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const length = headerBytes === undefined ? {} : { 'content-length': String(headerBytes + size) }
  async function* body(): AsyncGenerator<Buffer> {
    yield* pieces
  }
  return { type, headers: { ...headersOf(speech), ...length }, trailers: [], body: encode(body(), size) }
}

/** The first audio is the commit point: a failure before it is thrown here, not in the body. */
async function streamed(
  speech: Speech,
  { type, encode }: EncodedForm,
  stream: StreamFormat | undefined,
): Promise<SpeechAnswer> {
  const audio = speech.pcm(stream !== undefined)
  const first = await audio.next()
  let ended = false
  const headers = {
    ...headersOf(speech),
    get 'x-speech-chunks'() {
      // A chunk that is being spoken counts until all have ended.
      return countOf(speech, ended ? 0 : 1)
    },
  }
  async function* pieces(): AsyncGenerator<Buffer> {
    if (!first.done) yield first.value
    yield* audio
    ended = true
  }
  const trailers = ['x-speech-chunks']
  const file = encode(pieces())
  if (stream === 'sse' || speech.wordTimes)
    return { type: 'text/event-stream', headers, trailers, body: speechEvents(speech, file) }
  return { type, headers, trailers, body: file }
}

/** Speaks all text as mono 16-bit samples, which count as held until `speech.place` is released. Throws `busy`. */
export async function speakWhole(speech: Speech): Promise<readonly Buffer[]> {
  const pieces: Buffer[] = []
  try {
    for await (const piece of speech.pcm(false)) {
      speech.place.keep(piece.length)
      pieces.push(piece)
    }
    return pieces
  } catch (thrown) {
    speech.place.release()
    throw thrown
  }
}

/**
 * `x-speech-engine`, `x-speech-chunks` (`spoken/total` of the chunks and unspoken pieces) and `x-speech-skipped`: the unspoken
 * pieces, percent-encoded and joined by commas, the first 2,000 bytes of them (proxies bound headers at some kilobytes).
 */
function headersOf(speech: Speech): Record<string, string> {
  return {
    'x-speech-engine': speech.engine,
    'x-speech-chunks': countOf(speech),
    ...(speech.unspoken.length > 0 && { 'x-speech-skipped': listOf(speech.unspoken) }),
  }
}

function countOf({ spoken, total }: Speech, least = 0): string {
  return `${Math.max(spoken, least)}/${total}`
}

function listOf(pieces: readonly string[]): string {
  let list = ''
  for (const piece of pieces) {
    const next = encodeURIComponent([...piece].slice(0, 60).join(''))
    if (list.length + next.length > 2000) break
    list += list === '' ? next : `,${next}`
  }
  return list
}

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
async function* speechEvents(speech: Speech, audio: AsyncIterable<Buffer>): AsyncGenerator<Uint8Array> {
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
