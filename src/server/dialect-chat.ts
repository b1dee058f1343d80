import type { App } from '../app/app.ts'
import { badEnding, type ChatRequest, type ClientDialect, clientDialects } from '../chat/chat.ts'
import { AppError } from '../errors.ts'
import { heavyRequest, heavyValue, weightOf } from '../formats/formats.ts'
import {
  boundText,
  type ChatOrder,
  chat,
  completeEach,
  parseInput,
  plainOrder,
  prepareChat,
  type ReadyChats,
  reportHeaders,
  routed,
  streamEach,
} from '../operations/operations.ts'
import { heavyTurn } from '../process/process.ts'
import { readJson } from './body.ts'
import { conversationOf } from './client-conversation.ts'
import { clientError, type Inbound } from './dialect-errors.ts'
import { type EventFormat, sendEvents } from './event-stream.ts'
import type { Identity } from './identity.ts'
import { type RequestContext, sendJson, sendText } from './request-context.ts'
import { callerOf, whileLoggedIn } from './routes.ts'

/** How a chat comes in and its answer goes out: a dialect, or another shape of one. */
export interface ChatShape
  extends Pick<ClientDialect, 'readRequest' | 'writeResponse' | 'sourceOf' | 'createStreamWriter'> {
  readonly id: Inbound
  /** Where the stream is not one of server-sent events. */
  readonly format?: EventFormat
  /** The model as the router knows it, where clients name it in another way. Answers then name it as the client did. */
  readonly modelOf?: (asked: string) => Promise<string>
  /** The chats of a request, where one asks several; their answers are the choices of one. */
  readonly split?: (request: ChatOrder['request']) => readonly ChatOrder['request'][]
}

const shapes = {
  'openai-chat': { ...clientDialects['openai-chat'], id: 'openai-chat' },
  'anthropic-messages': { ...clientDialects['anthropic-messages'], id: 'anthropic-messages' },
} as const satisfies Readonly<Record<string, ChatShape>>

/** Answers a chat in the dialect of its request; sessions are for /api/chat. */
export function answerChat(
  app: App,
  context: RequestContext,
  identity: Identity,
  id: keyof typeof shapes,
): Promise<void> {
  return answerShaped(app, context, identity, shapes[id], readJson(context.request, chat.limit!))
}

/** The same with a shape of its own, and a body that was read already or is being read. */
export async function answerShaped(
  app: App,
  context: RequestContext,
  identity: Identity,
  shape: ChatShape,
  read: unknown,
): Promise<void> {
  const { id } = shape
  const wire = await read
  const body = shape.readRequest(wire)
  const caller = callerOf(identity)
  const asked = withBetas(body, context)
  const weight = weightOf(asked, heavyRequest)
  const isHeavy = weight > heavyRequest
  const work = { user: caller.id, isOver: () => context.response.destroyed }
  if (isHeavy) await heavyTurn(work)
  const plain = plainOrder(asked) ?? routed(parseInput(chat, asked))
  // A weight counts all that the bound on texts counts, and more.
  if (weight > Math.min(app.settings.limits.chatText, heavyRequest)) boundText(app.settings, plain.request)
  if (isHeavy) await heavyTurn(work)
  // A signal for each request costs 5 µs: the connection's will do.
  const call = { app, caller, signal: context.connection, watch: context.record }
  // The spread comes last: V8 makes a hidden class again, in old space, for each object that begins with a spread and has more.
  const order: ChatOrder = { conversation: conversationOf(context, wire), ...plain }
  const all = prepareAll(call, shape.modelOf ? await named(order, shape.modelOf) : order, shape)
  const chats = all instanceof Promise ? await all : all
  const [ready] = chats
  const { request } = ready.routed
  const limitNames = id === 'anthropic-messages' ? 'anthropic' : 'openai'
  if (request.stream)
    return whileLoggedIn(context, identity, async () => {
      const { chunks, report, booking } = await streamEach(call, chats, call.signal)
      const { push, end, fail } = shape.createStreamWriter(request as ChatRequest)
      const events = { ...shape.format, push, end, fail: (error: AppError) => fail(clientError(error, id)) }
      const headers = reportHeaders(report, ready)
      const limits = booking.limitHeaders(limitNames)
      await sendEvents(context, chunks, events, limits ? { ...headers, ...limits } : headers)
    })
  const { reply, report, booking } = await completeEach(call, chats, call.signal)
  const [choice] = reply.choices
  // Anthropic's messages have no stop reason for such an end; a stream of them ends with an error event.
  if (id === 'anthropic-messages' && choice?.finish_reason === 'error')
    throw new AppError('protocol', badEnding(choice))
  setHeaders(context, reportHeaders(report, ready))
  const cost = booking.cost()
  if (cost) context.response.setHeader('x-aichat-cost', cost.cost_usd ?? 'unknown')
  const limits = booking.limitHeaders(limitNames)
  if (limits) setHeaders(context, limits)
  const source = shape.sourceOf?.(reply)
  if (source !== undefined && source.length <= heavyValue) sendText(context, 200, source)
  else sendJson(context, 200, shape.writeResponse(reply))
}

/** The chats of an order, at once where none of them is a persona's. */
function prepareAll(
  call: Parameters<typeof prepareChat>[0],
  order: ChatOrder,
  { split }: ChatShape,
): ReadyChats | Promise<ReadyChats> {
  if (split) return prepareEach(call, order, split(order.request))
  const ready = prepareChat(call, order)
  return ready instanceof Promise ? ready.then((chat) => [chat]) : [ready]
}

async function prepareEach(
  call: Parameters<typeof prepareChat>[0],
  order: ChatOrder,
  requests: readonly ChatOrder['request'][],
): Promise<ReadyChats> {
  const [first = order, ...others] = requests.map((request) => ({ ...order, request }))
  return [await prepareChat(call, first), ...(await Promise.all(others.map((other) => prepareChat(call, other))))]
}

/** The order for the router's model, answered under the name that the client gave it. */
async function named(order: ChatOrder, modelOf: (asked: string) => Promise<string>): Promise<ChatOrder> {
  const asked = order.request.model ?? ''
  return { ...order, request: { ...order.request, model: await modelOf(asked) }, shownModel: asked }
}

function setHeaders({ response }: RequestContext, headers: Readonly<Record<string, string>>): void {
  for (const name in headers) response.setHeader(name, headers[name]!)
}

/** Claude Code sends about ten. */
const mostBetas = 50

/** The request with the beta features that an `anthropic-beta` header lists, separated by commas. */
function withBetas(request: ChatRequest, { request: { headers } }: RequestContext): ChatRequest {
  const listed = headers['anthropic-beta']
  if (listed === undefined) return request
  const names = listed.toString().split(',')
  const betas = names.map((name) => name.trim()).filter(Boolean)
  const anthropic = { ...request.extra_content?.['anthropic'], betas: betas.slice(0, mostBetas) }
  return { ...request, extra_content: { ...request.extra_content, anthropic } }
}
