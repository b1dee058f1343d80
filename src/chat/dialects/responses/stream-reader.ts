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
import { readCall, refusalIn, textIn } from './items.ts'
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

/** An item under way, by its place in the output: some services change its id between events. */
interface ItemState {
  readonly type: string
  /** The index of a call among the calls. */
  readonly call: number
  /** Whether any of its text, input or thought came. */
  filled: boolean
  done: boolean
  thought?: 'raw' | 'summary'
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

  function chunk(delta: Delta): ChatChunk {
    const first = begun ? delta : { role: 'assistant' as const, ...delta }
    begun = true
    return { ...base, choices: [{ index: 0, delta: first, finish_reason: null }] }
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
    if (type === 'response.output_text.delta') return addTo(event, 'message', (text) => ({ content: text }))
    if (type === 'error') throw reported(event)
    const failure = type.startsWith('response.') ? undefined : readError(event)
    if (failure) throw new DialectError('reported', failure)
    if (isObject(event['response'])) addOutline(event['response'])
    switch (type) {
      case 'response.output_item.added':
        return addItem(event)
      case 'response.output_item.done':
        return endItem(event)
      case 'response.refusal.delta':
        return addTo(event, 'message', (text) => ({ refusal: text }))
      case 'response.reasoning_text.delta':
        return addThought(event, 'raw')
      case 'response.reasoning_summary_text.delta':
        return addThought(event, 'summary')
      case 'response.reasoning_summary_part.added':
        return stateOf(event, 'reasoning').thought === 'summary' ? [{ reasoning_content: '\n\n' }] : []
      case 'response.function_call_arguments.delta':
        return addTo(event, 'function_call', (text, { call }) => argumentsDelta(call, text))
      case 'response.custom_tool_call_input.delta':
        return addTo(event, 'custom_tool_call', (text, { call }) =>
          argumentsDelta(call, JSON.stringify(text).slice(1, -1)),
        )
      case 'response.output_text.annotation.added':
        return [withExtra('responses', { annotation: event['annotation'] })]
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
    const state: ItemState = { type, call: isCall ? calls++ : -1, filled: false, done: false }
    items.set(index, state)
    return state
  }

  function addTo(
    event: JsonObject,
    type: string,
    deltaOf: (text: string, state: ItemState) => Delta,
  ): readonly Delta[] {
    const known = items.has(indexOf(event))
    const state = stateOf(event, type)
    if (state.call >= 0 && !known) throw malformedResponse('a piece came of a call that had not begun')
    if (state.type !== type) throw malformedResponse('a piece came of an item of another type')
    const text = stringOf(event['delta']) ?? ''
    if (text === '') return []
    state.filled = true
    return [deltaOf(text, state)]
  }

  /** A thought in its own words, or in a summary: of both, the one that comes first is read. */
  function addThought(event: JsonObject, kind: 'raw' | 'summary'): readonly Delta[] {
    const state = stateOf(event, 'reasoning')
    if (state.thought !== undefined && state.thought !== kind) return []
    state.thought = kind
    return addTo(event, 'reasoning', (text) => ({ reasoning_content: text }))
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

  /**
   * The end of an item: content that its pieces left out, its encrypted reasoning, and the end of a custom tool's
   * input.
   */
  function endItem(event: JsonObject): readonly Delta[] {
    const item = objectOf(event['item'])
    const isKnown = items.has(indexOf(event))
    const begun = isKnown ? [] : addItem({ ...event, output_index: wholeOf(event['output_index']) ?? items.size })
    const state = stateOf(event, stringOf(item['type']) ?? '')
    if (state.done) return []
    state.done = true
    return [...begun, ...restOfItem(item, state), ...(isKnown && isOther(state) ? otherEvent(event) : [])]
  }

  function restOfItem(item: JsonObject, state: ItemState): readonly Delta[] {
    const { type, filled, call } = state
    if (type === 'reasoning') {
      const text = filled ? '' : reasoningText(item)
      const data = stringOf(item['encrypted_content'])
      const details = data ? [encryptedDetail(data, stringOf(item['id']), call < 0 ? undefined : call)] : []
      return text || details.length > 0
        ? [{ ...(text && { reasoning_content: text }), ...(details.length > 0 && { reasoning_details: details }) }]
        : []
    }
    if (type === 'function_call') return filled ? [] : [argumentsDelta(call, argumentsText(item['arguments']) || '{}')]
    if (type === 'custom_tool_call') {
      const input = filled ? '' : JSON.stringify(stringOf(item['input']) ?? '').slice(1, -1)
      return [argumentsDelta(call, `${input}"}`)]
    }
    if (type !== 'message' || filled) return []
    const [text, refusal] = [textIn(item), refusalIn(item)]
    return text || refusal ? [{ ...(text && { content: text }), ...(refusal && { refusal }) }] : []
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
    const rest = objectsOf(response['output']).flatMap((item, index) =>
      isUntold || items.get(index)?.done === false ? endItem({ item, output_index: index }) : [],
    )
    for (const state of items.values())
      if (state.type === 'custom_tool_call' && !state.done) rest.push(argumentsDelta(state.call, '"}'))
    const reason = readFinish({ ...response, status }, calls > 0)
    const usage = readUsage(response['usage'])
    const chunks = rest.map(chunk)
    const last: ChatChunk = {
      ...base,
      choices: [{ index: 0, delta: begun ? {} : { role: 'assistant' }, finish_reason: reason }],
    }
    begun = true
    complete = true
    return [...chunks, last, ...(usage ? [{ ...base, choices: [], usage }] : [])]
  }

  return assembleReader({ cut: createEventReader(), take, isComplete: () => complete })
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
