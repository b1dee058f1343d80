import { randomBytes } from 'node:crypto'
import type { App } from '../app/app.ts'
import { responses } from '../chat/dialects/responses/dialect.ts'
import { fromClient } from '../chat/dialects/responses/placement.ts'
import { writeResponses } from '../chat/dialects/responses/response.ts'
import { createStreamWriter, type ResponseWriter } from '../chat/dialects/responses/stream-writer.ts'
import { personaIn } from '../chat/model-address.ts'
import { isObject, type JsonObject, objectsOf } from '../chat/protocol/json-object.ts'
import type { ChatRequest } from '../chat/protocol/messages.ts'
import type { RouteReport } from '../chat/route-report.ts'
import { AppError } from '../errors.ts'
import { nextStage } from '../formats/json-writer.ts'
import { parseInput } from '../operations/ask.ts'
import { boundText, chat, routed } from '../operations/chat.ts'
import { completeChat, prepareChat, reportHeaders, streamChat } from '../operations/prepare-chat.ts'
import { readJson } from './body.ts'
import { conversationOf } from './client-conversation.ts'
import { responsesError, responsesErrorBody } from './dialect-errors.ts'
import { sendEvents } from './event-stream.ts'
import type { Identify, Identity } from './identity.ts'
import { type RequestContext, sendJson } from './request-context.ts'
import { callerOf, type Route, whileLoggedIn } from './routes.ts'

/** A request whose input is the whole conversation. */
export interface WholeRequest {
  readonly body: JsonObject
  /** Fields of the response object that the body no longer tells, such as `previous_response_id`. */
  readonly echo?: JsonObject
  /**
   * Takes a response that is whole, before its client has the end of it, with the sealed reasoning that the client may not
   * have asked for. Must not fail: the answer is there.
   */
  readonly keep?: (response: JsonObject) => Promise<void> | void
}

/** Completes a request from the responses that are kept: earlier items, and those that it refers to. */
export type Complete = (body: JsonObject, identity: Identity) => Promise<WholeRequest> | WholeRequest

/** The Responses API of OpenAI: https://platform.openai.com/docs/api-reference/responses */
export function responsesRoutes(app: App, identify: Identify, complete: Complete = withoutState): readonly Route[] {
  const path = '/v1/responses'
  return [
    {
      method: 'POST',
      path,
      errorBody: responsesErrorBody,
      async handle(context) {
        const identity = await identify(context, { access: 'user', scope: 'chat' })
        await answerResponse(app, context, identity, complete).catch(rethrowPermanent)
      },
    },
    {
      method: 'GET',
      path,
      errorBody: responsesErrorBody,
      async handle(context) {
        if (context.request.headers.upgrade !== undefined) return refuseUpgrade(context)
        await identify(context, { access: 'user', scope: 'chat' })
        throw new AppError('not_found', 'Responses are not listed: POST /v1/responses makes one')
      },
    },
  ]
}

/**
 * Clients try a WebSocket first, and fall back to POST at once on a 426, which therefore comes before the guards
 * (https://www.rfc-editor.org/rfc/rfc9110#name-426-upgrade-required).
 */
function refuseUpgrade({ response }: RequestContext): void {
  const message = 'WebSockets are not served: send POST /v1/responses'
  const body = JSON.stringify({
    error: { message, type: 'invalid_request_error', param: null, code: 'upgrade_required' },
  })
  response.writeHead(426, {
    'content-type': 'application/json; charset=utf-8',
    connection: 'close',
    upgrade: 'HTTP/1.1',
  })
  response.end(body)
}

async function answerResponse(
  app: App,
  context: RequestContext,
  identity: Identity,
  complete: Complete,
): Promise<void> {
  const told = await readJson(context.request, chat.limit!)
  const caller = callerOf(identity)
  const work = { user: caller.id, isOver: () => context.response.destroyed }
  await nextStage(told, work)
  const { body, echo, keep } = await complete(isObject(told) ? told : {}, identity)
  const read = responses.readRequest(body)
  if (read.messages.length === 0)
    throw new AppError('invalid', 'Invalid chat request', { details: ['input: must hold at least one item'] })
  await nextStage(read, work)
  const input = parseInput(chat, read)
  boundText(app.settings, input)
  await nextStage(input, work)
  const call = { app, caller, signal: context.disconnected }
  const order = routed(input)
  const ready = await prepareChat(call, { ...forRouter(order, body), conversation: conversationOf(context, told) })
  const { reasoning } = await app.chat()
  // The client's own request is repeated to it, not the one that a persona made of it.
  const asked = withEcho(order.request as ChatRequest, echo)
  const optionsFor = (report: RouteReport) => ({
    id: `resp_${randomBytes(24).toString('hex')}`,
    seal: reasoning.sealFor(caller.id, report),
  })
  if (order.request.stream)
    return whileLoggedIn(context, identity, async () => {
      const { chunks, report, booking } = await streamChat(call, ready, context.signal)
      const writer = createStreamWriter(asked, optionsFor(report))
      const encoder = { ...writer, fail: (error: AppError) => writer.fail(responsesError(error)) }
      const headers = { ...reportHeaders(report, ready), ...booking.limitHeaders('openai') }
      if (!keep) return sendEvents(context, chunks, encoder, headers)
      const kept = keptStream(chunks, writer, keep)
      await sendEvents(context, kept.chunks, { ...encoder, end: kept.end }, headers)
    })
  const { reply, report, booking } = await completeChat(call, ready, call.signal)
  const cost = booking.cost()
  const costHeader = cost && { 'x-aichat-cost': String(cost.cost_usd ?? 'unknown') }
  const headers = { ...reportHeaders(report, ready), ...costHeader, ...booking.limitHeaders('openai') }
  for (const name in headers) context.response.setHeader(name, headers[name as keyof typeof headers]!)
  const { shown, stored } = writeResponses(reply, asked, optionsFor(report))
  await keep?.(stored)
  sendJson(context, 200, shown)
}

/** A stream whose response is kept before its end is told: a client may go on with it at once. */
function keptStream<T>(chunks: AsyncIterable<T>, writer: ResponseWriter, keep: NonNullable<WholeRequest['keep']>) {
  let end = ''
  async function* whole(): AsyncGenerator<T> {
    yield* chunks
    end = writer.end()
    await keep(writer.stored())
  }
  return { chunks: whole(), end: () => end }
}

type Order = ReturnType<typeof routed>

/** Told to store it, a persona's chat is refused as in OpenAI's other dialect. */
function forRouter(order: Order, { store }: JsonObject): Order {
  const request = fromClient(order.request as ChatRequest)
  const isRefused = personaIn(request.model) !== undefined && store === true
  return { ...order, request: isRefused ? { ...request, store } : request }
}

function withEcho(request: ChatRequest, echo: JsonObject | undefined): ChatRequest {
  if (!echo) return request
  const responses = { ...request.extra_content?.['responses'], ...echo }
  return { ...request, extra_content: { ...request.extra_content, responses } }
}

/** Refuses a request that names anything kept; none is kept. A reference to reasoning says nothing to another provider. */
function withoutState(body: JsonObject): WholeRequest {
  const problems = ['previous_response_id', 'conversation', 'background'].filter((name) => Boolean(body[name]))
  const items = objectsOf(body['input'])
  const referred = items.filter(({ type }) => type === 'item_reference')
  const unknown = referred.filter(({ id }) => !String(id).startsWith('rs_'))
  if (problems.length > 0 || unknown.length > 0) {
    const details = [
      ...problems.map((name) => `${name}: nothing is kept here, so send the whole conversation with store: false`),
      ...unknown.map(({ id }) => `input: item ${String(id).slice(0, 100)} not found`),
    ]
    const code = problems[0] === 'previous_response_id' ? 'previous_response_not_found' : 'invalid_request_error'
    const provider = { type: 'invalid_request_error', code, ...(problems[0] && { param: problems[0] }) }
    throw new AppError('invalid', 'Invalid request', { details, provider })
  }
  return {
    body: referred.length === 0 ? body : { ...body, input: items.filter(({ type }) => type !== 'item_reference') },
  }
}

/** Codex repeats a 5xx thirty times: a failure that no retry can mend is a 400 there. */
function rethrowPermanent(thrown: unknown): never {
  if (!(thrown instanceof AppError) || !thrown.final || thrown.status < 500) throw thrown
  const { message, details, headers, code, cause } = thrown
  const provider = thrown.provider ?? { type: 'invalid_request_error', code }
  throw new AppError('invalid', message, { details, headers, provider, final: true, cause })
}
