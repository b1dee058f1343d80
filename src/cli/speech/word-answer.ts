import { Readable } from 'node:stream'
import type { SpeechEvent, WordTime } from '../../../speech/speech.ts'
import { createEventReader } from '../../chat/chat.ts'
import { AppError } from '../../errors.ts'
import type { Download } from '../../operations/operations.ts'

/** The words of an answer, complete when its audio has been read. */
export interface HeardWords {
  readonly words: WordTime[]
  /** Whether the engine guessed the times. */
  estimated: boolean
}

/** Divides an answer with word times. Throws `unavailable` for a server that sent the audio alone. */
export function readWordAnswer(answer: Download): { readonly audio: Download; readonly heard: HeardWords } {
  if (!/^text\/event-stream/i.test(answer.type)) {
    if (answer.body instanceof Readable) answer.body.destroy()
    throw new AppError('unavailable', 'The server does not tell when the words are heard', {
      details: ['it is older than this program: leave --timestamps out, or use --local'],
    })
  }
  const heard: HeardWords = { words: [], estimated: false }
  const counts: Record<string, string> = {}
  async function* audio(): AsyncGenerator<Uint8Array> {
    const reader = createEventReader()
    let isDone = false
    for await (const piece of answer.body as AsyncIterable<Uint8Array>)
      for (const { data } of reader.push(piece)) {
        const event = readEvent(data)
        if (event.type === 'speech.audio.delta') yield Buffer.from(event.audio, 'base64')
        else if (event.type === 'speech.audio.words') {
          for (const word of event.words) heard.words.push(word)
          heard.estimated ||= event.estimated
        } else if (event.type === 'speech.audio.done') {
          counts['x-speech-chunks'] = `${event.spoken}/${event.total}`
          isDone = true
        } else if (event.type === 'error') throw new AppError('unavailable', event.error, { details: event.details })
      }
    if (!isDone) throw new AppError('protocol', 'The speech server broke its answer off')
  }
  // The counts of the last event replace those of a header that came before the audio.
  const headers = new Proxy(answer.headers, { get: (of, name: string) => counts[name] ?? of[name] })
  return { audio: { ...answer, type: 'audio/wav', headers, body: audio() }, heard }
}

function readEvent(data: string): SpeechEvent {
  try {
    const event: unknown = JSON.parse(data)
    if (typeof event === 'object' && event !== null && 'type' in event) return event as SpeechEvent
  } catch {
    // Falls through to the error.
  }
  throw new AppError('protocol', 'Invalid event from the speech server')
}
