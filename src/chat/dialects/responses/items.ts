import { isDeepStrictEqual } from 'node:util'
import {
  argumentsText,
  type JsonObject,
  objectOf,
  objectsOf,
  parseObject,
  stringOf,
} from '../../protocol/json-object.ts'
import { type Message, reasoningFormat, type ToolCall } from '../../protocol/messages.ts'
import { extraOf, withExtra } from '../shared/alternation.ts'
import { isText, readParts, writeParts } from './content.ts'
import { flatName } from './tools.ts'

/** A call's item as our call; undefined for any other item. */
export function readCall(item: JsonObject): ToolCall | undefined {
  const name = stringOf(item['name']) ?? ''
  const id = stringOf(item['call_id']) ?? stringOf(item['id']) ?? ''
  if (item['type'] === 'custom_tool_call') {
    const text = JSON.stringify({ input: stringOf(item['input']) ?? '' })
    return { id, type: 'function', function: { name, arguments: text }, ...withExtra('responses', { custom: true }) }
  }
  if (item['type'] !== 'function_call') return undefined
  const namespace = stringOf(item['namespace'])
  return {
    id,
    type: 'function',
    function: { name: flatName(namespace, name), arguments: argumentsText(item['arguments']) },
    ...(namespace !== undefined && withExtra('responses', { namespace, name })),
  }
}

/** Our call as an item without an id of its own. A call of a custom tool that is no such call stays a function's. */
function writeCall(call: ToolCall): JsonObject {
  const { custom, namespace, name: own } = extraOf(call, 'responses')
  const { name, arguments: text } = call.function
  const input = custom === true ? inputOf(text) : undefined
  if (input !== undefined) return { type: 'custom_tool_call', call_id: call.id, name, input }
  const place = typeof namespace === 'string' ? { namespace, name: own } : { name }
  return { type: 'function_call', call_id: call.id, ...place, arguments: text.trim() === '' ? '{}' : text }
}

/** The text that a model gave to a custom tool, from the arguments of the function that stood for it. */
export function inputOf(text: string): string | undefined {
  return stringOf(objectOf(parseObject(text))['input'])
}

/** The text of a message's item. */
export function textIn(item: JsonObject): string {
  const { content } = item
  if (typeof content === 'string') return content
  return objectsOf(content)
    .map((part) => (isText(part) ? String(part['text']) : ''))
    .join('')
}

/** The probabilities of the tokens of a message's item. */
export function logprobsIn(item: JsonObject): readonly JsonObject[] {
  return objectsOf(item['content']).flatMap((part) => objectsOf(part['logprobs']))
}

/** The refusal in a message's item; "" where there is none. */
export function refusalIn(item: JsonObject): string {
  return objectsOf(item['content'])
    .map((part) => (part['type'] === 'refusal' ? (stringOf(part['refusal']) ?? '') : ''))
    .join('')
}

/**
 * The items of one turn of the model's as our message: texts and calls together, since chat providers take no text after a
 * call. Items that our shape cannot say are kept word for word next to it, for a provider of this dialect. Reasoning is only
 * kept so: see reasoning.ts.
 */
export function readTurn(items: readonly JsonObject[]): Message {
  const said = items.filter((item) => item['type'] === 'message')
  const text = said.map(textIn).join('')
  const refusal = said.map(refusalIn).join('')
  const calls = items.flatMap((item) => readCall(item) ?? [])
  const message: Message = {
    role: 'assistant',
    content: text !== '' ? text : calls.length > 0 || refusal || said.length === 0 ? null : '',
    ...(refusal && { refusal }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  if (isDeepStrictEqual(writeTurn(message), items)) return message
  return { ...message, ...withExtra('responses', { items }) }
}

/** A turn of the model's as items: its own where it came from this dialect. */
export function writeTurn(message: Message, isRenamed = false): readonly JsonObject[] {
  const { items } = extraOf(message, 'responses')
  if (Array.isArray(items) && !isRenamed) return items
  const parts = writeParts(message.content, false, 'output_text')
  const refused = message.refusal ? [{ type: 'refusal', refusal: message.refusal }] : []
  const asParts = typeof parts === 'string' ? (parts === '' ? [] : [{ type: 'output_text', text: parts }]) : parts
  const content = refused.length === 0 ? parts : [...asParts, ...refused]
  const isSaid = content.length > 0 || !message.tool_calls?.length
  return [
    ...reasoningItems(message),
    ...(isSaid ? [{ type: 'message', role: 'assistant', content }] : []),
    ...(message.tool_calls ?? []).map(writeCall),
  ]
}

/** Encrypted reasoning as the items that it came in. */
function reasoningItems({
  reasoning_details: details = [],
}: Pick<Message, 'reasoning_details'>): readonly JsonObject[] {
  return details
    .filter(({ type, data, format }) => type === 'reasoning.encrypted' && data && format === reasoningFormat)
    .map(({ id, data }) => ({
      type: 'reasoning',
      ...(typeof id === 'string' && { id }),
      summary: [],
      encrypted_content: data,
    }))
}

const outputFields = new Set(['type', 'call_id', 'output'])

/** A call's output as the message of a tool. */
export function readOutput(item: JsonObject): Message {
  const entries = Object.entries(item).filter(([name]) => !outputFields.has(name))
  const own = {
    ...Object.fromEntries(entries),
    ...(item['type'] === 'custom_tool_call_output' && { custom: true }),
  }
  return {
    role: 'tool',
    tool_call_id: stringOf(item['call_id']) ?? '',
    content: readParts(item['output']),
    ...(Object.keys(own).length > 0 && withExtra('responses', own)),
  }
}
