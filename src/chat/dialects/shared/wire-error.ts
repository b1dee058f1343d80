import { type ClientError, DialectError, type WireError } from '../../protocol/dialect.ts'
import {
  compact,
  isObject,
  type JsonObject,
  objectOf,
  objectsOf,
  parseObject,
  stringOf,
} from '../../protocol/json-object.ts'
import { goDuration } from '../../protocol/retry-after.ts'

/**
 * The error in a provider's parsed body, or undefined when the body holds none. One reader for every spelling, because
 * proxies and compatible services mix them:
 * `{error:{message,type,param,code}}` (OpenAI, Groq, OpenRouter with a numeric code), `{type:"error",error:{…}}` (Anthropic),
 * `{error:{code,message,status,details}}` (Gemini; also inside an array), `{error:"text"}` (Ollama), `{detail:"text"}` and
 * `{detail:[{msg}]}` (Mistral), `{object:"error",message,type,code}` (Mistral), `{statusCode,message}` (Azure's front),
 * `{message}` and nothing of an answer (Mistral's and GitHub's fronts), `{errors:[{code,message}]}` (Cloudflare).
 */
export function readWireError(body: unknown): WireError | undefined {
  const found = Array.isArray(body) ? body[0] : body
  if (!isObject(found)) return undefined
  const error = found['error']
  if (isObject(error)) return errorOf(error, found)
  if (typeof error === 'string' && error !== '') return compact({ message: error, code: stringOf(found['code']) })
  if (found['detail'] !== undefined && !('choices' in found)) return detailError(found['detail'])
  if (found['object'] === 'error' || 'statusCode' in found) return errorOf(found, found)
  if (answerFields.some((name) => name in found)) return undefined
  if (typeof found['message'] === 'string') return errorOf(found, found)
  const [first] = objectsOf(found['errors'])
  return first && errorOf(first, found)
}

/** Fields that only an answer holds, or a piece of one; Ollama's answer has a `message` that is an object. */
const answerFields = ['choices', 'candidates', 'content', 'done', 'delta']

/** The error in an event named `error`: in any spelling, bare or wrapped, or plain words. */
export function errorEvent(data: string): DialectError {
  const fields = parseObject(data)
  const error = readWireError(fields) ?? readWireError({ error: fields ?? data })
  return new DialectError('reported', error ?? { message: 'The provider reported an error' })
}

/** Throws the error that a body holds under a good status, as `reported`. */
export function throwIfError(body: unknown): void {
  const error = readWireError(body)
  if (error) throw new DialectError('reported', error)
}

/** The error for a body that is not an answer in this dialect. */
export function malformedResponse(problem: string): DialectError {
  return new DialectError('broken', { message: `The provider's answer cannot be read: ${problem}` })
}

/** The error for a stream cut off before its end. */
export function truncatedStream(): DialectError {
  return new DialectError('cut', { message: "The provider's answer broke off before its end" })
}

/** The HTTP status that stands for an error sent to a client: the given one, else 500. */
export function statusOf(error: ClientError): number {
  return error.status ?? 500
}

function errorOf(error: JsonObject, around: JsonObject): WireError {
  const type = stringOf(error['type'])
  const details = objectsOf(error['details'])
  // Gemini puts the telling name into the details: API_KEY_INVALID under INVALID_ARGUMENT.
  const reason = details.map((detail) => stringOf(detail['reason'])).find((name) => name !== undefined)
  const inner = stringOf(objectOf(error['details'])['error_code']) ?? stringOf(objectOf(error['innererror'])['code'])
  const wrapped = wrappedError(error)
  const code = inner ?? reason ?? stringOf(error['code']) ?? stringOf(error['status']) ?? wrapped?.code
  return compact({
    message: messageOf(error, code ?? type),
    code: code ?? (typeof error['code'] === 'number' ? String(error['code']) : undefined),
    type: type ?? stringOf(error['status']) ?? wrapped?.type,
    param: stringOf(error['param']) ?? wrapped?.param,
    details: isObject(error['details']) ? error['details'] : undefined,
    status: innerStatus(error) ?? innerStatus(around),
    retryAfterMs: retryDelay(details),
  })
}

function messageOf(error: JsonObject, name: string | undefined): string {
  const message =
    stringOf(error['message']) || textOfDetail(error['message']) || name || 'The provider reported an error'
  // OpenRouter wraps the words of the provider behind it, which say more than "Provider returned error".
  const raw = stringOf(objectOf(error['metadata'])['raw'])
  return raw ? `${message}: ${raw.slice(0, 1000)}` : message
}

/** The error of the provider behind OpenRouter, in the provider's own JSON. */
function wrappedError(error: JsonObject): WireError | undefined {
  const raw = stringOf(objectOf(error['metadata'])['raw'])
  const inside = raw === undefined ? undefined : objectOf(parseObject(raw))['error']
  // One level: an error wrapped twice is not unwrapped.
  return isObject(inside) ? errorOf({ ...inside, metadata: undefined }, {}) : undefined
}

/** An HTTP status named in a body: Groq's `status_code`, a numeric `code` of OpenRouter's and Gemini's. */
function innerStatus(error: JsonObject): number | undefined {
  for (const value of [error['status_code'], error['statusCode'], error['code']]) {
    const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value
    if (typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599) return status
  }
  return undefined
}

function retryDelay(details: readonly JsonObject[]): number | undefined {
  const delay = details.map((detail) => stringOf(detail['retryDelay'])).find((text) => text !== undefined)
  return delay === undefined ? undefined : goDuration(delay)
}

function detailError(detail: unknown): WireError | undefined {
  const message = typeof detail === 'string' ? detail : textOfDetail(detail)
  const [first] = objectsOf(detail)
  const place = Array.isArray(first?.['loc']) ? first['loc'].filter((step) => step !== 'body').join('.') : ''
  const code = stringOf(first?.['type'])
  return message ? compact({ message, code, param: place || undefined }) : undefined
}

/** `[{loc:["body","model"], msg:"Field required"}]` as "body.model: Field required". */
function textOfDetail(detail: unknown): string {
  if (isObject(detail) && !Array.isArray(detail['detail']))
    return stringOf(detail['message']) ?? stringOf(detail['error']) ?? stringOf(detail['detail']) ?? ''
  const list = isObject(detail) ? objectsOf(detail['detail']) : objectsOf(detail)
  return list
    .slice(0, 5)
    .map((entry) => {
      const place = Array.isArray(entry['loc']) ? `${entry['loc'].join('.')}: ` : ''
      return `${place}${stringOf(entry['msg']) ?? stringOf(entry['message']) ?? ''}`
    })
    .join('; ')
}
