import { z } from 'zod'
import { type Permits, requirePlace } from '../src/accounts/accounts.ts'
import { AppError, failureOfStatus } from '../src/errors.ts'
import type { Send } from '../src/http/http.ts'
import type { PluginManifest } from '../src/plugins/plugins.ts'
import { answerWith, type SpeechAnswer, type StreamFormat } from './answer.ts'
import { audioFormat, type FormatName } from './audio/formats.ts'
import { findVoice, isServerId, readManifest, type ServerId, serverIds } from './servers/manifest.ts'
import type { Health, ServiceInput, SpeechService } from './service.ts'

export interface SpeechRouterParts {
  /** The installed tts plugins. */
  plugins(): readonly PluginManifest[]
  active(): PluginManifest | undefined
  keyHeader(plugin: PluginManifest, url: string): Record<string, string> | Promise<Record<string, string>>
  refusedAdvice(plugin: PluginManifest): string
  /** Takes keys out of a server's words. */
  redact(text: string): string
  readonly send: Send
  /** The service of a server in this process, opened once for each variant. */
  open(server: ServerId, variant?: string): SpeechService
}

/** A text to speak with its target. A described or recorded voice is always made in this process. */
export interface RoutedSpeech extends ServiceInput {
  /** A plugin, one of its models, or `plugin:model`. */
  readonly model?: string | undefined
  readonly stream?: boolean | undefined
  /** The same in a named form. */
  readonly stream_format?: StreamFormat | undefined
  /** WAV by default. */
  readonly response_format?: FormatName | undefined
  /** Whether the caller's API key permits a place; without it all are permitted. */
  readonly permits?: Permits | undefined
}

export interface ServerHealth extends Health {
  readonly server: ServerId
  /** The server's address; null where this process answers in its place. */
  readonly url: string | null
}

export type SpeechRouter = ReturnType<typeof createSpeechRouter>

/** Default model names of OpenAI's clients: any speech plugin may answer them. */
const anyModel = /^(?:tts-1(?:-hd)?|gpt-4o(?:-mini)?-tts.*)$/i
/** What every speech server says of itself at `/health`. */
const shortHealth = z.looseObject({ status: z.string(), model_loaded: z.boolean() })
const health = shortHealth.extend({
  engine: z.string(),
  model: z.string(),
  device: z.string(),
  reason: z.exactOptional(z.string()),
})
const timeouts = { connect: 2000, firstByte: 120_000, idle: 60_000 }
/** A whole answer begins when all of it is spoken: the slowest measured engine takes 150 ms for a letter, others may wait before it. */
const slowestMs = 300
/** An error body is read up to this many bytes. */
const errorLimit = 64 * 1024

export function createSpeechRouter(parts: SpeechRouterParts) {
  return {
    /**
     * Speaks by the plugin that the model names, else the active tts plugin, else the first server that has the voice.
     * A shipped plugin that points at a closed port of this machine is answered in this process, and so is one whose own
     * port another program has, which gets no text. A description is spoken by the server that designs voices, a
     * recording by one that clones.
     */
    async speak({ permits, ...request }: RoutedSpeech, signal?: AbortSignal): Promise<SpeechAnswer> {
      const { voice } = request
      if (typeof voice === 'object') {
        const { server, variant } = serverFor(voice.kind, request.model)
        requirePlace(permits, { plugin: server, model: readManifest(server).models[0]! })
        return speakHere(parts.open(server, variant), request, signal)
      }
      const plugin = pluginFor(request.model, voice ?? request.speakers?.[0])
      requirePlace(permits, { plugin: plugin.id, model: modelOf(plugin, request.model) })
      const local = isServerId(plugin.id) ? plugin.id : undefined
      for (const name of request.speakers ?? [voice ?? ''])
        if (local && name && !name.includes('/')) findVoice(readManifest(local), name)
      const answeredHere = local && isLocal(plugin.endpoint) ? local : undefined
      if (answeredHere && hasOwnPort(plugin, answeredHere) && !(await isSpeechServer(plugin.endpoint, signal)))
        return speakHere(parts.open(answeredHere), request, signal)
      try {
        return await ask(plugin, request, signal)
      } catch (reason) {
        if (!answeredHere || !isRefused(reason)) throw explained(plugin, reason)
        return speakHere(parts.open(answeredHere), request, signal)
      }
    },
    /** The place that such a text is spoken at first, for the ledger: null for this machine. Throws as `speak` does. */
    placeOf({ voice, speakers, model }: RoutedSpeech): { readonly plugin: string | null; readonly model: string } {
      if (typeof voice === 'object') return { plugin: null, model: model ?? voice.kind }
      const { id, default_model: name, model_map: list } = pluginFor(model, voice ?? speakers?.[0])
      const chosen = list.find((known) => known === model) ?? name ?? list[0]!
      return { plugin: isServerId(id) ? null : id, model: chosen }
    },
    /** The health of each speech server: of the one that listens at its plugin's address, else of this process. */
    health: (signal?: AbortSignal) => Promise.all(serverIds.map((server) => healthOf(server, signal))),
  }

  async function speakHere(service: SpeechService, request: RoutedSpeech, signal?: AbortSignal): Promise<SpeechAnswer> {
    const speech = await service.speak(request, signal)
    const { input, voice, speakers, response_format: format } = request
    const form = { stream: streamOf(request), format, text: input, voice: voice ?? speakers?.join(', ') }
    const answer = await answerWith(speech, form)
    // From here on the audio is the caller's.
    speech.place.release()
    return answer
  }

  /** Server B always clones; server A where the model names it. */
  function serverFor(kind: 'design' | 'recording', model = ''): { server: ServerId; variant?: string } {
    if (kind === 'design') return { server: 'voxa-tts', variant: 'voicedesign-1.7b' }
    return /^voxa-tts/i.test(model) ? { server: 'voxa-tts', variant: 'base-1.7b' } : { server: 'voxb-tts' }
  }

  async function healthOf(server: ServerId, signal?: AbortSignal): Promise<ServerHealth> {
    const plugin = parts.plugins().find(({ id }) => id === server)
    const address = plugin?.endpoint ?? `http://127.0.0.1:${readManifest(server).port}`
    try {
      return { ...health.parse(await askHealth(address, signal)), server, url: new URL(address).origin }
    } catch {
      signal?.throwIfAborted()
      const service = parts.open(server)
      // `health` then shows the failure.
      await service.load('engine').catch(() => {})
      return { ...service.health(), server, url: null }
    }
  }

  async function askHealth(address: string, signal?: AbortSignal): Promise<unknown> {
    const reply = await parts.send({
      method: 'GET',
      url: new URL('/health', address).href,
      headers: { accept: 'application/json' },
      timeouts: { connect: 1000, firstByte: 5000, idle: 2000 },
      ...(signal ? { signal } : {}),
    })
    return JSON.parse(await reply.text(errorLimit))
  }

  async function isSpeechServer(address: string, signal?: AbortSignal): Promise<boolean> {
    try {
      return shortHealth.safeParse(await askHealth(address, signal)).success
    } catch {
      signal?.throwIfAborted()
      return false
    }
  }

  function pluginFor(model: string | undefined, voice: string | undefined): PluginManifest {
    const installed = parts.plugins()
    const named = model?.toLowerCase()
    const found =
      installed.find(({ id }) => id === named || named?.startsWith(`${id}:`)) ??
      installed.find(({ model_map }) => model_map.some((name) => name.toLowerCase() === named))
    if (found) return found
    if (model && !anyModel.test(model))
      throw new AppError('not_found', `Model "${model.slice(0, 100)}" not found in the speech plugins`, {
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
    const comesAsEvents = request.timestamps || request.stream_format === 'sse'
    const accept = comesAsEvents ? 'text/event-stream' : audioFormat(request.response_format ?? 'wav').type
    const reply = await parts.send({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json', accept, ...(await parts.keyHeader(plugin, url)) },
      body: JSON.stringify(wireBody(plugin, request)),
      timeouts: { ...timeouts, firstByte: Math.max(timeouts.firstByte, slowestMs * request.input.length) },
      ...(signal ? { signal } : {}),
    })
    const type = String(reply.headers['content-type'] ?? '')
    if (reply.status !== 200) throw errorOf(plugin, reply.status, parts.redact(await reply.text(errorLimit)))
    if (!(comesAsEvents ? /^text\/event-stream/i : /^audio\//i).test(type)) {
      reply.discard()
      if (request.timestamps && /^audio\//i.test(type))
        throw new AppError('unavailable', `The plugin ${plugin.id} cannot tell when the words are heard`, {
          details: ['the built-in voice can: aichat tts --model voxb-tts-1.6b, or leave the timestamps out'],
        })
      throw new AppError('protocol', `The plugin ${plugin.id} sent no audio`)
    }
    const headers: Record<string, string> = {}
    for (const name of ['x-speech-engine', 'x-speech-chunks', 'x-speech-skipped', 'content-length'])
      if (typeof reply.headers[name] === 'string') headers[name] = reply.headers[name]
    return { type, headers, trailers: [], body: reply.body as AsyncIterable<Uint8Array> }
  }

  /** The failure in an error answer of aichat's shape or OpenAI's. */
  function errorOf(plugin: PluginManifest, status: number, text: string): AppError {
    const { error, details } = readError(text)
    if (status === 401 || status === 403)
      return new AppError(
        'provider_auth',
        `${plugin.id} refused the key${error ? `: ${error}` : ` (status ${status})`}`,
        {
          details: [...details, parts.refusedAdvice(plugin)],
        },
      )
    return new AppError(failureOfStatus(status), error ?? `The plugin ${plugin.id} answered ${status}`, { details })
  }
}

/** The JSON body for a plugin: the fields of aichat's own speech servers, which include those of OpenAI's API. */
function wireBody(plugin: PluginManifest, request: RoutedSpeech): Record<string, unknown> {
  const { model, voice, language, instruct, cfg_coef, seed, speed, stream, timestamps, keep_directions } = request
  const format = streamOf(request)
  const config = plugin.capabilities?.tts?.config
  return {
    model: modelOf(plugin, model),
    input: request.input,
    ...(request.speakers ? { speakers: request.speakers } : { voice: voice ?? config?.default_voice ?? 'alloy' }),
    response_format: request.response_format ?? 'wav',
    language,
    ...(instruct === undefined ? {} : { instruct, instructions: instruct }),
    cfg_coef,
    seed,
    speed,
    ...(timestamps && { timestamps }),
    ...(keep_directions && { keep_directions }),
    ...(stream && config?.supports_streaming ? { stream: true } : {}),
    // aichat's own servers stream whether or not their table says so, once asked by OpenAI's name for it.
    ...(format && (request.stream_format || isServerId(plugin.id)) ? { stream_format: format } : {}),
  }
}

function streamOf({ stream, stream_format: format }: RoutedSpeech): StreamFormat | undefined {
  return format ?? (stream ? 'audio' : undefined)
}

/** The plugin's model of that name, which may begin with its id, else its first. */
function modelOf({ id, model_map: models }: PluginManifest, asked = ''): string {
  const bare = asked.startsWith(`${id}:`) ? asked.slice(id.length + 1) : asked
  return models.find((name) => name.toLowerCase() === bare.toLowerCase()) ?? models[0]!
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

/** Codes of connect(2) where no server listens on this machine; the latter two where it has no loopback, as in a sandbox. */
const refusals: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ENETUNREACH', 'EADDRNOTAVAIL'])

/** Whether a connection was refused: no server listens there. */
function isRefused(reason: unknown): boolean {
  for (let error = reason; error instanceof Error; error = error.cause)
    if (refusals.has((error as NodeJS.ErrnoException).code)) return true
  return reason instanceof AggregateError && reason.errors.some(isRefused)
}

/** Whether a plugin has the port that its server listens on by default: at another one, its user chose who listens. */
function hasOwnPort({ endpoint }: PluginManifest, server: ServerId): boolean {
  return new URL(endpoint).port === String(readManifest(server).port)
}

function isLocal(endpoint: string): boolean {
  const { hostname } = new URL(endpoint)
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}

/** A failure to reach the plugin's server, with the way to start it. */
function explained(plugin: PluginManifest, reason: unknown): unknown {
  if (reason instanceof AppError || !(reason instanceof Error) || reason.name === 'AbortError') return reason
  return new AppError('unavailable', `The speech server of ${plugin.id} cannot be reached`, {
    details: isServerId(plugin.id)
      ? [`start it: aichat serve ${plugin.id}`]
      : [`its address is ${plugin.endpoint}`, reason.message],
    cause: reason,
  })
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
