import { createQueue, speakSentences } from '../../speech/speech.ts'
import type { ChatChunk } from '../chat/chat.ts'
import { toAppError } from '../errors.ts'
import type { Call } from './operation.ts'
import { speak } from './speech.ts'
import type { SpeechWish, SpokenPart } from './speech-wish.ts'

/** Bytes of audio in one event: a second of speech. */
const eventBytes = 48 * 1024

/**
 * The chunks of an answer as they come, and between them chunks without choices that speak its first choice sentence by sentence.
 * A text that cannot be spoken ends the speech alone. Throws as the answer does.
 */
export async function* withSpeech(
  call: Call,
  chunks: AsyncIterable<ChatChunk>,
  { voice = call.app.settings.voice, speed, ...wish }: SpeechWish,
): AsyncGenerator<ChatChunk> {
  const { signal } = call
  const stop = new AbortController()
  signal?.addEventListener('abort', () => stop.abort(signal.reason), { once: true, signal: stop.signal })
  const speaking = { ...call, signal: stop.signal, watch: undefined }
  const ask = (input: string) =>
    speak(speaking, { ...wish, ...(speed !== undefined && { speed }), voice, input, stream: true })
  const text = createQueue<string>()
  const soFar = { spoken: 0, total: 0, skipped: [] as string[] }
  const speech = speakSentences(text.pieces(), ask, soFar, speed)
  /** Both sources are read at the same time; each result says which one it is of. */
  const source = chunks[Symbol.asyncIterator]()
  const readChunk = () => {
    const reading = source.next().then((result) => ({ chunk: result }))
    // A failure is thrown where it is read, which may be later.
    reading.catch(() => {})
    return reading
  }
  const readAudio = () =>
    speech.next().then(
      (result) => ({ audio: result }),
      (failure: unknown) => ({ failure }),
    )
  let next: ReturnType<typeof readChunk> | undefined = readChunk()
  let sound: ReturnType<typeof readAudio> | undefined = readAudio()
  let last: ChatChunk | undefined
  const spoken = (part: SpokenPart) => ({ ...last!, choices: [], usage: null, aichat: { speech: part } })
  try {
    while (next || sound) {
      const came = await Promise.race([next, sound].filter((reading) => reading !== undefined))
      if ('chunk' in came) {
        if (came.chunk.done) {
          next = undefined
          text.finish()
          continue
        }
        last = came.chunk.value
        for (const { index, delta } of last.choices)
          if (index === 0 && typeof delta.content === 'string') text.push(delta.content)
        next = readChunk()
        yield last
      } else if ('failure' in came || came.audio.done) {
        sound = undefined
        if (!last || soFar.total + ('failure' in came ? 1 : 0) === 0) continue
        if (!('failure' in came)) yield spoken({ ...soFar })
        else {
          const { message, code } = toAppError(came.failure)
          yield spoken({ ...soFar, error: message, code })
        }
      } else {
        sound = readAudio()
        const audio = Buffer.from(came.audio.value)
        for (let at = 0; at < audio.length; at += eventBytes)
          yield spoken({ audio: audio.toString('base64', at, Math.min(audio.length, at + eventBytes)) })
      }
    }
  } finally {
    stop.abort()
    text.finish()
    // What was begun ends by itself, and nobody waits for it.
    if (next) source.return?.().catch(() => {})
    if (sound) speech.return(undefined).catch(() => {})
  }
}
