import { send } from '../../wire/client.ts'
import { fromPcm16, readHeader, wavOf } from '../../wire/wav.ts'

/** Speech that was heard: the whole of it as a file, and the engine that made it. */
export interface Heard {
  readonly wav: Blob
  readonly seconds: number
  readonly engine: string
}

export interface SpeechRequest {
  readonly path: '/api/speech' | '/api/speech/clone'
  readonly body: Readonly<Record<string, unknown>>
  readonly signal: AbortSignal
  /** Called when the first sound is heard, after so many milliseconds. */
  readonly onBegin: (ms: number) => void
}

/** How far ahead the first sound is scheduled: seconds. Later pieces then arrive in time. */
const leadSeconds = 0.08

/** Speaks and plays sound as it arrives. Resolves at its end; throws `Refused`, or an AbortError when stopped. */
export async function speakAloud({ path, body, signal, onBegin }: SpeechRequest): Promise<Heard> {
  const begunAt = performance.now()
  const context = new AudioContext()
  let isOver = false
  // A context can be closed once: sound that was heard to its end may be stopped afterwards, or its page left.
  const end = () => {
    if (!isOver) void context.close()
    isOver = true
  }
  signal.addEventListener('abort', end)
  const pieces: Uint8Array<ArrayBuffer>[] = []
  let format: { sampleRate: number } | undefined
  let rest: Uint8Array<ArrayBuffer> = new Uint8Array()
  let playAt = 0
  const play = (samples: Float32Array<ArrayBuffer>, sampleRate: number) => {
    if (playAt === 0) onBegin(Math.round(performance.now() - begunAt))
    const buffer = context.createBuffer(1, samples.length, sampleRate)
    buffer.copyToChannel(samples, 0)
    const source = context.createBufferSource()
    source.buffer = buffer
    source.connect(context.destination)
    playAt = Math.max(playAt, context.currentTime + leadSeconds)
    source.start(playAt)
    playAt += buffer.duration
  }
  const engine = await receive().finally(() => {
    // Closes after the audio received so far has been played: at once where the request was refused.
    if (playAt === 0) end()
    else setTimeout(end, Math.max(0, playAt - context.currentTime + 1) * 1000)
  })
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const sampleRate = format?.sampleRate ?? 24_000
  return { wav: wavOf(pieces, sampleRate), seconds: bytes / 2 / sampleRate, engine }

  /** Plays and keeps each piece as it arrives; resolves with the engine that made them. */
  async function receive(): Promise<string> {
    const response = await send('POST', path, { body: { ...body, stream: true }, signal })
    const reader = response.body!.getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return response.headers.get('x-speech-engine') ?? ''
      rest = joined(rest, value)
      const header = format ? undefined : readHeader(rest)
      if (header) {
        format = header
        rest = rest.slice(header.start)
      }
      const even = rest.length & ~1
      if (!format || even === 0) continue
      const piece = rest.slice(0, even)
      rest = rest.slice(even)
      pieces.push(piece)
      play(fromPcm16(piece), format.sampleRate)
    }
  }
}

function joined(first: Uint8Array<ArrayBuffer>, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(first.length + second.length)
  all.set(first)
  all.set(second, first.length)
  return all
}
