import { pipeline } from 'node:stream/promises'
import { wavHeader } from '../../speech/audio/wav.ts'
import { listVoices } from '../../speech/servers/manifest.ts'
import type { SpeechService } from '../../speech/service.ts'
import { type Speech, speakWhole, speechHeaders } from '../../speech/synthesis.ts'
import { AppError } from '../errors.ts'
import { type MountParts, mount, type NodeHandler } from './http-server.ts'
import { type RequestContext, sendJson } from './request-context.ts'
import type { Route } from './routes.ts'
import { invalidNames, readCloneForm, readCloneUrlBody, readDesignBody, readSpeechBody } from './speech-body.ts'

/** A client that does not read a chunk of audio (some seconds) within this many milliseconds is cut off. */
const usualWriteTimeoutMs = 60_000

/** A speech server as a node handler; the manifest holds the differences between the three. */
export function createSpeechServer(
  parts: MountParts,
  service: SpeechService,
  writeTimeoutMs = usualWriteTimeoutMs,
): NodeHandler {
  return mount(parts, speechRoutes(service, writeTimeoutMs))
}

/** The routes of a speech server; none needs a token. */
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
      const body = await readSpeechBody(context.request)
      const { input, voice, language } = body
      // Parameters of the other servers are ignored.
      const instruct = options.instruct ? body.instruct : undefined
      const cfgCoefficient = options.cfg_coef ? body.cfg_coef : undefined
      const speech = await service.speak({ input, voice, language, instruct, cfgCoefficient }, context.signal)
      await (body.stream && options.streaming
        ? sendStream(context, speech, writeTimeoutMs)
        : sendWhole(context, speech, writeTimeoutMs))
    }),
  ]
  if (options.design !== 'never')
    routes.push(
      post('/v1/audio/voice-design', async (context) =>
        sendWhole(context, await service.design(await readDesignBody(context.request), context.signal), writeTimeoutMs),
      ),
    )
  if (options.clone !== 'never')
    routes.push(
      post('/v1/audio/voice-clone', async (context) =>
        sendWhole(context, await service.clone(await readCloneForm(context.request), context.signal), writeTimeoutMs),
      ),
    )
  if (options.clone !== 'never' && options.hub_voices)
    routes.push(
      post('/v1/audio/voice-clone-url', async (context) =>
        sendWhole(
          context,
          await service.speak(await readCloneUrlBody(context.request), context.signal),
          writeTimeoutMs,
        ),
      ),
    )
  return routes
}

function get(path: string, answer: () => unknown): Route {
  return { method: 'GET', path, handle: (context) => sendJson(context, 200, answer()) }
}

function post(path: string, handle: (context: RequestContext) => Promise<void>): Route {
  return { method: 'POST', path, handle: (context) => invalidNames(() => handle(context)) }
}

/** Sends one WAV file with its length; a header counts the skipped chunks. */
async function sendWhole({ response }: RequestContext, speech: Speech, writeTimeoutMs: number): Promise<void> {
  const parts = await speakWhole(speech)
  try {
    const size = parts.reduce((sum, part) => sum + part.length, 0)
    setSpeechHeaders(response, speech)
    response.setHeader('content-length', size)
    await pipeline(withWriteTimeout(parts, response, writeTimeoutMs), response)
  } finally {
    speech.place.release()
  }
}

/**
 * Streams a WAV header, then the audio as it is generated. The first audio is the commit point: an earlier failure is an
 * error answer. X-Speech-Chunks counts the chunks begun as a header, and those spoken as a trailer.
 */
async function sendStream({ response }: RequestContext, speech: Speech, writeTimeoutMs: number): Promise<void> {
  const audio = speech.pcm(true)
  const first = await audio.next()
  if (first.done) throw new AppError('internal', 'The speech engine returned no audio')
  setSpeechHeaders(response, speech, 1)
  response.setHeader('trailer', 'X-Speech-Chunks')
  response.socket?.setNoDelay(true)
  async function* body(): AsyncGenerator<Buffer> {
    yield Buffer.concat([wavHeader(speech.sampleRate), first.value as Buffer])
    yield* audio
    response.addTrailers({ 'X-Speech-Chunks': speechHeaders(speech)['x-speech-chunks'] })
  }
  await pipeline(withWriteTimeout(body(), response, writeTimeoutMs), response)
}

/** Yields the chunks; cuts off a client that does not read one in time, since it holds a place in the queue and memory. */
async function* withWriteTimeout(
  pieces: Iterable<Buffer> | AsyncIterable<Buffer>,
  response: RequestContext['response'],
  writeTimeoutMs: number,
): AsyncGenerator<Buffer> {
  for await (const piece of pieces) {
    const timer = setTimeout(() => response.destroy(), writeTimeoutMs)
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
