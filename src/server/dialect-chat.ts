import type { App } from '../app/app.ts'
import { badEnding } from '../chat/dialects/anthropic/response.ts'
import { dialectFor } from '../chat/dialects/dialects.ts'
import type { Dialect } from '../chat/protocol/dialect.ts'
import type { ChatRequest } from '../chat/protocol/messages.ts'
import { AppError } from '../errors.ts'
import { nextStage } from '../formats/json-writer.ts'
import { parseInput } from '../operations/ask.ts'
import { boundText, chat, routed } from '../operations/chat.ts'
import { completeChat, prepareChat, reportHeaders, streamChat } from '../operations/prepare-chat.ts'
import { readJson } from './body.ts'
import { conversationOf } from './client-conversation.ts'
import { clientError, type Inbound } from './dialect-errors.ts'
import { sendEvents } from './event-stream.ts'
import type { Identity } from './identity.ts'
import { type RequestContext, sendJson } from './request-context.ts'
import { callerOf, whileLoggedIn } from './routes.ts'

/** Answers a chat in the dialect of its request; sessions are for /api/chat. */
export async function answerChat(app: App, context: RequestContext, identity: Identity, id: Inbound): Promise<void> {
  const dialect = dialectFor(id, '')
  const wire = await readJson(context.request, chat.limit!)
  const body = dialect.readRequest(wire)
  const caller = callerOf(identity)
  const work = { user: caller.id, isOver: () => context.response.destroyed }
  await nextStage(body, work)
  const input = parseInput(chat, withBetas(body, context))
  boundText(app.settings, input)
  await nextStage(input, work)
  // A signal for each request costs 5 µs: the connection's will do.
  const call = { app, caller, signal: context.disconnected }
  const ready = await prepareChat(call, { ...routed(input), conversation: conversationOf(context, wire) })
  const { request } = ready.routed
  const limitNames = id === 'anthropic-messages' ? 'anthropic' : 'openai'
  if (request.stream)
    return whileLoggedIn(context, identity, async () => {
      const { chunks, report, booking } = await streamChat(call, ready, context.signal)
      const encoder = dialect.createStreamWriter(request as Parameters<Dialect['createStreamWriter']>[0])
      const events = { ...encoder, fail: (error: AppError) => encoder.fail(clientError(error, id)) }
      await sendEvents(context, chunks, events, {
        ...reportHeaders(report, ready),
        ...booking.limitHeaders(limitNames),
      })
    })
  const { reply, report, booking } = await completeChat(call, ready, call.signal)
  const [choice] = reply.choices
  // Anthropic's messages have no stop reason for such an end; a stream of them ends with an error event.
  if (id === 'anthropic-messages' && choice?.finish_reason === 'error')
    throw new AppError('protocol', badEnding(choice))
  setHeaders(context, reportHeaders(report, ready))
  const cost = booking.cost()
  if (cost) context.response.setHeader('x-aichat-cost', cost.cost_usd ?? 'unknown')
  const limits = booking.limitHeaders(limitNames)
  if (limits) setHeaders(context, limits)
  sendJson(context, 200, dialect.writeResponse(reply))
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
