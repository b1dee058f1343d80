import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import type { App } from '../app/app.ts'
import {
  type ChatRequest,
  compactionPlace,
  compactionRequest,
  responses as dialect,
  fromClient,
  hasCompaction,
  itemId,
  type JsonObject,
  keptItems,
  keptMessages,
  objectOf,
  ownCompaction,
  writeUsage,
} from '../chat/chat.ts'
import { AppError } from '../errors.ts'
import {
  boundText,
  chat,
  completeChat,
  parseInput,
  prepareChat,
  reportHeaders,
  routed,
} from '../operations/operations.ts'
import type { Identity } from './identity.ts'
import { type RequestContext, sendJson } from './request-context.ts'
import type { WholeRequest } from './response-state.ts'
import { sendTexts } from './response-stream.ts'
import { callerOf } from './routes.ts'

type Compacting = Pick<WholeRequest, 'body' | 'items'>

/** Answers with the conversation in few items. Nothing of it is kept. */
export async function compactResponse(
  app: App,
  context: RequestContext,
  identity: Identity,
  whole: Compacting,
): Promise<void> {
  const { created_at, ...made } = await compactionOf(app, context, identity, whole)
  sendJson(context, 200, { ...made, object: 'response.compaction', created_at })
}

/** Whether a request asks for a compaction instead of an answer, as Codex does of OpenAI: by its last item. */
export function asksForCompaction({ items }: Compacting): boolean {
  return objectOf(items.at(-1))['type'] === 'compaction_trigger'
}

/** Answers such a request with a response whose output is the compaction alone. */
export async function answerWithCompaction(
  app: App,
  context: RequestContext,
  identity: Identity,
  { body, items }: Compacting,
): Promise<void> {
  const input = (body['input'] as readonly unknown[]).slice(0, -1)
  const whole = { body: { ...body, input }, items: items.slice(0, -1) }
  const made = await compactionOf(app, context, identity, whole)
  const output = made.output.filter((item) => hasCompaction([item]))
  const response = { ...made, object: 'response', status: 'completed', model: body['model'], output }
  if (body['stream'] !== true) return sendJson(context, 200, response)
  const events = [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [], usage: null } },
    ...output.map((item, at) => ({ type: 'response.output_item.done', output_index: at, item })),
    { type: 'response.completed', response },
  ]
  const texts = events.map(({ type, ...event }, at) => {
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: at, ...event })}\n\n`
  })
  await sendTexts(context, identity, Readable.from(texts))
}

/**
 * The conversation in few items: those of the provider where it has compaction of its own, else the user's newest messages
 * and a summary by the model, sealed for its user. The answer's headers are set.
 */
async function compactionOf(app: App, context: RequestContext, identity: Identity, { body, items }: Compacting) {
  const read = dialect.readRequest(body)
  if (read.messages.length === 0)
    throw new AppError('invalid', 'Invalid chat request', { details: ['input: must hold at least one item'] })
  const input = parseInput(chat, read)
  boundText(app.settings, input)
  const caller = callerOf(identity)
  const call = { app, caller, signal: context.connection, watch: context.record }
  const order = routed(input)
  const request = compactionRequest(fromClient(order.request as ChatRequest))
  // A persona neither remembers the summary nor calls her tools for it.
  const ready = await prepareChat(call, { ...order, request, memory: false, toolTurn: true })
  const { reply, report, booking } = await completeChat(call, ready, call.signal)
  const message = reply.choices[0]?.message
  const id = `resp_${randomBytes(24).toString('hex')}`
  const summary = typeof message?.content === 'string' ? message.content.trim() : ''
  const own = message && ownCompaction(message)
  if (!own && summary === '') throw new AppError('protocol', 'The model gave no summary: ask again, or another model')
  const output = own ?? [...shownMessages(items), await sealed(app, caller.id, summary, itemId('cmp', id, 0))]
  for (const [name, value] of Object.entries({ ...reportHeaders(report, ready), ...booking.limitHeaders('openai') }))
    context.response.setHeader(name, value)
  const usage = reply.usage ?? { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
  return { id, created_at: Math.floor(Date.now() / 1000), output, usage: writeUsage(usage) }
}

function shownMessages(items: readonly unknown[]): readonly JsonObject[] {
  return keptItems(keptMessages(items)).map((item) => {
    const { content } = item
    const parts = typeof content === 'string' ? [{ type: 'input_text', text: content }] : content
    return { ...item, status: 'completed', content: parts }
  })
}

async function sealed(app: App, user: string, text: string, id: string): Promise<JsonObject> {
  const { reasoning } = await app.chat()
  return { id, type: 'compaction', encrypted_content: reasoning.sealFor(user, compactionPlace)({ text }) }
}
