import type { ProviderError } from '../../errors.ts'
import { DialectError, type WireError } from './dialect.ts'
import { type HeaderBag, header, retryAfterOf } from './retry-after.ts'

/**
 * The classes of a provider's failure:
 * `auth` the key · `quota` the money · `model_gone` · `retired` the whole service · `request` the caller's own mistake ·
 * `context_length` · `policy` · `model_output` the model wrote a call that does not fit its tool · `rate` come back later ·
 * `down` · `protocol` an answer that cannot be read or broke off · `cancelled` by the caller, no failure of the provider.
 */
export type FailureClass =
  | 'auth'
  | 'quota'
  | 'model_gone'
  | 'retired'
  | 'request'
  | 'context_length'
  | 'policy'
  | 'model_output'
  | 'rate'
  | 'down'
  | 'protocol'
  | 'cancelled'

/** The facts of a failed try; any may be missing. `now` is in milliseconds since 1970, for waits given as a date. */
export interface FailureSignal {
  readonly status?: number | undefined
  readonly headers?: HeaderBag | undefined
  readonly error?: WireError | undefined
  /** The thrown DialectError or transport error. */
  readonly thrown?: unknown
  readonly now: number
}

export interface Failure {
  readonly class: FailureClass
  /** Whether the same request to the same provider can succeed, now or after `waitMs`. */
  readonly retryable: boolean
  /** Milliseconds the provider asked us to wait. */
  readonly waitMs?: number
  /** The provider's words, or ours where it had none: one line of at most 500 characters. */
  readonly message: string
  /** The provider's own code or type, or the transport's code (`ECONNRESET`). */
  readonly code?: string
  /** The provider's own names for it, where it gave any. */
  readonly provider?: ProviderError
  /** The status of the answer, or the one that the error inside a 200 names. */
  readonly status?: number
}

/**
 * Puts a failure in its class. The provider's code counts before its words, these before the status, and last the
 * general kinds: a bad key of Gemini's is a 400, a spent budget a 429, and an error inside a 200 has no status.
 */
export function classifyFailure(signal: FailureSignal): Failure {
  const error = signal.error ?? (signal.thrown instanceof DialectError ? signal.thrown.error : undefined)
  const status = error?.status && (signal.status ?? 200) < 400 ? error.status : signal.status
  const found = classify(signal, status, error)
  const waitMs = retryAfterOf(signal.headers ?? {}, error, signal.now, status)
  const code = error?.code ?? error?.type ?? transportCode(signal.thrown)
  return {
    class: found.class,
    retryable: mayRetry(found, signal),
    ...(waitMs !== undefined && { waitMs }),
    message: messageOf(signal, status, error),
    ...(code !== undefined && { code }),
    ...(error && providerNames(error)),
    ...(status !== undefined && { status }),
  }
}

/** The most characters of a name that is passed on, and of Anthropic's details as JSON. */
const nameLimit = 200
const detailsLimit = 2_000

function providerNames({ code, type, param, details }: WireError): { readonly provider?: ProviderError } {
  const names = Object.entries({ code, type, param }).filter(([, name]) => name !== undefined && name !== '')
  const short = names.map(([field, name]) => [field, name!.replace(/\s+/g, ' ').slice(0, nameLimit)])
  const isShort = details !== undefined && JSON.stringify(details).length <= detailsLimit
  const provider = { ...Object.fromEntries(short), ...(isShort && { details }) }
  return Object.keys(provider).length > 0 ? { provider } : {}
}

interface Classified {
  readonly class: FailureClass
  readonly retryable: boolean
}

const again = (name: FailureClass): Classified => ({ class: name, retryable: true })
const final = (name: FailureClass): Classified => ({ class: name, retryable: false })

function classify(signal: FailureSignal, status: number | undefined, error: WireError | undefined): Classified {
  const thrown = signal.thrown
  if (thrown !== undefined && !(thrown instanceof DialectError)) return byTransport(thrown)
  if (thrown?.kind === 'cut') return again('protocol')
  // An unreadable body under an error status, such as a proxy's HTML page: the status decides.
  if (thrown?.kind === 'broken' && (status ?? 200) < 400) return final('protocol')
  if (status === 410) return final('retired')
  // Money held by other running requests comes back: OpenRouter marks that with a Retry-After.
  if (status === 402) return signal.headers?.['retry-after'] ? again('rate') : final('quota')
  return (
    byCode(error) ??
    byWords(error?.message ?? '', status) ??
    byStatus(status) ??
    byKind(error) ??
    (error ? again('down') : final('protocol'))
  )
}

/** Codes that say more than the status next to them, in lower case. */
const codes: Readonly<Record<string, readonly string[]>> = {
  quota: [
    'insufficient_quota',
    'billing_hard_limit_reached',
    'billing_not_active',
    'billing_error',
    'enforced_spend_limit_reached',
    'insufficient_credits',
  ],
  auth: ['invalid_api_key', 'api_key_invalid', 'authentication_error', 'permission_error', 'unauthenticated'],
  context_length: ['context_length_exceeded', 'model_context_window_exceeded'],
  policy: ['content_policy_violation', 'content_filter', 'responsibleaipolicyviolation', 'prohibited_content'],
  model_output: ['tool_use_failed', 'json_validate_failed', 'output_parse_failed', 'malformed_function_call'],
  model_gone: [
    'model_not_found',
    'model_decommissioned',
    'model_deprecated',
    'model_not_available',
    'not_found_error',
    'unknown_model',
    'unavailable_model',
    'invalid_model',
  ],
}

function byCode(error: WireError | undefined): Classified | undefined {
  const named = [error?.code?.toLowerCase(), error?.type?.toLowerCase()]
  const found = Object.keys(codes).find((name) => codes[name]!.some((code) => named.includes(code)))
  // A model that wrote a broken call may write a good one the next time; nothing else here mends itself.
  return found === undefined ? undefined : { class: found as FailureClass, retryable: found === 'model_output' }
}

/** The providers' own sentences, for errors without a code. A 429 is always about rates. */
const sentences: readonly { readonly class: FailureClass; readonly pattern: RegExp }[] = [
  {
    class: 'quota',
    pattern:
      /credit balance is too low|insufficient credits|reached your specified api usage limits|spend(?:ing)? limit/i,
  },
  {
    class: 'auth',
    pattern: /api key (?:not valid|expired|not found)|invalid x-api-key|(?:incorrect|invalid) api key/i,
  },
  {
    class: 'context_length',
    pattern:
      /prompt is too long|maximum context length|exceeds? (?:the )?(?:available )?context (?:length|limit|window|size)|input token count.{0,80}exceeds|too large for model|reduce (?:the length of the messages|your message size)/i,
  },
  {
    class: 'policy',
    pattern: /content management policy|flagged (?:by|for|as)|was flagged|usage polic(?:y|ies)|responsible ai/i,
  },
  {
    class: 'model_gone',
    pattern:
      /\bmodels?\b.{0,200}?(?:not found|does not exist|decommissioned|no longer (?:available|supported)|has been retired)|is not a valid model/i,
  },
]

function byWords(message: string, status = 200): Classified | undefined {
  if (status === 429 || status === 401) return undefined
  const words = message.slice(0, 2000)
  const found = sentences.find(({ pattern }) => pattern.test(words))
  return found && final(found.class)
}

/** 498 is Groq's "flex tier has no capacity", 520–524 are Cloudflare's, 529 is Anthropic's "overloaded". */
function byStatus(status: number | undefined): Classified | undefined {
  if (status === undefined || status < 300) return undefined
  if (status < 400) return final('protocol')
  if (status === 401 || status === 403) return final('auth')
  if (status === 404) return final('model_gone')
  if ([408, 409, 425, 429, 498].includes(status)) return again('rate')
  return status >= 500 ? again('down') : final('request')
}

/** The general kinds decide only where there is no status: in an error inside a 200 or in a stream. */
const kinds: readonly { readonly found: Classified; readonly pattern: RegExp }[] = [
  { found: again('rate'), pattern: /^(?:rate_?limit.*|resource_exhausted|too_many_requests|.*capacity_exceeded)$/i },
  { found: final('auth'), pattern: /^(?:permission_denied|forbidden|unauthorized)$/i },
  { found: final('model_gone'), pattern: /^not_found$/i },
  { found: final('policy'), pattern: /^(?:safety|recitation|blocklist|spii|refusal)$/i },
  {
    found: final('request'),
    pattern: /^(?:invalid_.*|failed_precondition|unsupported_.*|request_too_large|out_of_range)$/i,
  },
]

function byKind(error: WireError | undefined): Classified | undefined {
  const named = [error?.code ?? '', error?.type ?? '']
  return kinds.find(({ pattern }) => named.some((name) => pattern.test(name)))?.found
}

/** Codes of undici, Node and OpenSSL. A timeout after the request was sent is not retried: it may be at work. */
function byTransport(thrown: unknown): Classified {
  const code = transportCode(thrown) ?? ''
  if (/^(?:AbortError|ABORT_ERR|UND_ERR_ABORT(?:ED)?|cancelled)$/.test(code)) return final('cancelled')
  if (/^(?:UND_ERR_HEADERS_TIMEOUT|UND_ERR_BODY_TIMEOUT|TimeoutError|timeout)$/.test(code)) return final('down')
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') return again('protocol')
  if (/^HPE_|^UND_ERR_(?:RES_EXCEEDED_MAX_SIZE|HEADERS_OVERFLOW)$|^Z_|^UNREADABLE_ANSWER$/.test(code))
    return final('protocol')
  if (/^UND_ERR_(?:INVALID_ARG|REQ_CONTENT_LENGTH_MISMATCH|NOT_SUPPORTED)$/.test(code)) return final('request')
  return again('down')
}

/** The code of an error or of its cause; an aborted call has a name instead of a code. */
function transportCode(thrown: unknown): string | undefined {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 5; error = error.cause, depth++) {
    const code = (error as { code?: unknown }).code
    if (error.name === 'AbortError' || error.name === 'TimeoutError') return error.name
    // undici's HTTP parser has a message, and a code in some versions only.
    if (error.name === 'HTTPParserError') return typeof code === 'string' ? code : 'HPE_INVALID'
    if (typeof code === 'string') return code
  }
  return undefined
}

/** `x-should-retry` (OpenAI, Anthropic) is the provider's own word on the matter. */
function mayRetry(found: Classified, signal: FailureSignal): boolean {
  const word = header(signal.headers ?? {}, 'x-should-retry')
  if (found.class === 'cancelled' || found.class === 'retired') return false
  return word === 'true' || word === 'false' ? word === 'true' : found.retryable
}

function messageOf(signal: FailureSignal, status: number | undefined, error: WireError | undefined): string {
  const thrown = signal.thrown instanceof Error ? signal.thrown.message || transportCode(signal.thrown) : undefined
  const words =
    error?.message || thrown || (status === undefined ? 'The provider did not answer' : `HTTP status ${status}`)
  return words.replace(/\s+/g, ' ').trim().slice(0, 500)
}
