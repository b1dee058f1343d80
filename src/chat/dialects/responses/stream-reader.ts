import { isDeepStrictEqual } from 'node:util'
import { DialectError, type StreamReader } from '../../protocol/dialect.ts'
import {
  argumentsText,
  isObject,
  type JsonObject,
  objectOf,
  objectsOf,
  parseEvent,
  parseObject,
  secondsOf,
  stringOf,
  wholeOf,
} from '../../protocol/json-object.ts'
import type { ChatChunk, Delta } from '../../protocol/messages.ts'
import { createEventReader, type ServerEvent } from '../../protocol/sse.ts'
import { withExtra } from '../shared/alternation.ts'
import { assembleReader, createResponseReader, withJsonBody } from '../shared/stream-reader.ts'
import { errorEvent, malformedResponse } from '../shared/wire-error.ts'
import { logprobsIn, readCall, refusalIn, textIn } from './items.ts'
import { encryptedDetail } from './output.ts'
import {
  failedResponse,
  isNameless,
  readError,
  readFinish,
  readResponse,
  readUsage,
  reasoningText,
} from './response.ts'
import { ToldText } from './told-text.ts'

/** An item under way, by its place in the output: some services change its id between events. */
interface ItemState {
  readonly type: string
  readonly call: number
  /** Its text, or the input of a call; a message's refusal; and the summary or the words of reasoning. */
  readonly text: ToldText
  readonly refusal: ToldText
  thought?: { readonly kind: 'raw' | 'summary'; readonly text: ToldText }
  /** Annotations of its text that came. */
  annotations: number
  done: boolean
}

/**
 * Reads a stream of the Responses dialect (https://platform.openai.com/docs/api-reference/responses-streaming). Only the
 * items and the last event are needed: other services leave out the rest.
 */
export function createStreamReader(): StreamReader {
  return withJsonBody(readEvents(), () => createResponseReader(readResponse))
}

function readEvents(): StreamReader {
  const items = new Map<number, ItemState>()
  let base = { id: '', object: 'chat.completion.chunk' as const, created: 0, model: '' }
  let complete = false
  let begun = false
  let calls = 0
  let logprobs: readonly unknown[] | undefined
  let toldLogprobs = 0

  function chunk(delta: Delta): ChatChunk {
    const first = begun ? delta : { role: 'assistant' as const, ...delta }
    begun = true
    return { ...base, choices: [{ index: 0, delta: first, finish_reason: null, ...takeLogprobs() }] }
  }

  /** The probabilities that came since the last chunk, as chat completions have them. */
  function takeLogprobs(): { readonly logprobs?: JsonObject } {
    if (!logprobs) return {}
    const content = logprobs
    toldLogprobs += content.length
    logprobs = undefined
    return { logprobs: { content, refusal: null } }
  }

  /** A warning of each kind of text whose end contradicted its pieces. */
  function warned(): { readonly aichat?: JsonObject } {
    const names = [...items.values()].flatMap(({ type, text, refusal, thought }) => [
      ...(text.isContradicted ? [type === 'message' ? 'text' : 'arguments'] : []),
      ...(refusal.isContradicted ? ['refusal'] : []),
      ...(thought?.text.isContradicted ? ['reasoning'] : []),
    ])
    const warnings = [...new Set(names)].map(
      (name) =>
        `contradicted ${name}: the provider's last events hold another ${name} than its pieces, which were delivered`,
    )
    return warnings.length > 0 ? { aichat: { warnings } } : {}
  }

  function take(events: readonly ServerEvent[]): readonly ChatChunk[] {
    const chunks: ChatChunk[] = []
    for (const { event, data } of events) {
      if (complete || data.trim() === '' || data.trim() === '[DONE]') continue
      if (event === 'error' && !parseObject(data)) throw errorEvent(data)
      for (const delta of read(parseEvent(data), event)) chunks.push(isChunk(delta) ? delta : chunk(delta))
    }
    return chunks
  }

  function read(event: JsonObject, name: string): readonly (Delta | ChatChunk)[] {
    const type = stringOf(event['type']) ?? name
    if (type === 'response.output_text.delta') return addText(event)
    if (type === 'error') throw reported(event)
    const failure = type.startsWith('response.') ? undefined : readError(event)
    if (failure) throw new DialectError('reported', failure)
    if (isObject(event['response'])) addOutline(event['response'])
    switch (type) {
      case 'response.output_item.added':
        return addItem(event)
      case 'response.output_item.done':
        return endItem(event)
      case 'response.output_text.done':
        return endPart(event, 'output_text', event['text'])
      case 'response.refusal.delta':
        return addTo(event, 'message', 'refusal')
      case 'response.refusal.done':
        return endPart(event, 'refusal', event['refusal'])
      case 'response.content_part.done':
      case 'response.reasoning_summary_part.done': {
        const part = objectOf(event['part'])
        return endPart(event, stringOf(part['type']) ?? '', part['text'] ?? part['refusal'])
      }
      case 'response.reasoning_text.delta':
        return addThought(event, 'raw')
      case 'response.reasoning_text.done':
        return endPart(event, 'reasoning_text', event['text'])
      case 'response.reasoning_summary_text.delta':
        return addThought(event, 'summary')
      case 'response.reasoning_summary_text.done':
        return endPart(event, 'summary_text', event['text'])
      case 'response.reasoning_summary_part.added':
        return beginPart(event)
      case 'response.function_call_arguments.delta':
        return addTo(event, 'function_call', 'text')
      case 'response.function_call_arguments.done':
        return endInput(event, 'function_call', event['arguments'])
      case 'response.custom_tool_call_input.delta':
        return addTo(event, 'custom_tool_call', 'text')
      case 'response.custom_tool_call_input.done':
        return endInput(event, 'custom_tool_call', event['input'])
      case 'response.output_text.annotation.added':
        return annotate(event)
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
      case 'response.cancelled':
        return finish(objectOf(event['response']), type.slice('response.'.length))
      default:
        return otherEvent(event)
    }
  }

  function addOutline(response: JsonObject): void {
    base = {
      ...base,
      id: stringOf(response['id']) ?? base.id,
      created: secondsOf(response['created_at']) || base.created,
      model: stringOf(response['model']) ?? base.model,
    }
  }

  function indexOf(event: JsonObject): number {
    return wholeOf(event['output_index']) ?? Math.max(0, items.size - 1)
  }

  function stateOf(event: JsonObject, type: string): ItemState {
    const index = indexOf(event)
    const known = items.get(index)
    if (known) return known
    const isCall = type === 'function_call' || type === 'custom_tool_call'
    const call = isCall ? calls++ : -1
    const state: ItemState = { type, call, text: new ToldText(), refusal: new ToldText(), annotations: 0, done: false }
    items.set(index, state)
    return state
  }

  function addTo(event: JsonObject, type: string, field: 'text' | 'refusal'): readonly Delta[] {
    const known = items.has(indexOf(event))
    const state = stateOf(event, type)
    if (state.call >= 0 && !known) throw malformedResponse('a piece came of a call that had not begun')
    if (state.type !== type) throw malformedResponse('a piece came of an item of another type')
    return deltaOf(state[field].add(stringOf(event['delta']) ?? '', partOf(event)), state, field)
  }

  function addText(event: JsonObject): readonly Delta[] {
    const deltas = addTo(event, 'message', 'text')
    const found = event['logprobs']
    if (Array.isArray(found) && found.length > 0) logprobs = [...(logprobs ?? []), ...found]
    return deltas
  }

  /** A thought in its own words, or in a summary: of both, the one that comes first is read. */
  function addThought(event: JsonObject, kind: 'raw' | 'summary'): readonly Delta[] {
    const state = stateOf(event, 'reasoning')
    if (state.type !== 'reasoning') throw malformedResponse('a piece came of an item of another type')
    state.thought ??= { kind, text: new ToldText(kind === 'summary' ? '\n\n' : '') }
    if (state.thought.kind !== kind) return []
    return thoughtDelta(state.thought.text.add(stringOf(event['delta']) ?? '', partOf(event)))
  }

  function beginPart(event: JsonObject): readonly Delta[] {
    stateOf(event, 'reasoning').thought?.text.endPart()
    return []
  }

  /** The whole text of a part of an item that continues. */
  function endPart(event: JsonObject, type: string, whole: unknown): readonly Delta[] {
    const state = items.get(indexOf(event))
    if (!state || state.done || typeof whole !== 'string') return []
    const part = partOf(event)
    if (state.type === 'message' && type === 'output_text')
      return deltaOf(state.text.endsPart(whole, part), state, 'text')
    if (state.type === 'message' && type === 'refusal')
      return deltaOf(state.refusal.endsPart(whole, part), state, 'refusal')
    if (state.type !== 'reasoning' || (type !== 'summary_text' && type !== 'reasoning_text')) return []
    const kind = type === 'summary_text' ? 'summary' : 'raw'
    state.thought ??= { kind, text: new ToldText(kind === 'summary' ? '\n\n' : '') }
    return state.thought.kind === kind ? thoughtDelta(state.thought.text.endsPart(whole, part)) : []
  }

  function endInput(event: JsonObject, type: string, whole: unknown): readonly Delta[] {
    const state = items.get(indexOf(event))
    if (state?.type !== type || state.done || typeof whole !== 'string') return []
    return deltaOf(restOfInput(whole, state), state, 'text')
  }

  function annotate(event: JsonObject): readonly Delta[] {
    const state = items.get(indexOf(event))
    if (state) state.annotations++
    return [withExtra('responses', { annotation: event['annotation'] })]
  }

  function addItem(event: JsonObject): readonly Delta[] {
    const item = objectOf(event['item'])
    const type = stringOf(item['type']) ?? ''
    if (items.has(indexOf(event)) && wholeOf(event['output_index']) !== undefined) return []
    if (wholeOf(event['output_index']) === undefined) return addItem({ ...event, output_index: items.size })
    const state = stateOf(event, type)
    if (state.call >= 0) return [startCall(item, state)]
    if (type === 'message') return [withExtra('responses', { item: messageStart(item) })]
    return type === 'reasoning' ? [] : otherEvent(event)
  }

  function startCall(item: JsonObject, { call, type }: ItemState): Delta {
    if (isNameless(item)) throw malformedResponse('a call has no name')
    const { function: wire, ...begun } = readCall({ ...item, arguments: '', input: '' })!
    const text = type === 'custom_tool_call' ? '{"input":"' : ''
    return { tool_calls: [{ index: call, ...begun, function: { name: wire.name, arguments: text } }] }
  }

  /** The end of an item: what its pieces left out, encrypted reasoning, the end of a custom tool's input. */
  function endItem(event: JsonObject): readonly Delta[] {
    const item = objectOf(event['item'])
    const isKnown = items.has(indexOf(event))
    const begun = isKnown ? [] : addItem({ ...event, output_index: wholeOf(event['output_index']) ?? items.size })
    const state = stateOf(event, stringOf(item['type']) ?? '')
    if (state.done) return []
    state.done = true
    return [...begun, ...restOfItem(item, state), ...(isKnown && isOther(state) ? otherEvent(event) : [])]
  }

  /** What an item has beyond its pieces. */
  function restOfItem(item: JsonObject, state: ItemState): readonly Delta[] {
    const { type, text, refusal, call } = state
    if (type === 'reasoning') return restOfReasoning(item, state)
    if (type === 'function_call') {
      const whole = argumentsText(item['arguments'])
      return deltaOf(restOfInput(text.text === '' ? whole || '{}' : whole, state), state, 'text')
    }
    if (type === 'custom_tool_call')
      return [...deltaOf(text.ends(stringOf(item['input']) ?? ''), state, 'text'), argumentsDelta(call, '"}')]
    if (type !== 'message') return []
    const found = logprobsIn(item)
    if (logprobs === undefined && toldLogprobs === 0 && found.length > 0) logprobs = found
    const rest = [
      ...deltaOf(text.ends(textIn(item)), state, 'text'),
      ...deltaOf(refusal.ends(refusalIn(item)), state, 'refusal'),
    ]
    const annotations = objectsOf(item['content']).flatMap((part) => objectsOf(part['annotations']))
    const missing = annotations.slice(state.annotations)
    return [...rest, ...missing.map((annotation) => withExtra('responses', { annotation }))]
  }

  function restOfReasoning(item: JsonObject, { thought, call }: ItemState): readonly Delta[] {
    const whole = reasoningText(item, thought?.kind)
    const text = thought ? thought.text.ends(whole) : whole
    const data = stringOf(item['encrypted_content'])
    const details = data ? [encryptedDetail(data, stringOf(item['id']), call < 0 ? undefined : call)] : []
    return text || details.length > 0
      ? [{ ...(text && { reasoning_content: text }), ...(details.length > 0 && { reasoning_details: details }) }]
      : []
  }

  /** An event that only this dialect's clients understand, such as the progress of a search, for a writer of this dialect. */
  function otherEvent(event: JsonObject): readonly Delta[] {
    const state = items.get(indexOf(event))
    return state && isOther(state) ? [withExtra('responses', { event })] : []
  }

  function finish(response: JsonObject, name: string): readonly (Delta | ChatChunk)[] {
    const isBad = ['incomplete', 'failed', 'cancelled'].includes(String(response['status']))
    const status = name === 'completed' && isBad ? response['status'] : name
    if (name === 'failed' || name === 'cancelled') throw failedResponse(response)
    // A service that streams no items tells them at the end.
    const isUntold = items.size === 0
    const rest = objectsOf(response['output']).flatMap((item, index) => {
      const state = items.get(index)
      if (isUntold || state?.done === false) return endItem({ item, output_index: index })
      return state && state.type === item['type'] ? restAtEnd(item, state) : []
    })
    for (const state of items.values())
      if (state.type === 'custom_tool_call' && !state.done) rest.push(argumentsDelta(state.call, '"}'))
    const reason = readFinish({ ...response, status }, calls > 0)
    const usage = readUsage(response['usage'])
    const chunks = rest.map(chunk)
    const last: ChatChunk = {
      ...base,
      choices: [{ index: 0, delta: begun ? {} : { role: 'assistant' }, finish_reason: reason, ...takeLogprobs() }],
      ...warned(),
    }
    begun = true
    complete = true
    return [...chunks, last, ...(usage ? [{ ...base, choices: [], usage }] : [])]
  }

  /** What the last event has beyond the end of an item. A custom tool's input has been closed. */
  function restAtEnd(item: JsonObject, state: ItemState): readonly Delta[] {
    if (state.type === 'message' || state.type === 'function_call') return restOfItem(item, state)
    if (state.type !== 'reasoning' || !state.thought) return []
    return thoughtDelta(state.thought.text.ends(reasoningText(item, state.thought.kind)))
  }

  return assembleReader({ cut: createEventReader(), take, isComplete: () => complete })
}

/** The delta for a text of an item; none where it is empty. */
function deltaOf(text: string, { type, call }: ItemState, field: 'text' | 'refusal'): readonly Delta[] {
  if (text === '') return []
  if (type === 'function_call') return [argumentsDelta(call, text)]
  if (type === 'custom_tool_call') return [argumentsDelta(call, JSON.stringify(text).slice(1, -1))]
  return [field === 'text' ? { content: text } : { refusal: text }]
}

/** The rest of a call's input. Arguments that mean the same in another spelling contradict nothing. */
function restOfInput(whole: string, { type, text }: ItemState): string {
  const isSame =
    type === 'function_call' && text.text !== '' && !whole.startsWith(text.text) && isSameObject(whole, text.text)
  return isSame ? '' : text.ends(whole)
}

function isSameObject(one: string, other: string): boolean {
  const value = parseObject(one)
  return value !== undefined && isDeepStrictEqual(value, parseObject(other))
}

function thoughtDelta(text: string): readonly Delta[] {
  return text === '' ? [] : [{ reasoning_content: text }]
}

/** The place of a part in its item, where it is given. */
function partOf(event: JsonObject): number | undefined {
  return wholeOf(event['content_index'] ?? event['summary_index'])
}

function isChunk(thing: Delta | ChatChunk): thing is ChatChunk {
  return Array.isArray((thing as ChatChunk).choices)
}

function isOther({ type }: ItemState): boolean {
  return !['message', 'reasoning', 'function_call', 'custom_tool_call'].includes(type)
}

function argumentsDelta(index: number, text: string): Delta {
  return { tool_calls: [{ index, function: { arguments: text } }] }
}

/** The fields of a message's item that say more than its text. */
function messageStart({ id, phase }: JsonObject): JsonObject {
  return { ...(typeof id === 'string' && { id }), ...(typeof phase === 'string' && { phase }) }
}

/** The error of an event: its fields stand on top, in an object of their own, or both. */
function reported(event: JsonObject): DialectError {
  const error = readError(event)
  return new DialectError('reported', error ?? { message: 'The provider reported an error' })
}
