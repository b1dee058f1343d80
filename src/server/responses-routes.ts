import { randomBytes } from 'node:crypto'
import type { App } from '../app/app.ts'
import {
  type Booking,
  type ChatRequest,
  fromClient,
  type JsonObject,
  objectOf,
  personaIn,
  type RouteReport,
  responses,
  unrepeatedFields,
  writeResponses,
} from '../chat/chat.ts'
import { AppError } from '../errors.ts'
import { nextStage } from '../formats/formats.ts'
import {
  boundText,
  chat,
  completeChat,
  parseInput,
  prepareChat,
  reportHeaders,
  routed,
  streamChat,
} from '../operations/operations.ts'
import { readJson } from './body.ts'
import { conversationOf } from './client-conversation.ts'
import { answerWithCompaction, asksForCompaction } from './compact-response.ts'
import { conversationRoutes } from './conversation-routes.ts'
import { responsesErrorBody } from './dialect-errors.ts'
import { sendEvents } from './event-stream.ts'
import type { Identify, Identity } from './identity.ts'
import { type RequestContext, sendJson } from './request-context.ts'
import { completeRequest, keepResponse } from './response-state.ts'
import { responseStateRoutes } from './response-state-routes.ts'
import { answerInBackground, keptEvents, optionsOf, type StatefulAnswer, writerOf } from './response-stream.ts'
import { callerOf, type Route, whileLoggedIn } from './routes.ts'

/** The Responses API of OpenAI: https://platform.openai.com/docs/api-reference/responses */
export function responsesRoutes(app: App, identify: Identify): readonly Route[] {
  const path = '/v1/responses'
  return [
    {
      method: 'POST',
      path,
      errorBody: responsesErrorBody,
      async handle(context) {
        const identity = await identify(context, { access: 'user', scope: 'chat' })
        await answerResponse(app, context, identity).catch(rethrowPermanent)
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
    ...responseStateRoutes(app, identify),
    ...conversationRoutes(app, identify),
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

async function answerResponse(app: App, context: RequestContext, identity: Identity): Promise<void> {
  const sent = await readJson(context.request, chat.limit!)
  const caller = callerOf(identity)
  const work = { user: caller.id, isOver: () => context.response.destroyed }
  await nextStage(sent, work)
  const whole = await completeRequest(app, context, identity, sent)
  if (asksForCompaction(whole)) return answerWithCompaction(app, context, identity, whole)
  const read = responses.readRequest(whole.body)
  if (read.messages.length === 0)
    throw new AppError('invalid', 'Invalid chat request', { details: ['input: must hold at least one item'] })
  await nextStage(read, work)
  const input = parseInput(chat, read)
  boundText(app.settings, input)
  await nextStage(input, work)
  const { opened, echo, inBackground } = whole
  const call = { app, caller, signal: inBackground ? undefined : context.connection, watch: context.record }
  const order = routed(input)
  const conversation = conversationOf(context, { ...objectOf(sent), previous_response_id: opened.thread })
  const ready = await prepareChat(call, { ...forRouter(order, objectOf(sent)), conversation })
  // The client's own request is repeated to it, not the one that a persona made of it.
  const asked = withEcho(order.request as ChatRequest, echo)
  const answer: StatefulAnswer = { call, whole, ready, asked, id: `resp_${randomBytes(24).toString('hex')}` }
  if (inBackground) return answerInBackground(context, identity, answer)
  const unrepeated = unrepeatedFields(asked).map((name) => `The response does not repeat ${name}: it is too long`)
  const headersOf = ({ report, booking }: { readonly report: RouteReport; readonly booking: Booking }) => ({
    ...reportHeaders({ ...report, warnings: [...report.warnings, ...opened.warnings, ...unrepeated] }, ready),
    ...booking.limitHeaders('openai'),
  })
  if (order.request.stream)
    return whileLoggedIn(context, identity, async () => {
      const stream = await streamChat(call, ready, context.signal)
      const writer = await writerOf(answer, stream.report)
      await sendEvents(context, stream.chunks, keptEvents(app, whole, writer), headersOf(stream))
    })
  const routedReply = await completeChat(call, ready, call.signal)
  const { shown, stored } = writeResponses(routedReply.reply, asked, await optionsOf(answer, routedReply.report))
  const isKept = await keepResponse(app, whole, stored)
  const cost = routedReply.booking.cost()
  const costHeader = cost && { 'x-aichat-cost': String(cost.cost_usd ?? 'unknown') }
  for (const [name, value] of Object.entries({ ...headersOf(routedReply), ...costHeader }))
    context.response.setHeader(name, value)
  sendJson(context, 200, isKept ? shown : { ...shown, store: false })
}

type Order = ReturnType<typeof routed>

/** The chat for the router. If it is to be stored, a persona's chat is refused as in OpenAI's other dialect. */
function forRouter(order: Order, { store }: JsonObject): Order {
  const request = fromClient(order.request as ChatRequest)
  const isRefused = personaIn(request.model) !== undefined && store === true
  return { ...order, request: isRefused ? { ...request, store } : request }
}

function withEcho(request: ChatRequest, echo: JsonObject): ChatRequest {
  const responses = { ...request.extra_content?.['responses'], ...echo }
  return { ...request, extra_content: { ...request.extra_content, responses } }
}

/** Codex repeats a 5xx thirty times: a failure that no retry can mend is a 400 there. */
function rethrowPermanent(thrown: unknown): never {
  if (!(thrown instanceof AppError) || !thrown.final || thrown.status < 500) throw thrown
  const { message, details, headers, code, cause } = thrown
  const provider = thrown.provider ?? { type: 'invalid_request_error', code }
  throw new AppError('invalid', message, { details, headers, provider, final: true, cause })
}
