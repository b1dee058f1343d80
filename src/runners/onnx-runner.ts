import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type ChatChunk,
  type ChatRequest,
  collectReply,
  type Delta,
  DialectError,
  defaultTimeouts,
  type FinishReason,
  type Message,
  type Target,
  textOf,
  withoutUnseen,
} from '../chat/chat.ts'
import { AppError } from '../errors.ts'
import type { GenerationRequest } from './model-messages.ts'
import { createModelProcess, type ModelProcess, QueueFull } from './model-process.ts'
import type { PlainMessage } from './prompt.ts'

export interface ModelFolder {
  readonly name: string
  readonly folder: string
}

/** The runner without another program: pulled models, each in a process of its own. */
export type OnnxRunner = ReturnType<typeof createOnnxRunner>

export interface OnnxRunnerParts {
  /** The chat models that are installed now, by preference. */
  readonly installed: () => readonly ModelFolder[]
  readonly preferred: string | undefined
  /** Milliseconds since 1970 UTC. */
  readonly clock: () => number
  readonly open?: (folder: ModelFolder) => ModelProcess
}

/** A retry waits for a new process to load its model; a full queue drains in some seconds. Milliseconds. */
const retry = { attempts: 2, budgetMs: 10_000 }
const busyMs = 5_000

export function createOnnxRunner({ installed, preferred, clock, open = openProcess }: OnnxRunnerParts) {
  const processes = new Map<string, ModelProcess>()
  const targets = new Map<string, Target>()
  return {
    /** The names of the chat models that can answer. */
    models: () => installed().map(({ name }) => name),
    /**
     * The requested model if it is installed, else the preferred one, else the first; undefined when none is installed.
     */
    target(requested: string | undefined): Target | undefined {
      const models = installed()
      const named = (name: string | undefined) => models.find((model) => model.name === name)
      const model = named(requested) ?? named(preferred) ?? models[0]
      return model && targetFor(model)
    },
    async close() {
      await Promise.all([...processes.values()].map((process) => process.close()))
    },
  }

  function targetFor(model: ModelFolder): Target {
    const key = `${model.name} ${model.folder}`
    const known = targets.get(key)
    if (known) return known
    const process = open(model)
    processes.set(key, process)
    const target = onnxTarget(model, process, clock)
    targets.set(key, target)
    return target
  }
}

function openProcess({ name, folder }: ModelFolder): ModelProcess {
  return createModelProcess({ kind: 'chat', name, folder })
}

/** The target that answers chats with one model in its process. */
export function onnxTarget({ name, folder }: ModelFolder, model: ModelProcess, clock: () => number): Target {
  return {
    plugin: null,
    runner: 'embedded',
    model: name,
    contextTokens: contextIn(folder),
    timeouts: defaultTimeouts,
    retry,
    identity: folder,
    async ask(request, signal) {
      const chunks: ChatChunk[] = []
      for await (const chunk of answer(request, signal)) chunks.push(chunk)
      return collectReply(chunks)
    },
    stream: async (request, signal) => answer(request, signal),
    leftOut: (request) => [
      ...(request.tools?.length ? ['tools: left out, since the model on this machine calls none'] : []),
      ...asText(request).warnings,
    ],
    preview: (request) => ({ url: `embedded:${name}`, headers: {}, body: generationRequest(request) }),
  }

  async function* answer(request: ChatRequest, signal: AbortSignal | undefined): AsyncGenerator<ChatChunk> {
    const question = generationRequest(request)
    const created = Math.floor(clock() / 1000)
    const base = { id: `chatcmpl-${created}-${Math.random().toString(36).slice(2, 10)}`, created, model: name }
    const chunk = (delta: Delta, reason: FinishReason | null = null): ChatChunk => ({
      ...base,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, finish_reason: reason }],
    })
    const pieces = model.generate(question, signal)
    try {
      yield chunk({ role: 'assistant', content: '' })
      for (;;) {
        const next = await pieces.next()
        if (!next.done) {
          yield chunk({ content: next.value })
          continue
        }
        const { reason, promptTokens, answerTokens } = next.value
        yield chunk({}, reason)
        const usage = {
          prompt_tokens: promptTokens,
          completion_tokens: answerTokens,
          total_tokens: promptTokens + answerTokens,
        }
        yield { ...base, object: 'chat.completion.chunk', choices: [], usage }
        return
      }
    } catch (reason) {
      throw asProvider(reason)
    } finally {
      await pieces.return(undefined as never)
    }
  }
}

/** The context window in the configuration of a model, in tokens; undefined where none can be read there. */
function contextIn(folder: string): number | undefined {
  try {
    const { max_position_embeddings: context } = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'))
    return typeof context === 'number' && context > 0 ? context : undefined
  } catch {
    return undefined
  }
}

/** Converts a chat request. Throws the error that a provider would report for unsupported options. */
export function generationRequest(asked: ChatRequest): GenerationRequest {
  const { request } = asText(asked)
  const problems = problemsOf(request)
  if (problems.length > 0) throw refused(`The model on this machine ${problems.join(' and ')}`)
  const {
    stop,
    seed,
    temperature,
    top_p: topP,
    top_k: topK,
    max_tokens: most,
    max_completion_tokens: mostNew,
  } = request
  const number = (value: unknown) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined)
  const repetition = number(request['repetition_penalty']) ?? number(request['repeat_penalty'])
  return {
    messages: request.messages.map(plainMessage),
    sampling: {
      ...defined('temperature', number(temperature)),
      ...defined('topP', number(topP)),
      ...defined('topK', number(topK)),
      ...defined('repetitionPenalty', repetition !== undefined && repetition > 0 ? repetition : undefined),
      ...defined('presencePenalty', number(request.presence_penalty)),
      ...defined('frequencyPenalty', number(request.frequency_penalty)),
      ...defined('seed', number(seed)),
    },
    ...defined('maxTokens', number(mostNew) ?? number(most)),
    stop: [stop ?? []].flat().filter((text) => typeof text === 'string' && text !== ''),
  }
}

/** Pictures, sounds and files are replaced by a text that says so. */
function asText(request: ChatRequest) {
  const named = { ...request, model: 'the model on this machine' }
  return withoutUnseen(named, undefined, { image: false, audio: false, file: false })
}

function problemsOf(request: ChatRequest): readonly string[] {
  const format = request.response_format?.type
  const choice = request.tool_choice
  const parts = request.messages.flatMap(({ content }) => (Array.isArray(content) ? content : []))
  return [
    ...((request.n ?? 1) > 1 ? ['gives one answer at a time'] : []),
    ...(format !== undefined && format !== 'text' ? ['cannot promise JSON'] : []),
    ...(choice === 'required' || typeof choice === 'object' ? ['cannot be made to call tools'] : []),
    ...(parts.some((part) => part.type !== 'text') ? ['reads text only'] : []),
  ]
}

function plainMessage({ role, content }: Message): PlainMessage {
  return { role: role === 'developer' ? 'system' : role, content: textOf(content) }
}

function defined<K extends string, V>(key: K, value: V | undefined): { readonly [key in K]?: V } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [key in K]?: V })
}

function refused(message: string): DialectError {
  return new DialectError('reported', {
    message,
    type: 'invalid_request_error',
    code: 'unsupported_value',
    status: 400,
  })
}

/** Converts an error to the form in which a provider would report it, so that it is retried and shown as theirs are. */
function asProvider(reason: unknown): unknown {
  if (reason instanceof QueueFull)
    return new DialectError('reported', {
      message: reason.message,
      code: 'rate_limit_exceeded',
      status: 429,
      retryAfterMs: busyMs,
    })
  if (reason instanceof AppError && reason.code === 'too_large')
    return new DialectError('reported', { message: reason.message, code: 'context_length_exceeded', status: 400 })
  return reason
}
