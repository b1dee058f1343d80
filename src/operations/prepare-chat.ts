import { performance } from 'node:perf_hooks'
import { permitsOf, requireChatPersona, requirePlainChat } from '../accounts/accounts.ts'
import {
  ChangedItems,
  type ChatChunk,
  type ChatReply,
  personaIn,
  type RequestFacts,
  type RoutedReply,
  type RoutedStream,
  type RouteReport,
} from '../chat/chat.ts'
import { AppError } from '../errors.ts'
import type { OpenRequest, PreparedChat } from '../personas/personas.ts'
import { localOwner } from './ask.ts'
import type { ChatOrder, ReadyChat } from './chat-order.ts'
import { completeWithTools, streamWithTools } from './chat-tools.ts'
import { keepPlain, mayKeep, type Saved, SavedChunks, saveExchange, saveQuestion, titleOf } from './keep-chat.ts'
import type { Call } from './operation.ts'

/**
 * Prepares a chat: of a persona that `persona` or the model names, in a saved conversation, or plain. Throws `not_found` and
 * `forbidden` for a persona or conversation that is not the caller's, `key_scope` where the caller's key is not for it, and
 * `invalid` for two personas or for `store`.
 */
export function prepareChat(
  call: Pick<Call, 'app' | 'caller' | 'signal' | 'watch'>,
  order: ChatOrder,
): ReadyChat | Promise<ReadyChat> {
  const { app, caller, watch } = call
  const { request: asked, plugin, fallback, session, toolTurn, shownModel } = order
  const localOnly = isLocalOnly(order, app)
  const { key } = caller
  const keep = order.keep && mayKeep(key) ? order.keep : undefined
  const started = { order: keep === order.keep ? order : { ...order, keep }, begun: performance.now() }
  const permits = permitsOf(key)
  const named = personaIn(asked.model)
  const user = caller.id
  const facts: RequestFacts = { user, key: key?.id, purpose: 'chat', model: asked.model }
  const route: RouteRequest = (request, ofPersona) => {
    const follower = app.requests.follow(watch, ofPersona ? { ...facts, ...ofPersona } : facts)
    return { request, plugin, fallback, user, key: key?.id, permits, session, localOnly, watch: follower }
  }
  if (named !== undefined || order.persona !== undefined || session !== undefined)
    return preparePersonaChat(call, started, named, route)
  requirePlainChat(key)
  const routed = route(asked)
  // Most chats: one object, since each spread of another copies its fields one by one.
  if (shownModel === undefined && !keep) return { order: started.order, begun: started.begun, routed }
  return {
    ...started,
    routed,
    ...(shownModel !== undefined && { model: shownModel }),
    ...(keep && { finish: keepPlain(call, asked.messages, { keep, toolTurn }) }),
  }
}

/** Makes a request ready for the router, with the facts of its persona. */
type RouteRequest = (
  request: OpenRequest,
  ofPersona?: Pick<RequestFacts, 'persona' | 'memories'>,
) => ReadyChat['routed']

/** A chat with a persona, which the model may have named, or in a saved conversation. */
async function preparePersonaChat(
  { app, caller, signal }: Pick<Call, 'app' | 'caller' | 'signal'>,
  { order, begun }: Pick<ReadyChat, 'order' | 'begun'>,
  named: string | undefined,
  route: RouteRequest,
): Promise<ReadyChat> {
  const { request: asked, session, memory, toolTurn, conversation, shownModel, keep } = order
  const { key } = caller
  const { model, ...rest } = asked
  const request = named === undefined ? asked : rest
  const persona = personaOf(order, named)
  if (persona !== undefined && asked['store'] === true) throw storeRefused()
  const chat = await (await app.personas()).chat.prepare({
    owner: caller.id,
    speaker: caller.id === localOwner.id ? undefined : caller.username,
    persona,
    session,
    conversation,
    memory,
    request,
    toolTurn,
    keep: keep && titleOf(keep, asked.messages),
    allow: (id) => requireChatPersona(key, id),
    by: { key: key?.id, permits: permitsOf(key), localOnly: isLocalOnly(order, app) },
    signal,
  })
  const shown = shownModel ?? (named === undefined ? undefined : model)
  return {
    order,
    begun,
    routed: route(chat.request, { persona, memories: chat.memories.length }),
    chat,
    finish: chat.finish,
    ...(shown !== undefined && { model: shown }),
  }
}

function isLocalOnly({ localOnly }: ChatOrder, { settings }: Pick<Call['app'], 'settings'>): boolean {
  return localOnly === true || settings.localOnly
}

/** The persona of a chat. Throws `invalid` where field and model name two. */
function personaOf({ persona }: ChatOrder, named: string | undefined): string | undefined {
  if (persona === undefined || named === undefined || persona === named) return persona ?? named
  throw new AppError('invalid', 'Invalid chat request', {
    details: ['model: names another persona than the field persona'],
  })
}

/** The provider would keep the persona's prompt and memories, which her owner could not wipe there. */
function storeRefused(): AppError {
  return new AppError('invalid', 'Invalid chat request', {
    details: ['store: must not be true with a persona, since her memory settings decide; leave it out'],
  })
}

/** A whole answer, and where it was saved. */
export type KeptReply = RoutedReply & Omit<Saved, 'warnings'>

/** Asks for a whole answer and saves the exchange. */
export function completeChat(
  call: Pick<Call, 'app'>,
  ready: ReadyChat,
  signal: AbortSignal | undefined,
): Promise<KeptReply> {
  const { finish, model, routed, chat } = ready
  return finish === undefined && model === undefined
    ? completeWithTools(call.app, routed, chat?.servers, signal)
    : completeAndSave(call, ready, signal)
}

async function completeAndSave(
  { app }: Pick<Call, 'app'>,
  ready: ReadyChat,
  signal: AbortSignal | undefined,
): Promise<KeptReply> {
  const routed = await unlessLeft(app, ready, signal, completeWithTools)
  const { report, booking, calls } = routed
  const reply = named(routed.reply, ready)
  const choice = reply.choices[0]
  if (!ready.finish || !choice) return { reply, report, booking }
  const { message, finish_reason } = choice
  const { warnings, ...place } = await saveExchange(app, ready, message, { report, booking, calls, finish_reason })
  return {
    reply,
    report: { ...report, warnings: [...report.warnings, ...warnings] },
    booking,
    ...place,
  }
}

/**
 * Streams an answer and saves the exchange before the end. A last chunk without choices reports a failed save and, with
 * `keep`, the session.
 */
export async function streamChat(
  { app }: Pick<Call, 'app'>,
  ready: ReadyChat,
  signal: AbortSignal | undefined,
): Promise<RoutedStream> {
  const routed = await unlessLeft(app, ready, signal, streamWithTools)
  if (!ready.finish && ready.model === undefined) return routed
  const chunks =
    ready.model === undefined ? routed.chunks : new ChangedItems(routed.chunks, (chunk) => named(chunk, ready))
  return { ...routed, chunks: ready.finish ? new SavedChunks(app, { ...routed, chunks }, ready, signal) : chunks }
}

/** Asks; where the caller leaves before an answer begins, the question of a chat with `keep` is saved. */
async function unlessLeft<T>(
  app: Call['app'],
  ready: ReadyChat,
  signal: AbortSignal | undefined,
  ask: (
    app: Call['app'],
    call: ReadyChat['routed'],
    servers: readonly string[] | undefined,
    signal: AbortSignal | undefined,
    toolSteps: boolean | undefined,
  ) => Promise<T>,
): Promise<T> {
  try {
    return await ask(app, ready.routed, ready.chat?.servers, signal, ready.order.toolSteps)
  } catch (reason) {
    if (signal?.aborted) await saveQuestion(app, ready)
    throw reason
  }
}

function named<T extends ChatReply | ChatChunk>(answer: T, { model }: ReadyChat): T {
  return model === undefined ? answer : { ...answer, model }
}

/** The longest header value with names in it: characters. */
const longestHeader = 1000

/**
 * The headers of an answer: the plugin or runner that gave it, and with a persona the ids of the memories that went in, best
 * first, and the provider's model where the answer names the persona in its place.
 */
export function reportHeaders(
  report: RouteReport,
  { chat, model }: Pick<ReadyChat, 'chat' | 'model'>,
): Record<string, string> {
  const memories = chat ? memoryIds(chat) : ''
  const headers: Record<string, string> = {
    'x-aichat-plugin': report.plugin ?? `local:${report.runner}`,
    'x-aichat-attempts': String(report.attempts.reduce((sum, { tries }) => sum + tries, 0)),
    'x-aichat-fallback': String(report.fallback),
  }
  if (report.local_only) headers['x-aichat-local-only'] = 'true'
  if (model !== undefined) headers['x-aichat-model'] = printable(report.model)
  if (memories !== '') headers['x-aichat-memories'] = memories
  const warnings = [...report.warnings, ...(chat?.warnings ?? [])]
  if (warnings.length > 0) headers['x-aichat-warnings'] = printable(warnings.join('; '))
  return headers
}

/** As many whole ids as a header holds. */
function memoryIds({ memories }: PreparedChat): string {
  let text = ''
  for (const { id } of memories) {
    const longer = text === '' ? id : `${text},${id}`
    if (longer.length > longestHeader) break
    text = longer
  }
  return printable(text)
}

function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?').slice(0, longestHeader)
}
