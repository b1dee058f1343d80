import { pipeline } from 'node:stream/promises'
import { wavHeader } from '../../speech/audio/wav.ts'
import { listVoices } from '../../speech/servers/manifest.ts'
import type { SpeechService } from '../../speech/service.ts'
import { type Speech, speakWhole, speechHeaders } from '../../speech/synthesis.ts'
import { AppError } from '../errors.ts'
import { type MountParts, mount, type NodeHandler } from './http-server.ts'
import { type RequestContext, sendJson } from './request-context.ts'
import type { Route } from './routes.ts'
import { readCloneForm, readCloneUrlBody, readDesignBody, readSpeechBody, refusingNames } from './speech-body.ts'

/** A listener that has not taken a piece of audio (some seconds of it) within this many milliseconds is gone. */
const usualPatienceMs = 60_000

/** A speech server: one app for all three, its differences being in the manifest. */
export function createSpeechServer(
  parts: MountParts,
  service: SpeechService,
  patienceMs = usualPatienceMs,
): NodeHandler {
  return mount(parts, speechRoutes(service, patienceMs))
}

/** What a speech server answers. Nobody needs a token here. */
function speechRoutes(service: SpeechService, patienceMs: number): readonly Route[] {
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
      const body = await readSpeechBody(context.request)
      const { input, voice, language } = body
      // Parameters of the other servers are as good as absent.
      const instruct = options.instruct ? body.instruct : undefined
      const cfgCoefficient = options.cfg_coef ? body.cfg_coef : undefined
      const speech = await service.speak({ input, voice, language, instruct, cfgCoefficient }, context.signal)
      await (body.stream && options.streaming
        ? sendStream(context, speech, patienceMs)
        : sendWhole(context, speech, patienceMs))
    }),
  ]
  if (options.design !== 'never')
    routes.push(
      post('/v1/audio/voice-design', async (context) =>
        sendWhole(context, await service.design(await readDesignBody(context.request), context.signal), patienceMs),
      ),
    )
  if (options.clone !== 'never')
    routes.push(
      post('/v1/audio/voice-clone', async (context) =>
        sendWhole(context, await service.clone(await readCloneForm(context.request), context.signal), patienceMs),
      ),
    )
  if (options.clone !== 'never' && options.hub_voices)
    routes.push(
      post('/v1/audio/voice-clone-url', async (context) =>
        sendWhole(context, await service.speak(await readCloneUrlBody(context.request), context.signal), patienceMs),
      ),
    )
  return routes
}

function get(path: string, answer: () => unknown): Route {
  return { method: 'GET', path, handle: (context) => sendJson(context, 200, answer()) }
}

function post(path: string, handle: (context: RequestContext) => Promise<void>): Route {
  return { method: 'POST', path, handle: (context) => refusingNames(() => handle(context)) }
}

/** One WAV file with its length; what was skipped is said in a header. */
async function sendWhole({ response }: RequestContext, speech: Speech, patienceMs: number): Promise<void> {
  const parts = await speakWhole(speech)
  try {
    const size = parts.reduce((sum, part) => sum + part.length, 0)
    setSpeechHeaders(response, speech)
    response.setHeader('content-length', size)
    await pipeline(patiently(parts, response, patienceMs), response)
  } finally {
    speech.place.release()
  }
}

/**
 * One WAV header, then audio as it is made. The first audio is the commit point: until then a failure is an error
 * answer. The header counts the chunks begun; the trailer of the same name counts those spoken.
 */
async function sendStream({ response }: RequestContext, speech: Speech, patienceMs: number): Promise<void> {
  const audio = speech.pcm(true)
  const first = await audio.next()
  if (first.done) throw new AppError('internal', 'The speech engine gave no audio')
  setSpeechHeaders(response, speech, 1)
  response.setHeader('trailer', 'X-Speech-Chunks')
  response.socket?.setNoDelay(true)
  async function* body(): AsyncGenerator<Buffer> {
    yield Buffer.concat([wavHeader(speech.sampleRate), first.value as Buffer])
    yield* audio
    response.addTrailers({ 'X-Speech-Chunks': speechHeaders(speech)['x-speech-chunks'] })
  }
  await pipeline(patiently(body(), response, patienceMs), response)
}

/** The same pieces; a listener who does not take one is cut off, since it holds a place in the queue and memory. */
async function* patiently(
  pieces: Iterable<Buffer> | AsyncIterable<Buffer>,
  response: RequestContext['response'],
  patienceMs: number,
): AsyncGenerator<Buffer> {
  for await (const piece of pieces) {
    const timer = setTimeout(() => response.destroy(), patienceMs)
    try {
      yield piece
    } finally {
      clearTimeout(timer)
    }
  }
}

function setSpeechHeaders(response: RequestContext['response'], speech: Speech, begun = 0): void {
  response.statusCode = 200
  response.setHeader('content-type', 'audio/wav')
  for (const [name, value] of Object.entries(speechHeaders(speech, begun))) response.setHeader(name, value)
}
