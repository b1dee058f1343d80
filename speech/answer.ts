import { wavHeader } from './audio/wav.ts'
import type { Speech } from './speaking.ts'
import { speechEvents } from './word-events.ts'

/**
 * A WAV file to be sent, or server-sent events with its pieces and its words; with headers that name the engine and the
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

/** The form of audio that is sent while it is made: a WAV file, or the events of `word-events.ts`. The names are OpenAI's. */
export type StreamFormat = 'audio' | 'sse'

/**
 * Speaks a text: a WAV file with its length, or with a format one that is sent while it is made; with word times always as
 * events. Throws as these ways do.
 */
export function answerWith(speech: Speech, format: StreamFormat | undefined): Promise<SpeechAnswer> {
  return format || speech.wordTimes ? streamed(speech, format) : whole(speech)
}

async function whole(speech: Speech): Promise<SpeechAnswer> {
  const pieces = await speakWhole(speech)
  const size = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const headers = { ...headersOf(speech), 'content-length': String(size) }
  async function* body(): AsyncGenerator<Buffer> {
    yield* pieces
  }
  return { type: 'audio/wav', headers, trailers: [], body: body() }
}

/** The first audio is the commit point: a failure before it is thrown here, not in the body. */
async function streamed(speech: Speech, format: StreamFormat | undefined): Promise<SpeechAnswer> {
  const audio = speech.pcm(format !== undefined)
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
  async function* wav(): AsyncGenerator<Buffer> {
    let header: Buffer | undefined = wavHeader(speech.sampleRate)
    for await (const piece of pieces()) {
      yield header ? Buffer.concat([header, piece]) : piece
      header = undefined
    }
  }
  const trailers = ['x-speech-chunks']
  if (format === 'sse' || speech.wordTimes)
    return { type: 'text/event-stream', headers, trailers, body: speechEvents(speech, pieces()) }
  return { type: 'audio/wav', headers, trailers, body: wav() }
}

/**
 * Speaks the whole text: the parts of one WAV file, the header first. Their lengths add up to the size in the header. They
 * count against the audio budget until `speech.place` is released. Throws `busy` when the budget is used up.
 */
export async function speakWhole(speech: Speech): Promise<readonly Buffer[]> {
  const pieces: Buffer[] = []
  let size = 0
  try {
    for await (const piece of speech.pcm(false)) {
      speech.place.keep(piece.length)
      pieces.push(piece)
      size += piece.length
    }
  } catch (thrown) {
    speech.place.release()
    throw thrown
  }
  return [wavHeader(speech.sampleRate, size), ...pieces]
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
