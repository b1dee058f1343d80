import type { Download } from '../../operations/operations.ts'

/** Sends a request to a server; resolves with the response of any status. */
export type SpeechExchange = (
  request: {
    readonly method: string
    /** With the query. */
    readonly path: string
    readonly headers?: Record<string, string>
    readonly body?: NonNullable<RequestInit['body']>
  },
  signal: AbortSignal | undefined,
) => Promise<Response>

type Input = Readonly<Record<string, unknown>>

/** Maps an operation of the API to a route of a speech server (specification, section 4.4). */
interface SpeechRoute {
  request(input: Input): Parameters<SpeechExchange>[0]
  /** Converts the response to the operation's output. */
  answer(response: Response, parts: AnswerParts): Promise<unknown>
}

interface AnswerParts {
  readonly server: string
  download(response: Response): Download
}

const audio: SpeechRoute['answer'] = async (response, { download }) => download(response)

const routes: Readonly<Record<string, SpeechRoute>> = {
  'speech.speak': { request: (input) => jsonRequest('/v1/audio/speech', input), answer: audio },
  'speech.design': {
    request: ({ stream: _, ...input }) => jsonRequest('/v1/audio/voice-design', input),
    answer: audio,
  },
  'speech.clone': { request: cloneRequest, answer: audio },
  'speech.voices': {
    request: () => ({ method: 'GET', path: '/v1/voices' }),
    answer: async (response, { server }) => {
      const { voices } = (await response.json()) as { voices: readonly object[] }
      return { voices: voices.map((voice) => ({ language: '', aliases: [], server: hostOf(server), ...voice })) }
    },
  },
  'speech.health': {
    request: () => ({ method: 'GET', path: '/health' }),
    answer: async (response, { server }) => {
      const health = (await response.json()) as object
      return {
        servers: [{ engine: '', model: '', device: '', ...health, server: hostOf(server), url: server }],
      }
    },
  },
}

/** The route of a speech server for an operation, by the operation's name. */
export function speechRoute(operation: string): SpeechRoute | undefined {
  return routes[operation]
}

/** True when `/health` has the shape of a speech server. */
export async function isSpeechServer(exchange: SpeechExchange, signal: AbortSignal | undefined): Promise<boolean> {
  try {
    const response = await exchange({ method: 'GET', path: '/health' }, signal)
    const { model_loaded: loaded } = (await response.json()) as { model_loaded?: unknown }
    return typeof loaded === 'boolean'
  } catch {
    return false
  }
}

function jsonRequest(path: string, input: Input): ReturnType<SpeechRoute['request']> {
  return { method: 'POST', path, headers: { 'content-type': 'application/json' }, body: JSON.stringify(input) }
}

function cloneRequest({ input, reference_audio: clip, reference_text: text, language, seed, speed }: Input) {
  const form = new FormData()
  form.set('input', String(input))
  form.set('reference_audio', new Blob([Buffer.from(String(clip), 'base64')], { type: 'audio/wav' }), 'reference.wav')
  if (text !== undefined) form.set('reference_text', String(text))
  for (const [name, value] of Object.entries({ language, seed, speed }))
    if (value !== undefined) form.set(name, String(value))
  return { method: 'POST', path: '/v1/audio/voice-clone', body: form }
}

function hostOf(server: string): string {
  return new URL(server).host
}
