import { performance } from 'node:perf_hooks'
import {
  type ChatChunk,
  createGenerateWriter,
  type ExtraContent,
  type JsonObject,
  objectOf,
  ollama,
  readGenerate,
  type StreamWriter,
  writeGenerated,
} from '../chat/chat.ts'
import type { ChatShape } from './dialect-chat.ts'
import type { EventFormat } from './event-stream.ts'

/** The two ways to ask Ollama for a text. */
export type OllamaKind = 'chat' | 'generate'

/** The shape of a request of Ollama's that begins now. */
export function ollamaShape(kind: OllamaKind, model: string, modelOf: (asked: string) => Promise<string>): ChatShape {
  const dialect = kind === 'chat' ? ollama : generate
  const begun = performance.now()
  return {
    id: 'ollama',
    readRequest: dialect.readRequest,
    writeResponse: (reply) => dialect.writeResponse({ ...reply, extra_content: timed(reply.extra_content, begun) }),
    createStreamWriter: (request) => timedWriter(dialect.createStreamWriter(request), begun),
    format: lines(kind, model),
    modelOf,
  }
}

const generate = { readRequest: readGenerate, writeResponse: writeGenerated, createStreamWriter: createGenerateWriter }

/** Lines of JSON; an empty piece of the answer is a sign of life that every client reads. */
function lines(kind: OllamaKind, model: string): EventFormat {
  const piece = kind === 'chat' ? { message: { role: 'assistant', content: '' } } : { response: '' }
  const line = { model, created_at: new Date().toISOString(), ...piece, done: false }
  return { type: 'application/x-ndjson', heartbeat: `${JSON.stringify(line)}\n` }
}

/** Adds the durations to the end of a stream. */
function timedWriter(writer: StreamWriter, begun: number): StreamWriter {
  let first: number | undefined
  return {
    ...writer,
    push(chunk) {
      first ??= performance.now()
      const isLast = chunk.choices.some(({ finish_reason }) => finish_reason)
      return writer.push(isLast ? timedChunk(chunk, begun, first) : chunk)
    },
  }
}

function timedChunk(chunk: ChatChunk, begun: number, first: number): ChatChunk {
  return { ...chunk, extra_content: timed(chunk.extra_content, begun, first) }
}

/**
 * Ollama's durations in nanoseconds, where the runner behind did not tell them. `first` is the time of the first piece; of a
 * whole answer the parts are not known, and each is at most the total.
 */
function timed(extra: ExtraContent | undefined, begun: number, first?: number): ExtraContent {
  const now = performance.now()
  const durations = {
    total_duration: nanoseconds(now - begun),
    load_duration: 0,
    prompt_eval_duration: nanoseconds((first ?? now) - begun),
    eval_duration: nanoseconds(now - (first ?? begun)),
  }
  return { ...extra, ollama: { ...durations, ...objectOf(extra?.['ollama']) } }
}

/** At least 1: clients divide by them. */
export function nanoseconds(milliseconds: number): number {
  return Math.max(1, Math.round(milliseconds * 1e6))
}

/**
 * The answer to a request without a prompt or messages, which loads a model, or unloads it with `keep_alive: 0`: nothing is
 * to be done here. Undefined for any other request.
 */
export function loadedAnswer(kind: OllamaKind, body: unknown, model: string): JsonObject | undefined {
  const { prompt, messages, images, keep_alive } = objectOf(body)
  const isEmpty = kind === 'chat' ? isNothing(messages) : isNothing(prompt) && isNothing(images)
  if (!isEmpty) return undefined
  return {
    model,
    created_at: new Date().toISOString(),
    ...(kind === 'chat' ? { message: { role: 'assistant', content: '' } } : { response: '' }),
    done: true,
    done_reason: keep_alive === 0 || keep_alive === '0' || keep_alive === '0s' ? 'unload' : 'load',
  }
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
}
