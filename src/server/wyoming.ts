/** Wyoming, the protocol by which Home Assistant speaks (https://github.com/OHF-Voice/wyoming): JSON lines with bytes behind them. */
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { z } from 'zod'
import {
  answerWith,
  createQueue,
  listVoices,
  openWavReader,
  type SpeechService,
  speakSentences,
} from '../../speech/speech.ts'
import { AppError, toAppError } from '../errors.ts'
import { version } from '../version.ts'

/** The longest line of a header, and the most bytes behind it; of these, audio is the most that a client sends. */
const [headerLimit, bodyLimit] = [64 * 1024, 1024 * 1024]
/** Characters of a text that comes in chunks. */
const textLimit = 1024 * 1024
/** A client that sends nothing, or takes no audio, for so many milliseconds is cut off. */
const idleMs = 5 * 60_000

const header = z.object({
  type: z.string(),
  data: z.record(z.string(), z.unknown()).nullish(),
  data_length: z.int().min(0).max(bodyLimit).nullish(),
  payload_length: z.int().min(0).max(bodyLimit).nullish(),
})
const voice = z.object({ name: z.string().nullish(), language: z.string().nullish() }).nullish()
const spoken = z.object({ text: z.string().max(textLimit), voice })

interface WyomingEvent {
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
}

/** Listens on a port of this machine (0 picks a free one) and speaks with the service. Throws `unavailable` for a port that is taken. */
export async function openWyoming(service: SpeechService, port: number) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // A reset is an end.
    converse(socket, service).catch(() => socket.destroy())
  })
  const failed = once(server, 'error').then(([cause]) => {
    throw new AppError('unavailable', `Cannot listen on 127.0.0.1:${port} for Wyoming`, { cause })
  })
  failed.catch(() => {})
  server.listen(port, '127.0.0.1')
  await Promise.race([once(server, 'listening'), failed])
  return {
    port: (server.address() as { readonly port: number }).port,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Answers the events of one client until it leaves. An event that makes no sense is answered with `error`, and ends the connection. */
async function converse(socket: Socket, service: SpeechService): Promise<void> {
  const gone = new AbortController()
  socket.on('close', () => gone.abort())
  socket.on('error', () => gone.abort())
  socket.setNoDelay(true).setTimeout(idleMs, () => socket.destroy())
  /** The text that comes in chunks, and its speech. */
  let streamed: { readonly text: ReturnType<typeof createQueue<string>>; readonly done: Promise<void> } | undefined
  let characters = 0

  try {
    for await (const { type, data } of eventsOf(socket.iterator({ destroyOnReturn: false }))) {
      if (type === 'describe') await send('info', infoOf(service))
      else if (type === 'ping') await send('pong', { text: data['text'] ?? null })
      else if (type === 'synthesize-start') {
        streamed?.text.finish()
        await streamed?.done
        const text = createQueue<string>()
        const done = speak(text.pieces(), z.object({ voice }).parse(data).voice)
        // A client that leaves meanwhile is nobody's failure.
        done.catch(() => {})
        streamed = { text, done }
        characters = 0
      } else if (type === 'synthesize-chunk' && streamed) {
        const piece = z.object({ text: z.string() }).parse(data).text
        characters += piece.length
        if (characters > textLimit) throw new AppError('too_large', `The text is longer than ${textLimit} characters`)
        streamed.text.push(piece)
      } else if (type === 'synthesize-stop' && streamed) {
        streamed.text.finish()
        await streamed.done
        streamed = undefined
        await send('synthesize-stopped', {})
      } else if (type === 'synthesize' && !streamed) {
        // Between start and stop it repeats the chunks for servers that take none.
        const { text, voice } = spoken.parse(data)
        await speak(wholeText(text), voice)
      }
    }
  } catch (thrown) {
    if (!gone.signal.aborted) await sendError(thrown)
  } finally {
    streamed?.text.finish()
    socket.resume().end()
  }

  /** Speaks a text as it comes. A failure is sent to the client, and the connection goes on. */
  async function speak(texts: AsyncIterable<string>, wanted: z.output<typeof voice>): Promise<void> {
    const named = wanted?.name || undefined
    const language = named === undefined ? (wanted?.language ?? undefined) : undefined
    const ask = async (input: string) => {
      const speech = await service.speak({ input, voice: named, language }, gone.signal)
      speech.place.release()
      return answerWith(speech, { stream: 'audio', text: input, voice: named })
    }
    const soFar = { spoken: 0, total: 0, skipped: [] }
    try {
      const reader = openWavReader(speakSentences(texts, ask, soFar))
      const form = { rate: (await reader.format()).sampleRate, width: 2, channels: 1 }
      await send('audio-start', form)
      for await (const samples of reader.samples()) await send('audio-chunk', form, samples)
      await send('audio-stop', {})
    } catch (thrown) {
      // Without a word no audio comes, and its reader finds no header.
      const reason =
        soFar.total === 0 && thrown instanceof AppError && thrown.code === 'protocol'
          ? new AppError('invalid', 'The text is empty')
          : thrown
      if (!gone.signal.aborted) await sendError(reason)
    }
  }

  function sendError(thrown: unknown): Promise<void> {
    const { code, message } =
      thrown instanceof z.ZodError ? new AppError('invalid', 'Invalid event') : toAppError(thrown)
    return send('error', { text: message, code })
  }

  async function send(type: string, data: object, payload?: Uint8Array): Promise<void> {
    gone.signal.throwIfAborted()
    const body = Buffer.from(JSON.stringify(data))
    const lengths = { data_length: body.length, ...(payload && { payload_length: payload.length }) }
    const line = `${JSON.stringify({ type, version: version(), ...lengths })}\n`
    const isTaken = socket.write(Buffer.concat([Buffer.from(line), body, payload ?? Buffer.alloc(0)]))
    if (!isTaken) await once(socket, 'drain', { signal: gone.signal })
  }
}

/** The events as they come; payloads are read over. Throws `invalid` for one that is none or is too large. */
async function* eventsOf(bytes: AsyncIterable<Buffer>): AsyncGenerator<WyomingEvent> {
  let waiting: Buffer = Buffer.alloc(0)
  let head: z.output<typeof header> | undefined
  for await (const piece of bytes) {
    waiting = Buffer.concat([waiting, piece])
    for (;;) {
      if (!head) {
        const end = waiting.indexOf('\n')
        if (end > headerLimit || (end < 0 && waiting.length > headerLimit))
          throw new AppError('too_large', `The header of an event is longer than ${headerLimit} bytes`)
        if (end < 0) break
        head = parsed(header, waiting.subarray(0, end))
        waiting = waiting.subarray(end + 1)
      }
      const { data_length: dataBytes, payload_length: payloadBytes } = head
      const size = (dataBytes ?? 0) + (payloadBytes ?? 0)
      if (waiting.length < size) break
      const more = dataBytes ? parsed(z.record(z.string(), z.unknown()), waiting.subarray(0, dataBytes)) : {}
      yield { type: head.type, data: { ...head.data, ...more } }
      waiting = waiting.subarray(size)
      head = undefined
    }
  }
}

function parsed<T extends z.ZodType>(schema: T, bytes: Buffer): z.output<T> {
  try {
    return schema.parse(JSON.parse(bytes.toString()))
  } catch (cause) {
    throw new AppError('invalid', 'Invalid event: expected a line of JSON with type, data_length and payload_length', {
      cause,
    })
  }
}

async function* wholeText(text: string): AsyncGenerator<string> {
  yield text
}

const languageNames = new Intl.DisplayNames('en', { type: 'language' })
const codes = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'zh', 'ja', 'ko', 'ru']

/** What this server is, as `describe` asks. */
function infoOf({ manifest }: SpeechService): object {
  const about = { attribution: { name: 'aichat', url: '' }, installed: true, version: version() }
  const voices = listVoices(manifest).map(({ id, name, language }) => {
    const languages = codes.filter((code) => languageNames.of(code) === language)
    return { name: id, description: name, languages, speakers: null, ...about }
  })
  const { id, name } = manifest
  const tts = [{ name: id, description: name, voices, supports_synthesize_streaming: true, ...about }]
  return { tts, asr: [], handle: [], intent: [], wake: [], mic: [], snd: [] }
}
