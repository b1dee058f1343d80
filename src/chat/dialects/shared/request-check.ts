import { AppError } from '../../../errors.ts'
import { isObject, type JsonObject } from '../../protocol/json-object.ts'
import type { ChatRequest } from '../../protocol/messages.ts'

/** Notes a problem with the field at `path` unless `fine`; returns `fine`. */
export type Expect = (fine: boolean, path: string, rule: string) => boolean

/** Collects the problems of a client's request, each with its path, to report them at once. */
export interface RequestCheck {
  readonly expect: Expect
  /** Throws an AppError `invalid` with the problems noted, if any. */
  done(): void
}

export function checkRequest(): RequestCheck {
  const problems: string[] = []
  return {
    expect(fine, path, rule) {
      if (!fine) problems.push(`${path} ${rule}`)
      return fine
    },
    done() {
      if (problems.length > 0) throw new AppError('invalid', 'Invalid chat request', { details: problems })
    },
  }
}

/** The body as an object with a list of objects in field `name`. Throws an AppError `invalid` with every problem. */
export function requestBody(body: unknown, name: string): { fields: JsonObject; turns: readonly JsonObject[] } {
  if (isBody(body, name)) return { fields: body, turns: body[name] as readonly JsonObject[] }
  const { expect, done } = checkRequest()
  const fields = isObject(body) ? body : {}
  const turns = fields[name]
  if (expect(isObject(body), 'The request', 'must be a JSON object')) checkList(turns, name, expect, () => {})
  for (const [field, value] of Object.entries(fields))
    expect(field === name || !Array.isArray(value) || value.length <= mostItems, field, tooLong(mostItems))
  done()
  return { fields, turns: turns as readonly JsonObject[] }
}

/** Whether a body is as it should be: then no path of a problem has to be written. */
function isBody(body: unknown, name: string): body is JsonObject {
  if (!isObject(body)) return false
  const turns = body[name]
  if (!Array.isArray(turns) || turns.length > mostOf(name) || !turns.every(isObject)) return false
  for (const field in body) {
    const value = body[field]
    if (field !== name && Array.isArray(value) && value.length > mostItems) return false
  }
  return true
}

/**
 * The request, with the type of every field that converters read checked; throws an AppError `invalid` with every problem.
 * Other fields are passed on unchanged.
 */
export function checkedRequest(request: JsonObject): ChatRequest {
  if (isPlain(request)) return request as unknown as ChatRequest
  const { expect, done } = checkRequest()
  const given = (name: string) => request[name] !== undefined && request[name] !== null
  expect(typeof request['model'] === 'string', 'model', 'must be text')
  for (const name of numbers) expect(!given(name) || typeof request[name] === 'number', name, 'must be a number')
  for (const name of flags) expect(!given(name) || typeof request[name] === 'boolean', name, 'must be true or false')
  const { stop } = request
  const isList = Array.isArray(stop) && stop.length <= mostItems && stop.every((text) => typeof text === 'string')
  const isStop = typeof stop === 'string' || isList
  expect(!given('stop') || isStop, 'stop', 'must be text or a list of texts')
  const effort = request['reasoning_effort']
  expect(!given('reasoning_effort') || typeof effort === 'string', 'reasoning_effort', 'must be text')
  checkList(request['messages'], 'messages', expect, checkMessage)
  if (given('tools')) checkList(request['tools'], 'tools', expect, checkTool)
  if (given('tool_choice')) checkChoice(request['tool_choice'], expect)
  if (given('response_format')) checkFormat(request['response_format'], expect)
  const options = request['stream_options']
  expect(!given('stream_options') || isObject(options), 'stream_options', 'must be an object')
  checkExtra(request, '', expect)
  done()
  return request as unknown as ChatRequest
}

/**
 * Whether nothing but the model, texts and plain settings has to be checked, and all of them are good. Any other request goes
 * through the whole check: each line here has its like there.
 */
function isPlain(request: JsonObject): boolean {
  if (typeof request['model'] !== 'string') return false
  const messages = request['messages']
  if (!Array.isArray(messages) || messages.length > mostMessages || !messages.every(isPlainMessage)) return false
  for (const name in request) {
    const value = request[name]
    if (checkedWhole.has(name) ? value !== undefined && value !== null : !isGoodSetting(name, value)) return false
  }
  return request['extra_content'] === undefined
}

function isGoodSetting(name: string, value: unknown): boolean {
  if (value === undefined || value === null) return true
  if (numberNames.has(name)) return typeof value === 'number'
  return !flagNames.has(name) || typeof value === 'boolean'
}

/** A message with one text and no other field that needs a check. */
function isPlainMessage(message: unknown): boolean {
  if (!isObject(message)) return false
  for (const name in message) {
    const value = message[name]
    if (name === 'role') {
      if (!roles.includes(value as string)) return false
    } else if (name === 'content') {
      if (typeof value !== 'string' && value !== null) return false
    } else if (messageFields.has(name)) return false
  }
  return typeof message['role'] === 'string'
}

/** The error for a request that a dialect cannot express; `message` tells the caller to ask without it or ask another provider. */
export function notExpressible(message: string): AppError {
  return new AppError('invalid', message)
}

const numbers = [
  'temperature',
  'top_p',
  'top_k',
  'max_tokens',
  'max_completion_tokens',
  'seed',
  'n',
  'presence_penalty',
  'frequency_penalty',
]

const flags = ['stream', 'parallel_tool_calls']

const numberNames: ReadonlySet<string> = new Set(numbers)
const flagNames: ReadonlySet<string> = new Set(flags)
/** Settings with a form of their own. */
const checkedWhole: ReadonlySet<string> = new Set([
  ...['stop', 'reasoning_effort', 'tools', 'tool_choice', 'response_format', 'stream_options'],
])
/** The fields of a message that are checked in addition to its role and a text. */
const messageFields: ReadonlySet<string> = new Set([
  ...['tool_calls', 'reasoning_details', 'name', 'tool_call_id', 'reasoning_content', 'refusal', 'extra_content'],
])

/** As many messages as an operation takes (operations/chat.ts), and items of any other list: more is no chat. */
const mostMessages = 5000
const mostItems = 1000
const tooLong = (most: number) => `must hold at most ${most} items`

function mostOf(path: string): number {
  return path === 'messages' || path === 'input' ? mostMessages : mostItems
}

function checkList(
  value: unknown,
  path: string,
  expect: Expect,
  check: (item: JsonObject, path: string, expect: Expect) => void,
): void {
  if (!expect(Array.isArray(value), path, 'must be a list')) return
  const most = mostOf(path)
  if (!expect((value as unknown[]).length <= most, path, tooLong(most))) return
  for (const [index, item] of (value as unknown[]).entries()) {
    const place = `${path}[${index}]`
    if (expect(isObject(item), place, 'must be an object')) check(item as JsonObject, place, expect)
  }
}

const roles = ['system', 'developer', 'user', 'assistant', 'tool', 'function']

function checkMessage(message: JsonObject, path: string, expect: Expect): void {
  const { role, content, tool_calls: calls, reasoning_details: details } = message
  expect(typeof role === 'string' && roles.includes(role), `${path}.role`, `must be one of ${roles.join(', ')}`)
  const isText = content === undefined || content === null || typeof content === 'string'
  if (!isText && expect(Array.isArray(content), `${path}.content`, 'must be text or a list of parts'))
    checkList(content, `${path}.content`, expect, checkPart)
  if (calls !== undefined && calls !== null) checkList(calls, `${path}.tool_calls`, expect, checkCall)
  if (details !== undefined && details !== null) checkList(details, `${path}.reasoning_details`, expect, checkDetail)
  for (const name of ['name', 'tool_call_id', 'reasoning_content', 'refusal'])
    expect(
      message[name] === undefined || message[name] === null || typeof message[name] === 'string',
      `${path}.${name}`,
      'must be text',
    )
  checkExtra(message, `${path}.`, expect)
}

function checkPart(part: JsonObject, path: string, expect: Expect): void {
  const { type, image_url: image } = part
  expect(typeof type === 'string', `${path}.type`, 'must be text')
  if (type === 'text') expect(typeof part['text'] === 'string', `${path}.text`, 'must be text')
  const url = isObject(image) ? image['url'] : image
  if (type === 'image_url') expect(typeof url === 'string', `${path}.image_url.url`, 'must be text')
  checkExtra(part, `${path}.`, expect)
}

function checkCall(call: JsonObject, path: string, expect: Expect): void {
  expect(typeof call['id'] === 'string', `${path}.id`, 'must be text')
  checkExtra(call, `${path}.`, expect)
  // A call of one of OpenAI's custom tools has `custom` instead.
  if (call['type'] === 'custom') return
  const wire = call['function']
  if (!expect(isObject(wire), `${path}.function`, 'must be an object')) return
  const { name, arguments: text } = wire as JsonObject
  expect(typeof name === 'string', `${path}.function.name`, 'must be text')
  expect(typeof text === 'string', `${path}.function.arguments`, 'must be JSON as text')
}

function checkDetail(detail: JsonObject, path: string, expect: Expect): void {
  for (const name of ['type', 'text', 'signature', 'data', 'format'])
    expect(
      detail[name] === undefined || detail[name] === null || typeof detail[name] === 'string',
      `${path}.${name}`,
      'must be text',
    )
}

function checkTool(tool: JsonObject, path: string, expect: Expect): void {
  expect(typeof tool['type'] === 'string', `${path}.type`, 'must be text')
  checkExtra(tool, `${path}.`, expect)
  const wire = tool['function']
  if (tool['type'] !== 'function' || !expect(isObject(wire), `${path}.function`, 'must be an object')) return
  const { name, parameters } = wire as JsonObject
  expect(typeof name === 'string' && name !== '', `${path}.function.name`, 'must be text')
  const isSchema = parameters === undefined || parameters === null || isObject(parameters)
  expect(isSchema, `${path}.function.parameters`, 'must be a JSON Schema')
}

function checkChoice(choice: unknown, expect: Expect): void {
  if (typeof choice === 'string') return
  if (!expect(isObject(choice), 'tool_choice', 'must be text or an object')) return
  const { type, function: wire } = choice as JsonObject
  const isNamed = type !== 'function' || (isObject(wire) && typeof wire['name'] === 'string')
  expect(isNamed, 'tool_choice.function.name', 'must be text')
}

function checkFormat(format: unknown, expect: Expect): void {
  if (!expect(isObject(format), 'response_format', 'must be an object')) return
  const { type, json_schema: wire } = format as JsonObject
  if (type !== 'json_schema' || !expect(isObject(wire), 'response_format.json_schema', 'must be an object')) return
  const { schema } = wire as JsonObject
  expect(schema === undefined || isObject(schema), 'response_format.json_schema.schema', 'must be a JSON Schema')
}

/** `extra_content` is an object of objects everywhere. */
function checkExtra(thing: JsonObject, path: string, expect: Expect): void {
  const extra = thing['extra_content']
  if (extra === undefined) return
  const fine = isObject(extra) && Object.values(extra).every(isObject)
  expect(fine, `${path}extra_content`, 'must be an object of objects')
}
