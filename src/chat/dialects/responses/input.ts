import { type JsonObject, stringOf } from '../../protocol/json-object.ts'
import type { Message, ToolCall } from '../../protocol/messages.ts'
import { extraOf, withExtra } from '../shared/alternation.ts'
import type { Expect } from '../shared/request-check.ts'
import { readParts } from './content.ts'
import { readOutput, readTurn } from './items.ts'

/** The outputs that answer a call of ours; those of hosted tools are kept for a provider of this dialect. */
const outputs: ReadonlySet<unknown> = new Set(['function_call_output', 'custom_tool_call_output'])

/** A message may leave out its type. */
function typeOf(item: JsonObject): unknown {
  return item['type'] ?? (item['role'] === undefined ? undefined : 'message')
}

/**
 * The items of a request as messages. The items of one turn of the model's become one message, and outputs follow their
 * calls, wherever they stood. Items that only this dialect has go with the message behind them, else with the last one.
 */
export function readInput(items: readonly JsonObject[]): readonly Message[] {
  const messages: Message[] = []
  let turn: JsonObject[] = []
  let others: JsonObject[] = []

  function add(message: Message): void {
    messages.push(others.length > 0 ? withOwn(message, { before: others }) : message)
    others = []
  }

  function endTurn(): void {
    if (turn.some(isShown)) add(readTurn(turn))
    else others = [...others, ...turn]
    turn = []
  }

  for (const item of items) {
    const type = typeOf(item)
    if (outputs.has(type)) {
      endTurn()
      add(readOutput(item))
    } else if (type === 'message' && item['role'] !== 'assistant') {
      endTurn()
      add(readMessage(item))
    } else {
      if (type === 'message' && isEnded(turn)) {
        const at = turn.findLastIndex(isShown) + 1
        const next = turn.slice(at)
        turn = turn.slice(0, at)
        endTurn()
        turn = next
      }
      turn.push(type === 'message' && item['type'] === undefined ? { type, ...item } : item)
    }
  }
  endTurn()
  const last = messages.at(-1)
  if (last && others.length > 0) messages[messages.length - 1] = withOwn(last, { after: others })
  return inOrder(messages)
}

function isShown(item: JsonObject): boolean {
  return ['message', 'function_call', 'custom_tool_call'].includes(String(item['type']))
}

/** Whether another message begins another turn: there is a text already, and no call that has to stay with it. */
function isEnded(turn: readonly JsonObject[]): boolean {
  const shown = turn.filter(isShown)
  return shown.length > 0 && shown.every((item) => item['type'] === 'message')
}

const messageFields = new Set(['type', 'role', 'content'])

function readMessage(item: JsonObject): Message {
  const more = Object.entries(item).filter(([name]) => !messageFields.has(name))
  const message: Message = { role: item['role'] as 'user', content: readParts(item['content']) }
  return more.length > 0 ? withOwn(message, Object.fromEntries(more)) : message
}

function withOwn(message: Message, own: JsonObject): Message {
  return { ...message, ...withExtra('responses', { ...extraOf(message, 'responses'), ...own }) }
}

/** Every output straight behind the message with its call, in the order of the calls; of two for one call the later holds. */
function inOrder(messages: readonly Message[]): readonly Message[] {
  const called = new Map<string, ToolCall>()
  for (const call of messages.flatMap((message) => message.tool_calls ?? []))
    if (!called.has(call.id)) called.set(call.id, call)
  const answers = answersOf(messages, called)
  return messages.flatMap((message) => {
    if (message.role === 'tool') return called.has(message.tool_call_id ?? '') ? [] : [message]
    return [message, ...(message.tool_calls ?? []).flatMap((call) => answers.get(call) ?? [])]
  })
}

/**
 * The output of each call: that of the last message before it which calls by its id, since some servers give every turn's
 * calls the same ids; without one before it, that of the first call behind.
 */
function answersOf(
  messages: readonly Message[],
  called: ReadonlyMap<string, ToolCall>,
): ReadonlyMap<ToolCall, Message> {
  const answers = new Map<ToolCall, Message>()
  const open = new Map<string, ToolCall[]>()
  for (const message of messages) {
    const own = new Map<string, ToolCall[]>()
    for (const call of message.tool_calls ?? []) {
      if (!own.has(call.id)) own.set(call.id, [])
      own.get(call.id)!.push(call)
    }
    for (const [id, calls] of own) open.set(id, calls)
    if (message.role !== 'tool') continue
    const id = message.tool_call_id ?? ''
    const calls = open.get(id) ?? []
    const call = (calls.length > 1 ? calls.shift() : calls[0]) ?? called.get(id)
    if (call) answers.set(call, message)
  }
  return answers
}

/** Notes every problem of a request's items. `isWhole` tells that no earlier items are kept elsewhere. */
export function checkInput(items: readonly JsonObject[], isWhole: boolean, expect: Expect): void {
  const called = new Set(items.filter(isCall).map((item) => item['call_id']))
  for (const [index, item] of items.entries()) {
    const path = `input[${index}]`
    const type = typeOf(item)
    expect(typeof type === 'string', `${path}.type`, 'must be text')
    if (type === 'message') checkMessage(item, path, expect)
    if (isCall(item)) checkCall(item, path, expect)
    if (!outputs.has(type)) continue
    const id = item['call_id']
    const isNamed = expect(typeof id === 'string' && id !== '', `${path}.call_id`, 'must be text')
    if (isNamed && isWhole)
      expect(called.has(id), `${path}.call_id`, `names no call among the items: ${String(id).slice(0, 100)}`)
    expect(isContent(item['output']), `${path}.output`, 'must be text or a list of parts')
  }
}

function isCall(item: JsonObject): boolean {
  return item['type'] === 'function_call' || item['type'] === 'custom_tool_call'
}

const roles = ['user', 'system', 'developer', 'assistant']

function checkMessage(item: JsonObject, path: string, expect: Expect): void {
  expect(roles.includes(stringOf(item['role']) ?? ''), `${path}.role`, `must be one of ${roles.join(', ')}`)
  expect(isContent(item['content']), `${path}.content`, 'must be text or a list of parts')
}

function checkCall(item: JsonObject, path: string, expect: Expect): void {
  const text = item['type'] === 'function_call' ? 'arguments' : 'input'
  for (const name of ['call_id', 'name', text])
    expect(typeof item[name] === 'string', `${path}.${name}`, 'must be text')
  const space = item['namespace']
  expect(space === undefined || space === null || typeof space === 'string', `${path}.namespace`, 'must be text')
}

function isContent(content: unknown): boolean {
  if (typeof content === 'string') return true
  return (
    Array.isArray(content) &&
    content.every((part) => typeof part === 'object' && part !== null && typeof part.type === 'string')
  )
}
