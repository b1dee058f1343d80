import { z } from 'zod'
import { AppError, failureOfStatus } from '../src/errors.ts'
import type { Send } from '../src/http/send.ts'
import type { PluginManifest } from '../src/plugins/manifest.ts'
import { wavHeader } from './audio/wav.ts'
import { findVoice, isServerId, readManifest, type ServerId, serverIds } from './servers/manifest.ts'
import type { Health, SpeechService } from './service.ts'
import { type Speech, speakWhole, speechHeaders } from './synthesis.ts'

export interface SpeechRouterParts {
  /** The installed tts plugins. */
  plugins(): readonly PluginManifest[]
  active(): PluginManifest | undefined
  keyHeader(plugin: PluginManifest, url: string): Record<string, string> | Promise<Record<string, string>>
  readonly send: Send
  /** The service of a server in this process, opened once for each variant. */
  open(server: ServerId, variant?: string): SpeechService
}

export interface RoutedSpeech {
  readonly input: string
  /** A plugin, one of its models, or `plugin:model`. */
  readonly model?: string | undefined
  readonly voice?: string | undefined
  readonly language?: string | undefined
  readonly instruct?: string | undefined
  readonly cfgCoefficient?: number | undefined
  readonly stream?: boolean | undefined
}

/**
 * Audio on its way, with the headers that say who speaks and what was skipped. In this process the headers of a stream
 * are live: `x-speech-chunks` counts on while the body is read.
 */
export interface SpeechAnswer {
  readonly type: string
  readonly headers: Readonly<Record<string, string>>
  /** The headers whose value is final only when the body has ended. */
  readonly counting?: readonly string[]
  readonly body: AsyncIterable<Uint8Array>
}

export interface ServerHealth extends Health {
  readonly server: ServerId
  /** Where the server listens; null where this process answers in its place. */
  readonly url: string | null
}

export interface SpeechRouter {
  /**
   * Speaks: by the plugin the model names, else the active tts plugin, else the first server that has the voice. A plugin
   * that points at a server of this machine where nothing listens is answered in this process.
   */
  speak(request: RoutedSpeech, signal?: AbortSignal): Promise<SpeechAnswer>
  /** How each speech server is: the one that listens at its plugin's address, else this process. */
  health(signal?: AbortSignal): Promise<readonly ServerHealth[]>
  /** A voice from a description, by the server that designs voices, in this process. */
  design(request: RoutedSpeech & { readonly description: string }, signal?: AbortSignal): Promise<SpeechAnswer>
  /** The voice of a WAV recording, in this process. */
  clone(
    request: RoutedSpeech & { readonly clip: Uint8Array; readonly clipText?: string | undefined },
    signal?: AbortSignal,
  ): Promise<SpeechAnswer>
}

/** Model names that OpenAI's clients send without thinking: they mean whatever speaks here. */
const anyModel = /^(?:tts-1(?:-hd)?|gpt-4o(?:-mini)?-tts.*)$/i
const health = z.looseObject({
  status: z.string(),
  model_loaded: z.boolean(),
  engine: z.string(),
  model: z.string(),
  device: z.string(),
  reason: z.exactOptional(z.string()),
})
const timeouts = { connect: 2000, firstByte: 120_000, idle: 60_000 }
/** An error body is read up to this many bytes. */
const errorLimit = 64 * 1024

export function createSpeechRouter(parts: SpeechRouterParts): SpeechRouter {
  return {
    async speak(request, signal) {
      const plugin = pluginFor(request)
      const local = isServerId(plugin.id) ? plugin.id : undefined
      if (local && request.voice && !request.voice.includes('/')) findVoice(readManifest(local), request.voice)
      try {
        return await ask(plugin, request, signal)
      } catch (reason) {
        if (!local || !isAbsent(reason) || !isLocal(plugin.endpoint)) throw told(plugin, reason)
        return answer(await parts.open(local).speak(request, signal), request.stream)
      }
    },
    async design(request, signal) {
      return answer(await parts.open('voxa-tts', 'voicedesign-1.7b').design(request, signal), request.stream)
    },
    health: (signal) => Promise.all(serverIds.map((server) => healthOf(server, signal))),
    async clone(request, signal) {
      // Server B always clones; server A where it is asked for by name.
      const service = /^voxa-tts/i.test(request.model ?? '')
        ? parts.open('voxa-tts', 'base-1.7b')
        : parts.open('voxb-tts')
      return answer(await service.clone(request, signal), request.stream)
    },
  }

  async function healthOf(server: ServerId, signal?: AbortSignal): Promise<ServerHealth> {
    const plugin = parts.plugins().find(({ id }) => id === server)
    const url = new URL('/health', plugin?.endpoint ?? `http://127.0.0.1:${readManifest(server).port}`)
    try {
      const reply = await parts.send({
        method: 'GET',
        url: url.href,
        headers: { accept: 'application/json' },
        timeouts: { connect: 1000, firstByte: 2000, idle: 2000 },
        ...(signal ? { signal } : {}),
      })
      return { ...health.parse(JSON.parse(await reply.text(errorLimit))), server, url: url.origin }
    } catch {
      signal?.throwIfAborted()
      const service = parts.open(server)
      // A failure is what `health` then says.
      await service.load().catch(() => {})
      return { ...service.health(), server, url: null }
    }
  }

  function pluginFor({ model, voice }: RoutedSpeech): PluginManifest {
    const installed = parts.plugins()
    const named = model?.toLowerCase()
    const found =
      installed.find(({ id }) => id === named || named?.startsWith(`${id}:`)) ??
      installed.find(({ model_map }) => model_map.some((name) => name.toLowerCase() === named))
    if (found) return found
    if (model && !anyModel.test(model))
      throw new AppError('not_found', `No speech plugin has the model "${model.slice(0, 100)}"`, {
        details: [`models: ${installed.flatMap(({ model_map }) => model_map).join(', ')}`],
      })
    const chosen = parts.active() ?? installed.find(({ id }) => id === serverOfVoice(voice)) ?? installed[0]
    if (chosen) return chosen
    throw new AppError('unavailable', 'No speech plugin is installed', {
      details: ['install one: aichat plugin install'],
    })
  }

  async function ask(plugin: PluginManifest, request: RoutedSpeech, signal?: AbortSignal): Promise<SpeechAnswer> {
    const url = plugin.capabilities?.tts?.endpoint ?? plugin.endpoint
    const reply = await parts.send({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json', accept: 'audio/wav', ...(await parts.keyHeader(plugin, url)) },
      body: JSON.stringify(wireBody(plugin, request)),
      timeouts,
      ...(signal ? { signal } : {}),
    })
    const type = String(reply.headers['content-type'] ?? '')
    if (reply.status !== 200) throw await refused(plugin, reply.status, await reply.text(errorLimit))
    if (!/^audio\//i.test(type)) {
      reply.discard()
      throw new AppError('protocol', `The plugin ${plugin.id} answered with something that is no audio`)
    }
    const headers: Record<string, string> = {}
    for (const name of ['x-speech-engine', 'x-speech-chunks', 'x-speech-skipped', 'content-length'])
      if (typeof reply.headers[name] === 'string') headers[name] = reply.headers[name]
    return { type, headers, body: reply.body as AsyncIterable<Uint8Array> }
  }
}

/** A server of our own takes its own fields; a provider of OpenAI's kind at least the common ones. */
function wireBody(plugin: PluginManifest, request: RoutedSpeech): Record<string, unknown> {
  const { model = '', voice, language, instruct, cfgCoefficient, stream } = request
  const bare = model.startsWith(`${plugin.id}:`) ? model.slice(plugin.id.length + 1) : model
  const known = plugin.model_map.find((name) => name.toLowerCase() === bare.toLowerCase())
  const config = plugin.capabilities?.tts?.config
  return {
    model: known ?? plugin.model_map[0],
    input: request.input,
    voice: voice ?? config?.default_voice ?? 'alloy',
    response_format: 'wav',
    ...(language === undefined ? {} : { language }),
    ...(instruct === undefined ? {} : { instruct, instructions: instruct }),
    ...(cfgCoefficient === undefined ? {} : { cfg_coef: cfgCoefficient }),
    ...(stream && config?.supports_streaming ? { stream: true } : {}),
  }
}

/** The first server that has a voice of this name; the small one where no voice is named. */
function serverOfVoice(voice: string | undefined): ServerId {
  const order: readonly ServerId[] = ['voxb-tts', 'voxa-tts', 'voxb-tts-1.6b']
  if (voice === undefined || voice.includes('/')) return 'voxb-tts'
  return order.find((id) => hasVoice(id, voice)) ?? 'voxb-tts'
}

function hasVoice(id: ServerId, voice: string): boolean {
  try {
    findVoice(readManifest(id), voice)
    return true
  } catch {
    return false
  }
}

async function answer(speech: Speech, stream: boolean | undefined): Promise<SpeechAnswer> {
  if (!stream) {
    const pieces = await speakWhole(speech)
    // From here on they are the caller's.
    speech.place.release()
    const size = pieces.reduce((sum, piece) => sum + piece.length, 0)
    const headers = { ...speechHeaders(speech), 'content-length': String(size) }
    return { type: 'audio/wav', headers, body: each(pieces) }
  }
  const audio = speech.pcm(true)
  // The first audio is the commit point: a failure before it is an error and not a broken file.
  const first = await audio.next()
  let over = false
  const headers = {
    ...speechHeaders(speech),
    get 'x-speech-chunks'() {
      return speechHeaders(speech, over ? 0 : 1)['x-speech-chunks']!
    },
  }
  async function* body(): AsyncGenerator<Uint8Array> {
    if (!first.done) yield Buffer.concat([wavHeader(speech.sampleRate), first.value])
    yield* audio
    over = true
  }
  return { type: 'audio/wav', headers, counting: ['x-speech-chunks'], body: body() }
}

async function* each(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces
}

/** Nobody listens there. */
function isAbsent(reason: unknown): boolean {
  for (let error = reason; error instanceof Error; error = error.cause)
    if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return true
  return reason instanceof AggregateError && reason.errors.some(isAbsent)
}

function isLocal(endpoint: string): boolean {
  const { hostname } = new URL(endpoint)
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}

function told(plugin: PluginManifest, reason: unknown): unknown {
  if (reason instanceof AppError || !(reason instanceof Error) || reason.name === 'AbortError') return reason
  return new AppError('unavailable', `The speech server of ${plugin.id} cannot be reached`, {
    details: isServerId(plugin.id) ? [`start it: aichat serve ${plugin.id}`] : [`it should be at ${plugin.endpoint}`],
    cause: reason,
  })
}

/** An error answer in the house's shape or OpenAI's, with the same class of failure. */
async function refused(plugin: PluginManifest, status: number, text: string): Promise<AppError> {
  const { error, details } = readError(text)
  const code = status === 401 || status === 403 ? 'unavailable' : failureOfStatus(status)
  return new AppError(code, error ?? `The plugin ${plugin.id} answered ${status}`, { details })
}

function readError(text: string): { readonly error?: string; readonly details: readonly string[] } {
  try {
    const { error, details } = JSON.parse(text) as { error?: unknown; details?: unknown }
    const message = typeof error === 'string' ? error : (error as { message?: unknown } | undefined)?.message
    return {
      ...(typeof message === 'string' ? { error: message.slice(0, 500) } : {}),
      details: Array.isArray(details) ? details.filter((line) => typeof line === 'string') : [],
    }
  } catch {
    return { details: [] }
  }
}
