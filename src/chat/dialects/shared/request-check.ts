import { AppError } from '../../../errors.ts'
import { isObject, type JsonObject, objectOf } from '../../protocol/json-object.ts'
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
  const { expect, done } = checkRequest()
  const fields = isObject(body) ? body : {}
  if (expect(isObject(body), 'The request', 'must be a JSON object')) checkList(fields[name], name, expect)
  for (const field in fields) {
    const value = fields[field]
    expect(field === name || !Array.isArray(value) || value.length <= mostItems, field, tooLong(mostItems))
  }
  done()
  return { fields, turns: fields[name] as readonly JsonObject[] }
}

/** The request with each field that converters read checked: throws `invalid` with every problem. Others pass. */
export function checkedRequest(request: JsonObject): ChatRequest {
  const { expect, done } = checkRequest()
  checkFields(request, requestRules, '', expect)
  checkList(request['messages'], 'messages', expect, checkMessage)
  if (isGiven(request['tools'])) checkList(request['tools'], 'tools', expect, checkTool)
  const { tool_choice: choice, response_format: format } = request
  if (isObject(choice) && choice['type'] === 'function')
    checkFields(objectOf(choice['function']), { name: required(text) }, 'tool_choice.function.', expect)
  if (isObject(format) && format['type'] === 'json_schema') {
    checkFields(format, { json_schema: required(object) }, 'response_format.', expect)
    checkFields(objectOf(format['json_schema']), { schema }, 'response_format.json_schema.', expect)
  }
  done()
  return request as unknown as ChatRequest
}

/** The error for a request that a dialect cannot express; `message` tells the caller to ask without it or ask another provider. */
export function notExpressible(message: string): AppError {
  return new AppError('invalid', message)
}

/** As many messages as an operation takes (operations/chat.ts), and items of any other list: more is no chat. */
const mostMessages = 5000
const mostItems = 1000
const tooLong = (most: number) => `must hold at most ${most} items`

/** Whether a field is as it must be. One that is absent or null is not looked at, unless it is required. */
interface Rule {
  readonly isFine: (value: unknown) => boolean
  readonly must: string
  readonly isRequired: boolean
}

type Rules = Readonly<Record<string, Rule>>

function rule(isFine: Rule['isFine'], must: string): Rule {
  return { isFine, must, isRequired: false }
}

function required(usual: Rule): Rule {
  return { ...usual, isRequired: true }
}

const text = rule((value) => typeof value === 'string', 'must be text')
const number = rule((value) => typeof value === 'number', 'must be a number')
const flag = rule((value) => typeof value === 'boolean', 'must be true or false')
const object = rule(isObject, 'must be an object')
const schema = rule(isObject, 'must be a JSON Schema')
/** `extra_content` is an object of objects everywhere. */
const extra = required(
  rule(
    (value) => value === undefined || (isObject(value) && Object.values(value).every(isObject)),
    'must be an object of objects',
  ),
)

const requestRules: Rules = {
  model: required(text),
  temperature: number,
  top_p: number,
  top_k: number,
  max_tokens: number,
  max_completion_tokens: number,
  seed: number,
  n: number,
  presence_penalty: number,
  frequency_penalty: number,
  stream: flag,
  parallel_tool_calls: flag,
  stop: rule(isStop, 'must be text or a list of texts'),
  reasoning_effort: text,
  tool_choice: rule((choice) => typeof choice === 'string' || isObject(choice), 'must be text or an object'),
  response_format: object,
  stream_options: object,
  extra_content: extra,
}

const roles: readonly unknown[] = ['system', 'developer', 'user', 'assistant', 'tool', 'function']

const messageRules: Rules = {
  role: required(rule((role) => roles.includes(role), `must be one of ${roles.join(', ')}`)),
  content: rule((content) => typeof content === 'string' || Array.isArray(content), 'must be text or a list of parts'),
  name: text,
  tool_call_id: text,
  reasoning_content: text,
  refusal: text,
  extra_content: extra,
}

const detailRules: Rules = { type: text, text, signature: text, data: text, format: text }

const typedRules: Rules = { type: required(text), extra_content: extra }

const callRules: Rules = { id: required(text), extra_content: extra }

function isStop(stop: unknown): boolean {
  const isList = Array.isArray(stop) && stop.length <= mostItems && stop.every((each) => typeof each === 'string')
  return typeof stop === 'string' || isList
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

/** Notes the fields of a thing that are not as their rules say; `path` ends where their names begin. */
function checkFields(thing: JsonObject, rules: Rules, path: string, expect: Expect): void {
  for (const name in rules) {
    const { isFine, must, isRequired } = rules[name]!
    const value = thing[name]
    if ((isRequired || isGiven(value)) && !isFine(value)) expect(false, path + name, must)
  }
}

function checkList(
  value: unknown,
  path: string,
  expect: Expect,
  check?: (item: JsonObject, path: string, expect: Expect) => void,
): void {
  if (!expect(Array.isArray(value), path, 'must be a list')) return
  const items = value as readonly unknown[]
  const most = path === 'messages' || path === 'input' ? mostMessages : mostItems
  if (!expect(items.length <= most, path, tooLong(most))) return
  for (const [index, item] of items.entries())
    if (!isObject(item)) expect(false, `${path}[${index}]`, 'must be an object')
    else check?.(item, `${path}[${index}].`, expect)
}

function checkMessage(message: JsonObject, path: string, expect: Expect): void {
  checkFields(message, messageRules, path, expect)
  const { content, tool_calls: calls, reasoning_details: details } = message
  if (Array.isArray(content)) checkList(content, `${path}content`, expect, checkPart)
  if (isGiven(calls)) checkList(calls, `${path}tool_calls`, expect, checkCall)
  if (isGiven(details))
    checkList(details, `${path}reasoning_details`, expect, (detail, place) =>
      checkFields(detail, detailRules, place, expect),
    )
}

function checkPart(part: JsonObject, path: string, expect: Expect): void {
  checkFields(part, typedRules, path, expect)
  const { type, image_url: image } = part
  if (type === 'text') checkFields(part, { text: required(text) }, path, expect)
  const url = isObject(image) ? image['url'] : image
  if (type === 'image_url') expect(typeof url === 'string', `${path}image_url.url`, 'must be text')
}

function checkCall(call: JsonObject, path: string, expect: Expect): void {
  checkFields(call, callRules, path, expect)
  // A call of one of OpenAI's custom tools has `custom` instead.
  if (call['type'] === 'custom') return
  const wire = call['function']
  if (!expect(isObject(wire), `${path}function`, 'must be an object')) return
  const { name, arguments: given } = wire as JsonObject
  expect(typeof name === 'string', `${path}function.name`, 'must be text')
  expect(typeof given === 'string', `${path}function.arguments`, 'must be JSON as text')
}

function checkTool(tool: JsonObject, path: string, expect: Expect): void {
  checkFields(tool, typedRules, path, expect)
  const wire = tool['function']
  if (tool['type'] !== 'function' || !expect(isObject(wire), `${path}function`, 'must be an object')) return
  const { name } = wire as JsonObject
  expect(typeof name === 'string' && name !== '', `${path}function.name`, 'must be text')
  checkFields(wire as JsonObject, { parameters: schema }, `${path}function.`, expect)
}
