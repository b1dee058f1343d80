import { AppError, type FailureCode } from '../errors.ts'
import { parseJson } from '../formats/formats.ts'
import type { ReadError, Send } from '../http/http.ts'
import type { PluginManifest } from './manifest.ts'

export interface PluginEmbeddings {
  readonly vectors: readonly Float32Array[]
  /** The provider's token count, where it sends one. */
  readonly tokens: number | undefined
}

export interface PluginEmbeddingsParts {
  readonly send: Send
  readonly readError: ReadError
  readonly keyHeader: (url: string) => Record<string, string> | Promise<Record<string, string>>
  readonly refusedAdvice: () => string
  /** Takes keys out of the provider's words. */
  readonly redact: (text: string) => string
  readonly signal?: AbortSignal | undefined
}

const timeouts = { connect: 5_000, firstByte: 60_000, idle: 30_000 }
const longestReply = 64 * 1024 * 1024

/**
 * Embeddings by a plugin of type `embedding`: OpenAI's request at its endpoint
 * (https://platform.openai.com/docs/api-reference/embeddings). Throws an AppError of the failure's class.
 */
export async function embedWithPlugin(
  manifest: PluginManifest,
  request: { readonly model: string; readonly input: readonly string[]; readonly dimensions?: number | undefined },
  { send, readError, keyHeader, refusedAdvice, redact, signal }: PluginEmbeddingsParts,
): Promise<PluginEmbeddings> {
  const url = manifest.endpoint
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'application/json' }
  for (const [name, value] of [...Object.entries(manifest.headers ?? {}), ...Object.entries(await keyHeader(url))])
    headers[name.toLowerCase()] = value
  const { model, input, dimensions } = request
  const body = JSON.stringify({ model, input, ...(dimensions !== undefined && { dimensions }) })
  let status: number
  let text: string
  let wait: string | undefined
  try {
    const reply = await send({ method: 'POST', url, headers, body, timeouts, signal })
    status = reply.status
    wait = [reply.headers['retry-after']].flat()[0]
    text = await reply.text(longestReply)
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    const words = cause instanceof Error ? cause.message : String(cause)
    throw new AppError('unavailable', `${manifest.id} could not be asked: ${words}`, { cause })
  }
  if (status < 200 || status > 299)
    throw refusal(manifest, status, wait, errorIn(redact(text), readError), refusedAdvice)
  return readAnswer(manifest, text, input.length)
}

function readAnswer({ id }: PluginManifest, text: string, count: number): PluginEmbeddings {
  let answer: unknown
  try {
    answer = parseJson(text, `the answer of ${id}`)
  } catch (cause) {
    throw new AppError('protocol', `${id} did not answer with JSON`, { cause })
  }
  const { data, usage } = (answer ?? {}) as { data?: unknown; usage?: { total_tokens?: unknown } }
  const rows = (Array.isArray(data) ? data : []) as { index?: unknown; embedding?: unknown }[]
  const vectors: Float32Array[] = new Array(count)
  for (const [place, { index, embedding }] of rows.entries()) {
    const numbers = Array.isArray(embedding) && embedding.every((value) => typeof value === 'number')
    if (numbers) vectors[typeof index === 'number' ? index : place] = Float32Array.from(embedding as number[])
  }
  const size = vectors[0]?.length ?? 0
  if (rows.length !== count || size === 0 || !Array.from(vectors).every((vector) => vector?.length === size))
    throw new AppError('protocol', `${id} sent no vectors that could be used`)
  return { vectors, tokens: typeof usage?.total_tokens === 'number' ? usage.total_tokens : undefined }
}

/** The provider's own class of error and its names; our key is not the caller's, so its refusal is no 401 or 403. */
function refusal(
  { id }: PluginManifest,
  status: number,
  wait: string | undefined,
  error: WireNames,
  refusedAdvice: () => string,
): AppError {
  const { message = '', code, type, param } = error
  const words = message.replace(/\s+/g, ' ').slice(0, 300)
  const reason = words === '' ? '' : `: ${words}`
  if (status === 401 || status === 403)
    return new AppError('provider_auth', `${id} refused the key${reason}`, { details: [refusedAdvice()] })
  const codes: Record<number, FailureCode> = {
    400: 'invalid',
    404: 'not_found',
    413: 'too_large',
    422: 'unprocessable',
    429: 'rate_limited',
  }
  const names = Object.entries({ code, type, param }).filter(([, name]) => name !== undefined)
  const isTold = codes[status] !== undefined && names.length > 0
  return new AppError(
    codes[status] ?? (status >= 500 ? 'unavailable' : 'protocol'),
    `${id} answered ${status}${reason}`,
    {
      ...(/^\d{1,8}$/.test(wait ?? '') && { retryAfter: Number(wait) }),
      ...(isTold && { provider: Object.fromEntries(names.map(([field, name]) => [field, name!.slice(0, 200)])) }),
    },
  )
}

type WireNames = Partial<NonNullable<ReturnType<ReadError>>>

function errorIn(text: string, readError: ReadError): WireNames {
  try {
    return readError(JSON.parse(text)) ?? {}
  } catch {
    return {}
  }
}
