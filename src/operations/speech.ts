import { z } from 'zod'
import {
  formatNames,
  listVoices,
  mediaTypes,
  type RoutedSpeech,
  readManifest,
  serverIds,
  speeds,
} from '../../speech/speech.ts'
import { permitsOf } from '../accounts/accounts.ts'
import { AppError } from '../errors.ts'
import { metered } from './metered.ts'
import { type Call, Download, defineOperation } from './operation.ts'

/** The input of every operation that speaks. */
const common = {
  input: z.string(),
  model: z.exactOptional(z.string().max(300)),
  language: z.exactOptional(z.string().max(100)),
  instruct: z.exactOptional(z.string().max(2000)),
  stream: z.boolean().default(false),
  seed: z.exactOptional(z.int().min(0).max(0xffff_ffff)),
  speed: z.exactOptional(z.number().min(speeds.least).max(speeds.most)),
  timestamps: z.exactOptional(z.boolean()),
  keep_directions: z.exactOptional(z.boolean()),
  response_format: z.exactOptional(z.enum(formatNames)),
}

/** A file, or with `timestamps` the events of its pieces and words. */
const produces = [...mediaTypes, 'text/event-stream']
const audio = z.instanceof(Download)

const speechInput = z.object({
  ...common,
  voice: z.exactOptional(z.string().max(500)),
  /** The voices of a script, whose turns begin with [S1], [S2]… in the text; in place of `voice`. */
  speakers: z.exactOptional(z.array(z.string().max(500)).min(2).max(5)),
  cfg_coef: z.exactOptional(z.number().min(0).max(10)),
})

/** Speaks, for an operation and for the route of OpenAI's clients. The characters of the text are booked. */
export async function speak({ app, caller, signal, watch }: Call, request: RoutedSpeech): Promise<Download> {
  const router = await app.speech()
  const answer = await metered(app, {
    caller,
    purpose: 'speech',
    place: router.placeOf(request),
    request: () => ({ messages: [{ role: 'user', content: request.input }] }),
    signal,
    watch,
    async run(attempt) {
      const speech = await router.speak({ ...request, permits: permitsOf(caller.key) }, signal)
      attempt.reported({ characters: request.input.length })
      return speech
    },
  })
  return new Download(answer.type, answer.body, answer)
}

const speaks = { access: 'user', scope: 'speech', impersonal: true } as const
const givesAudio = { ...speaks, failures: [404, 429, 502, 504], produces, output: audio } as const

export const speakText = defineOperation({
  name: 'speech.speak',
  route: 'POST /api/speech',
  ...givesAudio,
  summary:
    'Speaks a text: by the plugin the model names, else the active tts plugin; the answer is a file (WAV, unless response_format names another format), or with timestamps events of its pieces and words.',
  input: speechInput,
  run: speak,
})

export const designVoice = defineOperation({
  name: 'speech.design',
  route: 'POST /api/speech/design',
  ...givesAudio,
  summary:
    'Speaks a text with a voice made from its description; the answer is a file (WAV, unless response_format names another format), or with timestamps events of its pieces and words.',
  input: z.object({ ...common, voice_description: z.string().max(2000) }),
  run: (call, { voice_description: description, ...request }) =>
    speak(call, { ...request, voice: { kind: 'design', description } }),
})

export const cloneVoice = defineOperation({
  name: 'speech.clone',
  route: 'POST /api/speech/clone',
  ...givesAudio,
  summary:
    'Speaks a text with the voice of a WAV recording, sent as base64; the answer is a file (WAV, unless response_format names another format), or with timestamps events of its pieces and words.',
  limit: 32 * 1024 * 1024,
  input: z.object({
    ...common,
    reference_audio: z.string().meta({ contentEncoding: 'base64' }),
    reference_text: z.exactOptional(z.string().max(10_000)),
  }),
  run: (call, { reference_audio, reference_text: text, ...request }) =>
    speak(call, { ...request, voice: { kind: 'recording', wav: decodeBase64(reference_audio), text } }),
})

/** Throws `invalid` for a text that is not base64. A regular expression would take ten times as long for 30 MiB. */
function decodeBase64(text: string): Uint8Array {
  const bytes = Buffer.from(text, 'base64')
  // The decoder skips invalid characters, so that the bytes are fewer than the length of the text implies.
  if (bytes.length === Buffer.byteLength(text, 'base64')) return bytes
  throw new AppError('invalid', 'Invalid request', { details: ['reference_audio: must be a WAV file in base64'] })
}

/** A voice with the server that has it. */
const voice = z.looseObject({
  id: z.string(),
  name: z.string(),
  language: z.string(),
  licence: z.exactOptional(z.string()),
  aliases: z.array(z.string()),
  server: z.string(),
})

export const listVoicesOfServers = defineOperation({
  name: 'speech.voices',
  route: 'GET /api/speech/voices',
  ...speaks,
  summary: 'Lists the voices of the speech servers.',
  input: z.object({ model: z.exactOptional(z.string()) }),
  output: z.object({ voices: z.array(voice) }),
  run: (_, { model }) => ({
    voices: serverIds
      .filter((server) => model === undefined || server === model || readManifest(server).models.includes(model))
      .flatMap((server) => listVoices(readManifest(server)).map((voice) => ({ ...voice, server }))),
  }),
})

export const showSpeechHealth = defineOperation({
  name: 'speech.health',
  route: 'GET /api/speech/health',
  ...speaks,
  summary: 'Shows the state and the engine of each speech server.',
  input: z.object({}),
  output: z.object({
    servers: z.array(
      z.looseObject({
        server: z.string(),
        /** The server's address; null where this process answers in its place. */
        url: z.string().nullable(),
        status: z.string(),
        model_loaded: z.boolean(),
        engine: z.string(),
        model: z.string(),
        device: z.string(),
        pace: z.exactOptional(z.number()),
        reason: z.exactOptional(z.string()),
      }),
    ),
  }),
  run: async ({ app, signal }) => {
    const servers = await (await app.speech()).health(signal)
    return { servers: servers.map((server) => ({ ...server })) }
  },
})

export const speechOperations = [speakText, designVoice, cloneVoice, listVoicesOfServers, showSpeechHealth]
