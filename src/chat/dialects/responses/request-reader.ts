import {
  compact,
  isObject,
  type JsonObject,
  objectOf,
  objectsOf,
  restOf,
  stringOf,
} from '../../protocol/json-object.ts'
import type { ChatRequest, Message, ResponseFormat } from '../../protocol/messages.ts'
import { withExtra } from '../shared/alternation.ts'
import { checkedRequest, checkRequest, requestBody } from '../shared/request-check.ts'
import { includedLogprobs } from '../shared/request-fields.ts'
import { checkInput, readInput } from './input.ts'
import { readToolChoice, readTools } from './tools.ts'

/**
 * Reads a request in the Responses dialect. Its items must be all of the conversation, unless it names an earlier
 * response. All its own fields are kept for a provider of this dialect, and for the response object, which echoes them.
 */
export function readRequest(body: unknown): ChatRequest {
  const raw = objectOf(body)
  const items = typeof raw['input'] === 'string' ? [{ role: 'user', content: raw['input'] }] : raw['input']
  const { fields, turns } = requestBody(isObject(body) ? { ...raw, input: items ?? [] } : body, 'input')
  checkFields(fields, turns)
  const { tools, tool_choice: choice, text, reasoning } = fields
  const own = readTools(tools)
  const request = compact({
    model: fields['model'] ?? '',
    messages: [...readInstructions(fields['instructions']), ...readInput(turns)],
    max_tokens: fields['max_output_tokens'] ?? undefined,
    temperature: fields['temperature'] ?? undefined,
    top_p: fields['top_p'] ?? undefined,
    stream: fields['stream'] ?? undefined,
    tools: own,
    tool_choice: readToolChoice(choice),
    parallel_tool_calls: fields['parallel_tool_calls'] ?? undefined,
    user: stringOf(fields['user']),
    response_format: readFormat(objectOf(objectOf(text)['format'])),
    reasoning_effort: stringOf(objectOf(reasoning)['effort']),
    ...readLogprobs(fields),
    ...withExtra('responses', restOf(fields, apart) ?? {}),
  })
  return checkedRequest(request)
}

/** Probabilities as chat completions ask for them, which refuse alternatives alone. */
function readLogprobs({ include, top_logprobs: top }: JsonObject): JsonObject {
  if (!Array.isArray(include) || !include.includes(includedLogprobs)) return {}
  return { logprobs: true, ...(typeof top === 'number' && { top_logprobs: top }) }
}

/** Fields that are not kept: the request has them, and no response object echoes them. */
const apart = new Set(['input', 'model', 'stream'])

function checkFields(fields: JsonObject, items: readonly JsonObject[]): void {
  const { expect, done } = checkRequest()
  const given = (name: string) => fields[name] !== undefined && fields[name] !== null
  const isWhole = !given('previous_response_id') && !given('conversation')
  const isInstructed = typeof fields['instructions'] === 'string' || Array.isArray(fields['instructions'])
  expect(!given('instructions') || isInstructed, 'instructions', 'must be text')
  for (const name of ['text', 'reasoning', 'metadata'])
    expect(!given(name) || isObject(fields[name]), name, 'must be an object')
  const { include } = fields
  const isListed = Array.isArray(include) && include.every((name) => typeof name === 'string')
  expect(!given('include') || isListed, 'include', 'must be a list of texts')
  const limit = fields['max_output_tokens']
  const isLimit = Number.isSafeInteger(limit) && (limit as number) > 0
  expect(!given('max_output_tokens') || isLimit, 'max_output_tokens', 'must be a whole number of at least 1')
  expect(!given('store') || typeof fields['store'] === 'boolean', 'store', 'must be true or false')
  if (given('tools') && expect(Array.isArray(fields['tools']), 'tools', 'must be a list'))
    checkTools(fields['tools'] as unknown[], expect)
  const choice = fields['tool_choice']
  expect(
    !given('tool_choice') || typeof choice === 'string' || isObject(choice),
    'tool_choice',
    'must be text or an object',
  )
  checkInput(items, isWhole, expect)
  done()
}

function checkTools(tools: readonly unknown[], expect: ReturnType<typeof checkRequest>['expect']): void {
  for (const [index, tool] of tools.entries()) {
    const path = `tools[${index}]`
    if (!expect(isObject(tool), path, 'must be an object')) continue
    const { type, name, tools: inner } = tool as JsonObject
    expect(typeof type === 'string', `${path}.type`, 'must be text')
    const isNamed = type !== 'function' && type !== 'custom' && type !== 'namespace'
    expect(isNamed || (typeof name === 'string' && name !== ''), `${path}.name`, 'must be text')
    if (type === 'namespace')
      expect(Array.isArray(inner) && inner.every(isObject), `${path}.tools`, 'must be a list of tools')
  }
}

/** Instructions are text; those of a response that is read again may be items. */
function readInstructions(instructions: unknown): readonly Message[] {
  if (typeof instructions === 'string' && instructions !== '')
    return [{ role: 'system', content: instructions, ...withExtra('responses', { instructions: true }) }]
  const items = objectsOf(instructions)
  return readInput(items).map((message) => ({
    ...message,
    ...withExtra('responses', { instructions: true }),
  }))
}

const formatFields = new Set(['type'])

function readFormat(format: JsonObject): ResponseFormat | undefined {
  if (format['type'] === 'json_object') return { type: 'json_object' }
  if (format['type'] !== 'json_schema') return undefined
  const wire = restOf(format, formatFields) ?? {}
  const filled = Object.entries(wire).filter(([, value]) => value !== null)
  return { type: 'json_schema', json_schema: Object.fromEntries(filled) as { name: string } }
}
