import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import { AppError } from '../errors.ts'
import { parseInput } from '../operations/ask.ts'
import { readJson } from './body.ts'
import { readForm } from './multipart.ts'

/** Ten thousand characters, each as a pair of JSON escapes, and room for the rest. */
const jsonLimit = 256 * 1024
/** A clip of some minutes; more is refused before it is read. */
const formLimit = 24 * 1024 * 1024

// Clients of OpenAI's API send more fields than these, and null for absent ones.
const input = z.string('must be a text')
const text = z.string().max(2000).nullish()
const format = z
  .string()
  .nullish()
  .refine((name) => !name || name.toLowerCase() === 'wav', 'only wav is supported')

export const speechBody = z.object({
  input,
  model: z.string().max(300).nullish(),
  voice: z.string().max(500).nullish(),
  response_format: format,
  language: text,
  instruct: text,
  stream: z.boolean().nullish(),
  cfg_coef: z.number().min(0).max(10).nullish(),
})

const designBody = z.object({
  input,
  voice_description: z.string(),
  response_format: format,
  language: text,
  instruct: text,
})
const cloneForm = z.object({ input, response_format: format, language: text, reference_text: text })
const cloneUrlBody = z.object({
  input,
  voice_url: z.string().max(500).includes('/', 'must be a path of the model hub'),
  response_format: format,
  language: text,
})

/** The body of POST /v1/audio/speech, here and on the main server. */
export async function readSpeechBody(request: IncomingMessage) {
  const body = parseInput({ input: speechBody }, await readJson(request, jsonLimit))
  return {
    input: body.input,
    stream: body.stream ?? false,
    ...given('model', body.model),
    ...given('voice', body.voice),
    ...given('language', body.language),
    ...given('instruct', body.instruct),
    ...given('cfg_coef', body.cfg_coef),
  }
}

function given<N extends string, V>(name: N, value: V | null | undefined): { readonly [K in N]?: V } {
  return value === null || value === undefined ? {} : ({ [name]: value } as { readonly [K in N]?: V })
}

/** The body of POST /v1/audio/voice-design. */
export async function readDesignBody(request: IncomingMessage) {
  const body = parseInput({ input: designBody }, await readJson(request, jsonLimit))
  return {
    input: body.input,
    description: body.voice_description,
    language: body.language ?? undefined,
    instruct: body.instruct ?? undefined,
  }
}

/** The body of POST /v1/audio/voice-clone-url. */
export async function readCloneUrlBody(request: IncomingMessage) {
  const body = parseInput({ input: cloneUrlBody }, await readJson(request, jsonLimit))
  return { input: body.input, voice: body.voice_url, language: body.language ?? undefined }
}

/** The form of POST /v1/audio/voice-clone: texts, and the recording as a file. */
export async function readCloneForm(request: IncomingMessage) {
  const form = await readForm(request, formLimit)
  const fields = [...form.values()].filter(({ isFile }) => !isFile).map((part) => [part.name, part.text()] as const)
  const body = parseInput({ input: cloneForm }, Object.fromEntries(fields))
  const file = form.get('reference_audio')
  if (!file?.isFile)
    throw new AppError('invalid', 'Invalid request', { details: ['reference_audio: the file is missing'] })
  return {
    input: body.input,
    clip: new Uint8Array(file.bytes),
    clipText: body.reference_text ?? undefined,
    language: body.language ?? undefined,
  }
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
