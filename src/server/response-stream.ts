import type { App } from '../app/app.ts'
import {
  type ChatChunk,
  type ChatRequest,
  createStreamWriter,
  type Piece,
  type ResponseObject,
  type ResponseOptions,
  type ResponseWriter,
  type RouteReport,
  responseObject,
} from '../chat/chat.ts'
import { type AppError, toAppError } from '../errors.ts'
import { type Call, type ReadyChat, streamChat } from '../operations/operations.ts'
import { responsesError } from './dialect-errors.ts'
import { type EventEncoder, sendEvents } from './event-stream.ts'
import type { Identity } from './identity.ts'
import { type RequestContext, sendJson } from './request-context.ts'
import { keepResponse, type WholeRequest } from './response-state.ts'
import { whileLoggedIn } from './routes.ts'

/** The events of an answer, which is kept before its last event: the next request can go on with it at once. */
export function keptEvents(app: App, whole: WholeRequest, writer: ResponseWriter): EventEncoder<ChatChunk> {
  return {
    push: writer.push,
    async end() {
      const text = writer.end()
      return (await keepResponse(app, whole, writer.stored())) ? text : notStored(text)
    },
    fail: (error) => writer.fail(responsesError(error)),
  }
}

/** Marks the response in the last of these events as not stored. */
function notStored(text: string): string {
  const at = text.lastIndexOf('\ndata: ') + '\ndata: '.length
  const event = JSON.parse(text.slice(at))
  return `${text.slice(0, at)}${JSON.stringify({ ...event, response: { ...event.response, store: false } })}\n\n`
}

/** Events that are texts already. */
const textEvents: EventEncoder<string> = {
  push: (text) => text,
  end: () => '',
  fail: (error: AppError) => {
    const { message, code = null, param = null } = responsesError(error)
    return `event: error\ndata: ${JSON.stringify({ type: 'error', code, message, param })}\n\n`
  },
}

/** Sends the events of a response in the background. A comment goes first: the next event may be long in coming. */
export function sendTexts(context: RequestContext, identity: Identity, events: AsyncIterable<string>): Promise<void> {
  const commented = async function* () {
    yield ': waiting\n\n'
    yield* events
  }
  return whileLoggedIn(context, identity, () => sendEvents(context, commented(), textEvents))
}

/** A response that is being made. */
export interface StatefulAnswer {
  readonly call: Pick<Call, 'app' | 'caller' | 'signal'>
  readonly whole: WholeRequest
  readonly ready: ReadyChat
  /** The request as its response repeats it. */
  readonly asked: ChatRequest
  readonly id: string
}

/** The id of a response, and how its reasoning is sealed for the place that answered. */
export async function optionsOf({ call, id }: StatefulAnswer, report: RouteReport): Promise<ResponseOptions> {
  const { reasoning } = await call.app.chat()
  return { id, seal: reasoning.sealFor(call.caller.id, report) }
}

/** A writer of the answer's events, with its reasoning sealed for the place that answers. */
export async function writerOf(answer: StatefulAnswer, report: RouteReport): Promise<ResponseWriter> {
  return createStreamWriter(answer.asked, await optionsOf(answer, report))
}

/** Starts an answer without its client, and tells that it is queued, or its events where these are asked for. */
export async function answerInBackground(
  context: RequestContext,
  identity: Identity,
  answer: StatefulAnswer,
): Promise<void> {
  const { whole, asked, id, call } = answer
  const { background } = await call.app.responses()
  const outline = { id, created: Math.floor(Date.now() / 1000), model: asked.model ?? '' }
  const empty = responseObject(outline, asked, { status: 'in_progress', output: [], usage: undefined })
  const queued = { ...empty, status: 'queued', background: true } as unknown as ResponseObject
  const { stop, ended } = await background.start({ ...whole, queued, run: (signal) => piecesOf(answer, signal) })
  const unwatch = identity.watch?.(stop)
  void ended.then(unwatch)
  if (asked.stream !== true) return sendJson(context, 200, queued)
  const events = await background.follow(whole.reader, id, -1)
  await sendTexts(context, identity, events)
}

async function* piecesOf(answer: StatefulAnswer, signal: AbortSignal): AsyncIterable<Piece> {
  const { call, ready, asked, id } = answer
  let writer = createStreamWriter(asked, { id })
  try {
    const routed = { ...ready.routed, request: { ...ready.routed.request, stream: true } }
    const { chunks, report } = await streamChat(call, { ...ready, routed }, signal)
    writer = await writerOf(answer, report)
    for await (const chunk of chunks) yield { text: writer.push(chunk) }
    const text = writer.end()
    yield { text, stored: writer.stored() as ResponseObject }
  } catch (reason) {
    const text = writer.fail(responsesError(toAppError(reason)))
    yield { text, stored: writer.stored() as ResponseObject }
  }
}
