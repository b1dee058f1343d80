import { compact, isObject, type JsonObject, objectOf, objectsOf, stringOf } from '../../protocol/json-object.ts'
import {
  type ChatRequest,
  type Delta,
  type ExtraContent,
  type Message,
  type ReasoningDetail,
  reasoningFormat,
} from '../../protocol/messages.ts'
import { extraOf } from '../shared/alternation.ts'

/** The reasoning of one answer that its provider wants back; the client keeps it in `encrypted_content`. */
export interface OwnReasoning {
  /** The thinking in words. */
  readonly text?: string
  /** Its pieces with the provider's signatures. */
  readonly details?: readonly ReasoningDetail[]
  /** Gemini's signature of the answer's text. */
  readonly google?: JsonObject
  /** Gemini's signatures of calls, by the calls' ids. */
  readonly calls?: Readonly<Record<string, JsonObject>>
}

/** Reasoning as a text that only this installation can make and read. */
export type SealReasoning = (reasoning: OwnReasoning) => string

/** The reasoning in a sealed text; undefined for any other text, and for the reasoning of another user, place or model. */
export type OpenReasoning = (sealed: string) => OwnReasoning | undefined

/** The reasoning of a message or delta; undefined where there is none. */
export function reasoningOf(thing: Message | Delta): OwnReasoning | undefined {
  const google = thing.extra_content?.['google']
  const calls = objectsOf(thing.tool_calls).flatMap((call) => {
    const signed = objectOf(call['extra_content'])['google']
    return isObject(signed) && typeof call['id'] === 'string' ? [[call['id'], signed] as const] : []
  })
  const reasoning = compact({
    text: thing.reasoning_content || undefined,
    details: thing.reasoning_details?.length ? thing.reasoning_details : undefined,
    google: isObject(google) ? google : undefined,
    calls: calls.length > 0 ? Object.fromEntries(calls) : undefined,
  })
  return Object.keys(reasoning).length > 0 ? (reasoning as OwnReasoning) : undefined
}

/**
 * The request for one place: reasoning that `open` knows goes back into its message, in the form that its provider gave it,
 * and every other is left out. Returns the request itself where it has no items of this dialect.
 */
export function withOwnReasoning(request: ChatRequest, open: OpenReasoning): ChatRequest {
  if (!request.messages.some(hasItems)) return request
  const signed = new Map<string, JsonObject>()
  const messages = request.messages.map((message) => {
    const { items } = extraOf(message, 'responses')
    return Array.isArray(items) ? withReasoning(message, objectsOf(items), open, signed) : message
  })
  return {
    ...request,
    messages: signed.size > 0 ? messages.map((message) => withSignatures(message, signed)) : messages,
  }
}

function hasItems(message: Message): boolean {
  return message.extra_content?.['responses']?.['items'] !== undefined
}

function withReasoning(
  message: Message,
  items: readonly JsonObject[],
  open: OpenReasoning,
  signed: Map<string, JsonObject>,
): Message {
  const kept: JsonObject[] = []
  const details: ReasoningDetail[] = []
  const texts: string[] = []
  let google: JsonObject | undefined
  for (const item of items) {
    if (item['type'] !== 'reasoning') {
      kept.push(item)
      continue
    }
    const sealed = stringOf(item['encrypted_content'])
    const own = sealed === undefined ? undefined : open(sealed)
    if (!own) continue
    kept.push(...ownItems(own))
    details.push(...(own.details ?? []))
    if (own.text) texts.push(own.text)
    google = own.google ?? google
    for (const [id, signature] of Object.entries(own.calls ?? {})) signed.set(id, signature)
  }
  const extra: ExtraContent = {
    ...message.extra_content,
    responses: { ...extraOf(message, 'responses'), items: kept },
    ...(google && { google }),
  }
  return {
    ...message,
    ...(texts.length > 0 && { reasoning_content: texts.join('') }),
    ...(details.length > 0 && { reasoning_details: details }),
    extra_content: extra,
  }
}

/** The items in which a provider of this dialect gave its reasoning. */
function ownItems({ details = [] }: OwnReasoning): readonly JsonObject[] {
  return details
    .filter(({ format, data }) => format === reasoningFormat && data)
    .map(({ id, data }) => compact({ type: 'reasoning', id, summary: [], encrypted_content: data }))
}

function withSignatures(message: Message, signed: ReadonlyMap<string, JsonObject>): Message {
  if (!message.tool_calls?.some(({ id }) => signed.has(id))) return message
  const calls = message.tool_calls.map((call) => {
    const google = signed.get(call.id)
    return google ? { ...call, extra_content: { ...call.extra_content, google } } : call
  })
  return { ...message, tool_calls: calls }
}
