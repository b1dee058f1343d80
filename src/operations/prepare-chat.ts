import { permitsOf, requireChatPersona, requirePlainChat } from '../accounts/keys/rights.ts'
import { personaIn } from '../chat/model-address.ts'
import type { ChatChunk, ChatReply, Message } from '../chat/protocol/messages.ts'
import type { Booking, RouteReport } from '../chat/route-report.ts'
import type { ChatCall, RoutedReply, RoutedStream } from '../chat/router.ts'
import { AppError, toAppError } from '../errors.ts'
import type { OpenRequest, PreparedChat } from '../personas/chat/persona-chat.ts'
import { localOwner } from './ask.ts'
import { completeWithTools, streamWithTools, type ToolStream } from './chat-tools.ts'
import type { Call } from './operation.ts'

/** A checked chat, in whichever dialect it came. */
export interface ChatOrder extends Pick<ChatCall, 'plugin' | 'fallback' | 'localOnly'> {
  /** Its model may be `persona:NAME`. */
  readonly request: OpenRequest
  readonly persona?: string | undefined
  /** A saved conversation. */
  readonly session?: string | undefined
  /** False keeps the persona from reading and writing memories. */
  readonly memory?: boolean | undefined
  /** The client calls tools, see PersonaChatCall. */
  readonly toolTurn?: boolean | undefined
  /** The client's own name for its conversation; no authority follows from it. */
  readonly conversation?: string | undefined
  /** The model as answers are to name it; without it they name a persona as the request does, else the model that answered. */
  readonly shownModel?: string | undefined
}

/** A chat with all that its persona and its saved conversation add, ready to be asked. */
export interface ReadyChat {
  readonly routed: ChatCall
  readonly chat?: PreparedChat
  /** The model as answers name it, where that is not the one that answered. */
  readonly model?: string
}

/**
 * Prepares a chat: of a persona that `persona` or the model names, in a saved conversation, or plain. Throws `not_found` and
 * `forbidden` for a persona or conversation that is not the caller's, `key_scope` where the caller's key is not for it, and
 * `invalid` for two personas or for `store`.
 */
export async function prepareChat(call: Pick<Call, 'app' | 'caller' | 'signal'>, order: ChatOrder): Promise<ReadyChat> {
  const { app, caller, signal } = call
  const { request: asked, plugin, fallback, session, memory, toolTurn, conversation, shownModel } = order
  const localOnly = order.localOnly === true || app.settings.localOnly
  const { key } = caller
  const permits = permitsOf(key)
  const base = { plugin, fallback, user: caller.id, key: key?.id, permits, session, localOnly }
  const named = personaIn(asked.model)
  if (named === undefined && order.persona === undefined && session === undefined) {
    requirePlainChat(key)
    return { routed: { ...base, request: asked }, ...(shownModel !== undefined && { model: shownModel }) }
  }
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
    plugin,
    request,
    toolTurn,
    allow: (id) => requireChatPersona(key, id),
    by: { key: key?.id, permits, localOnly },
    signal,
  })
  const shown = shownModel ?? (named === undefined ? undefined : model)
  return { routed: { ...base, request: chat.request }, chat, ...(shown !== undefined && { model: shown }) }
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
    details: ['store: must not be true with a persona, whose memory settings say what is kept; leave it out'],
  })
}

/** Asks for a whole answer and saves the exchange. */
export async function completeChat(
  { app }: Pick<Call, 'app'>,
  ready: ReadyChat,
  signal: AbortSignal | undefined,
): Promise<RoutedReply> {
  const routed = await completeWithTools(app, ready.routed, ready.chat?.servers, signal)
  const { report, booking } = routed
  const reply = named(routed.reply, ready)
  if (!ready.chat) return { reply, report, booking }
  const answer = reply.choices[0]?.message
  const unsaved = answer ? await save(ready.chat, answer, booking) : []
  return { reply, report: { ...report, warnings: [...report.warnings, ...unsaved] }, booking }
}

/** Streams an answer; the exchange is saved before the end, and a last chunk without choices tells where that failed. */
export async function streamChat(
  { app }: Pick<Call, 'app'>,
  ready: ReadyChat,
  signal: AbortSignal | undefined,
): Promise<RoutedStream> {
  const routed = await streamWithTools(app, ready.routed, ready.chat?.servers, signal)
  if (ready.chat) return { ...routed, chunks: saved(routed, ready, ready.chat) }
  return ready.model === undefined ? routed : { ...routed, chunks: allNamed(routed.chunks, ready) }
}

async function* allNamed(chunks: AsyncIterable<ChatChunk>, ready: ReadyChat): AsyncGenerator<ChatChunk> {
  for await (const chunk of chunks) yield named(chunk, ready)
}

async function* saved(
  { chunks, booking, answer: final }: ToolStream,
  ready: ReadyChat,
  chat: PreparedChat,
): AsyncGenerator<ChatChunk> {
  const seen: ChatChunk[] = []
  let last: ChatChunk | undefined
  for await (const chunk of chunks) {
    seen.push(chunk)
    last = named(chunk, ready)
    yield last
  }
  if (!last) return
  const { collectReply } = await import('../chat/protocol/chunks.ts')
  const answer = final?.() ?? collectReply(seen).choices[0]?.message ?? { role: 'assistant', content: '' }
  const warnings = await save(chat, answer, booking)
  if (warnings.length > 0) yield { ...last, choices: [], usage: null, aichat: { warnings } }
}

function named<T extends ChatReply | ChatChunk>(answer: T, { model }: ReadyChat): T {
  return model === undefined ? answer : { ...answer, model }
}

/** Saves the exchange in the conversation and the memories. A failure is a warning, since the answer is there already. */
async function save(chat: PreparedChat, answer: Message, booking: Booking): Promise<readonly string[]> {
  try {
    await chat.finish(answer, booking.cost()?.cost_nano ?? undefined)
    return []
  } catch (reason) {
    return [`The exchange could not be saved: ${toAppError(reason).message}`]
  }
}

/** The longest header value with names in it: characters. */
const longestHeader = 1000

/**
 * The headers of an answer: the plugin or runner that gave it, and with a persona the ids of the memories that went in, best
 * first, and the provider's model where the answer names the persona in its place.
 */
export function reportHeaders(report: RouteReport, { chat, model }: Omit<ReadyChat, 'routed'>): Record<string, string> {
  const memories = chat ? memoryIds(chat) : ''
  return {
    'x-aichat-plugin': report.plugin ?? `local:${report.runner}`,
    'x-aichat-attempts': String(report.attempts.reduce((sum, { tries }) => sum + tries, 0)),
    'x-aichat-fallback': String(report.fallback),
    ...(report.local_only && { 'x-aichat-local-only': 'true' }),
    ...(model !== undefined && { 'x-aichat-model': printable(report.model) }),
    ...(memories !== '' && { 'x-aichat-memories': memories }),
    ...(report.warnings.length > 0 && { 'x-aichat-warnings': printable(report.warnings.join('; ')) }),
  }
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
