import type { App } from '../app/app.ts'
import { AppError } from '../errors.ts'
import { type Ask, askInProcess, type Caller, listPersonas } from '../operations/operations.ts'
import { readJson } from './body.ts'
import type { Identify, Rule } from './identity.ts'
import { drained, type ErrorBody, failureOf, type RequestContext, sendError } from './request-context.ts'
import { callOf, type Route, whileLoggedIn } from './routes.ts'

/** The longest message of a client: bytes. A memory has at most 20,000 characters. */
const longestMessage = 1024 * 1024

/** The most messages of a batch, which clients of 2025-03-26 may send. */
const longestBatch = 20

const rule: Rule = { access: 'user', scope: 'memory' }

/**
 * The routes of the Model Context Protocol: the memory of a persona, by id or name; `/mcp` is that of a key for one persona,
 * and of a user with one. Only POST: no session is kept, and nothing is sent unasked.
 */
export function mcpRoutes(app: App, identify: Identify): readonly Route[] {
  return ['/mcp', '/mcp/:persona'].map((path) => ({
    method: 'POST',
    path,
    errorBody,
    async handle(context) {
      const identity = await identify(context, rule)
      const call = callOf(app, context, identity)
      const { ask } = askInProcess(app, call.caller)
      const asked: Ask = (operation, input) => ask(operation, input, call.signal)
      const readOnly = isReadOnly(context.query)
      const persona = context.params['persona'] ?? (await onlyPersona(asked, call.caller))
      const { takeSeat } = await import('../mcp-server/seat.ts')
      const seat = await takeSeat(asked, persona, { readOnly })
      const body = await readMessage(context)
      if (body === undefined) return
      const { answerMessage } = await import('../mcp-server/http.ts')
      const request = requestOf(context)
      await whileLoggedIn(context, identity, async () =>
        sendResponse(context, await answerMessage(seat, request, body)),
      )
    },
  }))
}

/** The value of `?read_only=`. Throws `invalid` for another one, and for other names: a misspelt one would allow writes. */
function isReadOnly(query: URLSearchParams): boolean {
  const unknown = [...query.keys()].find((name) => name !== 'read_only')
  if (unknown !== undefined)
    throw new AppError('invalid', 'Invalid request', { details: ['Query parameters: read_only'] })
  const given = query.get('read_only')
  if (given === null || /^(?:0|false)$/i.test(given)) return false
  if (/^(?:1|true)?$/i.test(given)) return true
  throw new AppError('invalid', 'Invalid request', { details: ['read_only: must be true or false'] })
}

/** The persona of a key for one, else the only one. Throws `invalid` where the address has to name it. */
async function onlyPersona(ask: Ask, { key }: Caller): Promise<string> {
  const listed = key?.personas
  if (listed?.length === 1) return listed[0]!
  const known = await ask(listPersonas, {}).then(({ personas }) => personas, unlessKeyScope)
  if (known.length === 1) return known[0]!.id
  throw new AppError('invalid', 'The address names no persona', {
    details: [
      'Use /mcp/PERSONA with its id or name, or a key for one persona: aichat key create NAME --persona PERSONA',
    ],
  })
}

/** A key without the scope `personas` lists none. */
function unlessKeyScope(thrown: unknown): readonly never[] {
  if (thrown instanceof AppError && thrown.code === 'key_scope') return []
  throw thrown
}

/** The message of a request; undefined where the failure is answered already: JSON-RPC has its own code for it. */
async function readMessage(context: RequestContext): Promise<unknown> {
  let body: unknown
  try {
    body = await readJson(context.request, longestMessage)
    if (body === undefined) throw new AppError('invalid', 'The body is empty')
  } catch (thrown) {
    const error = failureOf(context, thrown)
    if (error.code !== 'invalid') throw error
    return void sendError(context, error, (...failed) => rpcError(-32_700, ...failed))
  }
  if (Array.isArray(body) && body.length > longestBatch)
    throw new AppError('invalid', `A batch may hold at most ${longestBatch} messages`)
  return body
}

/** The request as the SDK reads it, without its body and its credentials. */
function requestOf({ request, signal }: RequestContext): Request {
  const headers = new Headers()
  for (const name of ['accept', 'content-type', 'mcp-protocol-version', 'mcp-session-id', 'mcp-method', 'mcp-name']) {
    const value = request.headers[name]
    if (typeof value === 'string') headers.set(name, value)
  }
  return new Request('http://localhost/mcp', { method: 'POST', headers, signal })
}

/** Sends the SDK's answer, at the pace of the client. */
async function sendResponse({ response, signal }: RequestContext, { status, headers, body }: Response): Promise<void> {
  response.statusCode = status
  for (const [name, value] of headers) response.setHeader(name, value)
  for await (const piece of body ?? []) {
    if (signal.aborted) break
    if (!response.write(piece)) await drained(response)
  }
  response.end()
}

/** The failure of a request as JSON-RPC: -32600 for an invalid one, else the code for servers' own. */
const errorBody: ErrorBody = (error, ...failed) =>
  rpcError(error.code === 'invalid' ? -32_600 : -32_000, error, ...failed)

function rpcError(code: number, ...[{ message, details, shownCode }, requestId]: Parameters<ErrorBody>) {
  const data = { code: shownCode, details: [...details], request_id: requestId }
  return { jsonrpc: '2.0', id: null, error: { code, message: [message, ...details].join('. '), data } }
}
