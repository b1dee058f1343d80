import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import { formatNames, type RoutedSpeech, type SpeechService, speeds } from '../../speech/speech.ts'
import { AppError } from '../errors.ts'
import { parseInput } from '../operations/operations.ts'
import { readJson } from './body.ts'
import { readForm } from './multipart.ts'

/** 10,000 characters, each as a pair of JSON escapes, and the other fields; in bytes. */
const jsonLimit = 256 * 1024
/** A clip of some minutes, in bytes; more is refused before it is read. */
const formLimit = 24 * 1024 * 1024

// Clients of OpenAI's API send more fields than these, and null for absent ones.
const optional = <T extends z.ZodType>(schema: T) => schema.nullish().transform((value) => value ?? undefined)

const input = z.string('must be a text')
const text = optional(z.string().max(2000))
const flag = z
  .boolean()
  .nullish()
  .transform((value) => value ?? false)
/** A flag of a form, whose fields are texts. */
const formFlag = z
  .enum(['true', 'false'])
  .optional()
  .transform((value) => value === 'true')
const speed = optional(z.number().min(speeds.least).max(speeds.most))
/** The voices of a script. */
const speakers = z.array(z.string().max(500)).min(2).max(5)
const seed = optional(z.int().min(0).max(0xffff_ffff))
const format = z
  .string()
  .nullish()
  .transform((name) => name?.toLowerCase() || undefined)
  .pipe(z.enum(formatNames, `only ${formatNames.join(', ')} are made here`).optional())

/** The fields of every JSON body. */
const common = { input, response_format: format, language: text, seed, speed, timestamps: flag, keep_directions: flag }

export const speechBody = z.object({
  ...common,
  model: optional(z.string().max(300)),
  voice: optional(z.string().max(500)),
  speakers: optional(speakers),
  instruct: text,
  stream: flag,
  /** Audio as it is made, on every server; the field `stream` is only in one server's specification. */
  stream_format: optional(z.enum(['audio', 'sse'])),
  cfg_coef: optional(z.number().min(0).max(10)),
})

const designBody = z.object({ ...common, voice_description: z.string(), instruct: text })
const cloneForm = z.object({
  input,
  response_format: format,
  language: text,
  reference_text: text,
  seed: z
    .string()
    .regex(/^\d{1,10}$/, 'must be an integer from 0 to 4294967295')
    .transform(Number)
    .pipe(z.int().max(0xffff_ffff))
    .optional(),
  speed: z
    .string()
    .regex(/^\d{1,2}(?:\.\d{1,9})?$/, 'must be a number')
    .transform(Number)
    .pipe(z.number().min(speeds.least).max(speeds.most))
    .optional(),
  timestamps: formFlag,
  keep_directions: formFlag,
})
const cloneUrlBody = z.object({
  ...common,
  voice_url: z.string().max(500).includes('/', 'must be a path of the model hub'),
})

/** A text with the format of its file. */
export type FileInput = Parameters<SpeechService['speak']>[0] & Pick<RoutedSpeech, 'response_format' | 'stream_format'>

/** The body of POST /v1/audio/speech, here and on the main server. */
export async function readSpeechBody(request: IncomingMessage) {
  return parseInput({ input: speechBody }, await readJson(request, jsonLimit))
}

/** The body of POST /v1/audio/voice-design. */
export async function readDesignBody(request: IncomingMessage): Promise<FileInput> {
  const { voice_description: description, ...body } = parseInput(
    { input: designBody },
    await readJson(request, jsonLimit),
  )
  return { ...body, voice: { kind: 'design', description } }
}

/** The body of POST /v1/audio/voice-clone-url. */
export async function readCloneUrlBody(request: IncomingMessage): Promise<FileInput> {
  const { voice_url: voice, ...body } = parseInput({ input: cloneUrlBody }, await readJson(request, jsonLimit))
  return { ...body, voice }
}

/** The form of POST /v1/audio/voice-clone: texts, and the recording as a file. */
export async function readCloneForm(request: IncomingMessage): Promise<FileInput> {
  const form = await readForm(request, formLimit)
  const fields = [...form.values()].filter(({ isFile }) => !isFile).map((part) => [part.name, part.text()] as const)
  const { reference_text, ...body } = parseInput({ input: cloneForm }, Object.fromEntries(fields))
  const file = form.get('reference_audio')
  if (!file?.isFile)
    throw new AppError('invalid', 'Invalid request', { details: ['reference_audio: the file is missing'] })
  return { ...body, voice: { kind: 'recording', wav: new Uint8Array(file.bytes), text: reference_text } }
}

/** Runs the work; turns `not_found` into `invalid`, since the voice or model is a value in a body and not an address. */
export async function invalidNames<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === 'not_found')
      throw new AppError('invalid', thrown.message, { details: thrown.details, cause: thrown })
    throw thrown
  }
}
