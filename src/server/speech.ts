import type { IncomingMessage } from 'node:http'
import { answerWith, listVoices, type SpeechService } from '../../speech/speech.ts'
import { AppError } from '../errors.ts'
import { Download } from '../operations/operations.ts'
import { type MountParts, mount, type NodeHandler } from './http-server.ts'
import { metricsRoute } from './metrics-route.ts'
import { type RequestContext, sendJson } from './request-context.ts'
import { type Route, sendDownload } from './routes.ts'
import {
  type FileInput,
  invalidNames,
  readCloneForm,
  readCloneUrlBody,
  readDesignBody,
  readSpeechBody,
} from './speech-body.ts'

/** A listener that has not taken a piece of audio (some seconds of it) within this many milliseconds is cut off. */
const usualWriteTimeoutMs = 60_000

/** A speech server: one app for all three, since their manifests tell them apart. */
export function createSpeechServer(
  parts: MountParts,
  service: SpeechService,
  writeTimeoutMs = usualWriteTimeoutMs,
): NodeHandler {
  const { metrics } = parts
  const routes = speechRoutes(service, writeTimeoutMs)
  if (!metrics) return mount(parts, routes)
  return mount({ ...parts, http: metrics.http(service.manifest.id) }, [...routes, metricsRoute(metrics)])
}

/** The routes of a speech server; no token is needed. */
function speechRoutes(service: SpeechService, writeTimeoutMs: number): readonly Route[] {
  const { manifest } = service
  const { options } = manifest
  const routes: Route[] = [
    get('/', () => ({
      name: 'aichat-toolkit',
      server: manifest.id,
      status: 'ok',
      model: service.variant.id,
      models_available: manifest.models,
      health: '/health',
    })),
    get('/health', () => service.health()),
    get('/v1/voices', () => ({ voices: listVoices(manifest) })),
    get('/v1/models', () => ({
      object: 'list',
      data: manifest.models.map((id) => ({ id, object: 'model', created: 0, owned_by: 'aichat' })),
    })),
    post('/v1/audio/speech', async (context) => {
      const { stream, stream_format: format, instruct, cfg_coef, ...body } = await readSpeechBody(context.request)
      // Parameters of the other servers are ignored.
      const request = {
        ...body,
        instruct: options.instruct ? instruct : undefined,
        cfg_coef: options.cfg_coef ? cfg_coef : undefined,
      }
      await speak(context, request, format ?? (stream && options.streaming ? 'audio' : undefined))
    }),
  ]
  if (options.design !== 'never') routes.push(whole('/v1/audio/voice-design', readDesignBody))
  if (options.clone !== 'never') routes.push(whole('/v1/audio/voice-clone', readCloneForm))
  if (options.clone !== 'never' && options.hub_voices) routes.push(whole('/v1/audio/voice-clone-url', readCloneUrlBody))
  return routes

  function whole(path: string, read: (request: IncomingMessage) => Promise<FileInput>): Route {
    return post(path, async (context) => speak(context, await read(context.request)))
  }

  /** Sends one file, whole or as it is made; until the first audio a failure is an error answer. */
  async function speak(
    context: RequestContext,
    { response_format: format, ...request }: FileInput,
    stream?: FileInput['stream_format'],
  ): Promise<void> {
    const speech = await service.speak(request, context.signal)
    const { input: text, voice, speakers } = request
    const form = { stream, format, text, voice: voice ?? speakers?.join(', ') }
    const answer = await answerWith(speech, form)
    try {
      if (stream) context.response.socket?.setNoDelay(true)
      const body = withWriteTimeout(answer.body, context.response, writeTimeoutMs)
      await sendDownload(context, new Download(answer.type, body, answer))
    } finally {
      speech.place.release()
    }
  }
}

function get(path: string, answer: () => unknown): Route {
  return { method: 'GET', path, handle: (context) => sendJson(context, 200, answer()) }
}

function post(path: string, handle: (context: RequestContext) => Promise<void>): Route {
  return { method: 'POST', path, handle: (context) => invalidNames(() => handle(context)).catch(throwWithReason) }
}

/** Puts what is wrong with a request into the message, which is all that OpenAI's libraries show. */
function throwWithReason(thrown: unknown): never {
  if (!(thrown instanceof AppError) || thrown.code !== 'invalid' || thrown.message !== 'Invalid request') throw thrown
  const { message, details } = thrown
  throw new AppError('invalid', `${message}: ${details.join('; ')}`, { details, cause: thrown })
}

/** Passes pieces on; closes the connection of a listener that does not take one in time, since it holds memory. */
async function* withWriteTimeout(
  pieces: AsyncIterable<Uint8Array>,
  response: RequestContext['response'],
  writeTimeoutMs: number,
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    const timer = setTimeout(() => response.destroy(), writeTimeoutMs)
    try {
      yield piece
    } finally {
      clearTimeout(timer)
    }
  }
}
