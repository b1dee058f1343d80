import { type ClientError, clientDialects } from '../chat/chat.ts'
import type { AppError } from '../errors.ts'
import type { ErrorBody, RequestContext } from './request-context.ts'
import type { Route } from './routes.ts'

/** The dialects of /v1, and that of /ollama. */
export type Inbound = 'openai-chat' | 'anthropic-messages' | 'ollama'

/** OpenAI's type for a failure of this HTTP status; Anthropic's follow in its dialect. */
const openaiTypes: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  405: 'invalid_request_error',
  413: 'invalid_request_error',
  415: 'invalid_request_error',
  417: 'invalid_request_error',
  422: 'invalid_request_error',
  429: 'rate_limit_error',
}

/** A failure for clients of a dialect: the provider's type and code, else OpenAI's type for the status and our code. */
export function clientError(error: AppError, id: Inbound): ClientError {
  const { status, provider } = error
  const names =
    id === 'openai-chat'
      ? { type: provider?.type ?? openaiTypes[status] ?? 'api_error', code: provider ? provider.code : codeOf(error) }
      : { type: provider?.type, code: provider?.code, details: provider?.details }
  return { message: textOf(error), status, param: provider?.param, ...names }
}

/** The codes by which clients of the Responses API act, for the names of other providers. */
const responsesCodes: readonly (readonly [pattern: RegExp, code: string])[] = [
  [/^(?:insufficient_quota|budget_exceeded|billing|insufficient_credits)/, 'insufficient_quota'],
  [/^(?:rate_?limit|resource_exhausted|too_many_requests)/, 'rate_limit_exceeded'],
  [/^(?:content_policy|content_filter|prohibited_content|responsibleai)/, 'invalid_prompt'],
]

/** A failure for the clients of the Responses API, which wait as long as its words say. */
export function responsesError(error: AppError): ClientError {
  const shape = clientError(error, 'openai-chat')
  const names = [error.provider?.type, shape.code ?? undefined].map((name) => name?.toLowerCase() ?? '')
  const found = responsesCodes.find(([pattern]) => names.some((name) => pattern.test(name)))
  const code = found?.[1] ?? shape.code
  const { retryAfter } = error
  const isWait = code === 'rate_limit_exceeded' && retryAfter !== undefined && !/try again in/i.test(shape.message)
  return { ...shape, code, message: isWait ? `${shape.message}. Please try again in ${retryAfter}s.` : shape.message }
}

/** A failure as the body of an answer of the Responses API. */
export const responsesErrorBody: ErrorBody = (error) =>
  clientDialects['openai-responses'].writeError(responsesError(error))

/** Our code of a failure; a missing or wrong credential of any kind has OpenAI's. */
function codeOf({ code }: AppError): string {
  return code === 'unauthenticated' ? 'invalid_api_key' : code
}

/** A failure as the body of an OpenAI answer. */
export const openaiError: ErrorBody = (error) =>
  clientDialects['openai-chat'].writeError(clientError(error, 'openai-chat'))

/** A failure as the body of an Anthropic answer. */
export const anthropicError: ErrorBody = (error, requestId) => ({
  ...clientDialects['anthropic-messages'].writeError(clientError(error, 'anthropic-messages')),
  request_id: requestId,
})

/** A failure as the body of an answer of Ollama's: one text. */
export const ollamaError: ErrorBody = (error) => clientDialects.ollama.writeError(clientError(error, 'ollama'))

/** The dialect of a request to an address that both have: Anthropic's clients send their version with every request. */
export function clientDialect({ request, path }: RequestContext): Inbound {
  const { headers } = request
  const isAnthropic = headers['anthropic-version'] !== undefined || headers['x-api-key'] !== undefined
  return isAnthropic || /^\/v1\/messages\b/.test(path) ? 'anthropic-messages' : 'openai-chat'
}

/** A failure in the dialect of its request. */
export const errorOfClient: ErrorBody = (error, requestId, context) =>
  (clientDialect(context) === 'openai-chat' ? openaiError : anthropicError)(error, requestId, context)

/** The refusal of an unknown address under /v1/ or /ollama/: in the dialect of its request, listing the routes. */
export function refusalsFor(routes: readonly Route[]) {
  const ofOllama = routes.filter(({ path }) => isOllamas(path))
  const others = routes.filter(({ path }) => !isOllamas(path))
  return ({ path }: RequestContext) => {
    if (isOllamas(path)) return { errorBody: ollamaError, existing: listed(ofOllama) }
    return path.startsWith('/v1/') ? { errorBody: errorOfClient, existing: listed(others) } : undefined
  }
}

function isOllamas(path: string): boolean {
  return path === '/ollama' || path.startsWith('/ollama/')
}

function listed(routes: readonly Route[]): readonly string[] {
  return [`There is ${routes.map(({ method, path }) => `${method} ${shown(path)}`).join(', ')}`]
}

/** `/v1/models/**:id` as documentation writes it. */
function shown(path: string): string {
  return path.replace('**:', ':')
}

/** The message and the details in one text, since clients show only one. */
function textOf(error: AppError): string {
  return error.details.length === 0 ? error.message : `${error.message} (${error.details.join('; ')})`
}
