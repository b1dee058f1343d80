/**
 * The process in which one engine lives, so that a crash or hang of native code ends this process and nothing else.
 * It takes one call at a time from its parent and ends when the parent is gone.
 */
import { toAppError } from '../src/errors.ts'
import type { EngineModule, SpeechEngine, VoiceHandle } from './engines/engine.ts'
import type { FromEngine, PlainError, ToEngine } from './engines/messages.ts'

let engine: SpeechEngine | undefined
const voices = new Map<string, VoiceHandle>()
const calls = new Map<number, AbortController>()

process.on('message', (message: ToEngine) => void take(message))
// The parent decides when to stop: a Ctrl-C in the terminal reaches this process too, while answers are still in flight.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})
process.on('disconnect', () => void engine?.close())

async function take(message: ToEngine): Promise<void> {
  switch (message.type) {
    case 'open':
      return open(message.module, message.options)
    case 'prepare':
      return attempt(message.call, async (signal) => {
        voices.set(message.key, await opened().prepareVoice(message.source, signal))
      })
    case 'forget':
      voices.delete(message.key)
      return
    case 'synthesize':
      return attempt(message.call, async (signal) => {
        const voice = voices.get(message.key)
        if (!voice) throw new Error('the voice was not prepared')
        for await (const samples of opened().synthesize({ ...message.request, voice }, signal))
          send({ type: 'audio', call: message.call, samples })
      })
    case 'cancel':
      calls.get(message.call)?.abort()
      return
  }
}

async function open(address: string, options: Readonly<Record<string, unknown>>): Promise<void> {
  try {
    const module = (await import(address)) as EngineModule
    const created = await module.createEngine(options)
    await created.load()
    engine = created
    send({ type: 'ready', id: created.id, sampleRate: created.sampleRate, capabilities: created.capabilities })
  } catch (thrown) {
    send({ type: 'unusable', error: plain(thrown) })
  }
}

async function attempt(call: number, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const controller = new AbortController()
  calls.set(call, controller)
  try {
    await work(controller.signal)
    send({ type: 'done', call })
  } catch (thrown) {
    send({ type: 'failed', call, error: plain(thrown) })
  } finally {
    calls.delete(call)
  }
}

function opened(): SpeechEngine {
  if (!engine) throw new Error('the engine is not open')
  return engine
}

function send(message: FromEngine): void {
  // A parent that has just gone is not an error of this process.
  if (process.connected) process.send?.(message, undefined, {}, () => {})
}

function plain(thrown: unknown): PlainError {
  const { code, message, details, cause } = toAppError(thrown)
  const reason = cause instanceof Error ? `${cause.name}: ${cause.message}` : undefined
  return { code, message, details, ...(reason === undefined ? {} : { cause: reason.slice(0, 500) }) }
}
