import {
  compact,
  isObject,
  type JsonObject,
  objectOf,
  objectsOf,
  restOf,
  stringOf,
} from '../../protocol/json-object.ts'
import type { ChatRequest, Message, Tool, ToolCall } from '../../protocol/messages.ts'
import { withExtra } from '../shared/alternation.ts'
import { checkedRequest, checkRequest, type Expect, requestBody } from '../shared/request-check.ts'
import { generatedId } from '../shared/tool-ids.ts'
import { readCalls, readContent } from './content.ts'

/** Reads a request in Ollama's dialect. */
export function readRequest(body: unknown): ChatRequest {
  const { fields, turns } = requestBody(body, 'messages')
  const { expect, done } = checkRequest()
  for (const [index, turn] of turns.entries()) {
    const known = ['system', 'user', 'assistant', 'tool'].includes(stringOf(turn['role']) ?? '')
    expect(known, `messages[${index}].role`, 'must be system, user, assistant or tool')
    const { content = null, images = null } = turn
    expect(content === null || typeof content === 'string', `messages[${index}].content`, 'must be text')
    const isList = Array.isArray(images) && images.every((image) => typeof image === 'string')
    expect(images === null || isList, `messages[${index}].images`, 'must be a list of texts in base64')
  }
  checkFields(fields, expect)
  done()
  const options = objectOf(fields['options'])
  const tools = objectsOf(fields['tools'])
  const request = compact({
    model: fields['model'] ?? '',
    messages: readMessages(turns),
    temperature: options['temperature'],
    top_p: options['top_p'],
    top_k: options['top_k'],
    max_tokens: limitIn(options),
    seed: options['seed'],
    stop: options['stop'],
    presence_penalty: options['presence_penalty'],
    frequency_penalty: options['frequency_penalty'],
    stream: fields['stream'] !== false,
    tools: tools.length > 0 ? tools.map(readTool) : undefined,
    response_format: readFormat(fields['format']),
    reasoning_effort: stringOf(fields['think']),
    logprobs: fields['logprobs'] ?? undefined,
    top_logprobs: fields['top_logprobs'] ?? undefined,
    extra_content: readExtra(fields, options),
  })
  return checkedRequest(request)
}

/** Checks the fields that only Ollama's requests have; null counts as absent. */
function checkFields({ options, tools, format, stream, think }: JsonObject, expect: Expect): void {
  const isGiven = (value: unknown) => value !== undefined && value !== null
  expect(!isGiven(options) || isObject(options), 'options', 'must be an object')
  expect(!isGiven(tools) || Array.isArray(tools), 'tools', 'must be a list')
  expect(!isGiven(stream) || typeof stream === 'boolean', 'stream', 'must be true or false')
  const isFormat = format === '' || format === 'json' || isObject(format)
  expect(!isGiven(format) || isFormat, 'format', 'must be json or a JSON Schema')
  expect(!isGiven(think) || ['boolean', 'string'].includes(typeof think), 'think', 'must be true, false or a level')
}

/** -1 stands for no limit, -2 for the rest of the context. */
function limitIn({ num_predict: most }: JsonObject): unknown {
  return typeof most === 'number' && most < 0 ? undefined : most
}

/** Ollama's calls need no id: those without get one, and the answers of tools find theirs by name, else in order. */
function readMessages(turns: readonly JsonObject[]): readonly Message[] {
  let count = 0
  const open: ToolCall[] = []

  function idFor(name: string | undefined): string {
    const named = open.findIndex((call) => call.function.name === name)
    const [found] = open.splice(Math.max(0, named), 1)
    return found?.id ?? generatedId('', count++)
  }

  return turns.map((turn) => {
    const calls = readCalls(turn['tool_calls'], () => generatedId('', count++))
    open.push(...(calls ?? []))
    const name = stringOf(turn['tool_name'])
    const isAnswer = turn['role'] === 'tool'
    const message = compact({
      role: turn['role'] as Message['role'],
      content: readContent(turn),
      reasoning_content: stringOf(turn['thinking']),
      tool_calls: calls,
      name,
      tool_call_id: isAnswer ? (stringOf(turn['tool_call_id']) ?? idFor(name)) : undefined,
      ...withExtra('ollama', restOf(turn, messageFields)),
    })
    return message as Message
  })
}

const messageFields = new Set(['role', 'content', 'thinking', 'images', 'tool_calls', 'tool_name', 'tool_call_id'])

function readTool(tool: JsonObject): Tool {
  const own = restOf(tool, new Set(['type', 'function']))
  return {
    type: 'function',
    function: objectOf(tool['function']) as unknown as Tool['function'],
    ...withExtra('ollama', own),
  }
}

function readFormat(format: unknown): ChatRequest['response_format'] {
  if (format === 'json') return { type: 'json_object' }
  return isObject(format) ? { type: 'json_schema', json_schema: { name: 'answer', schema: format } } : undefined
}

const requestFields = new Set([
  ...['model', 'messages', 'stream', 'options', 'tools', 'format', 'logprobs', 'top_logprobs'],
])

const optionFields = new Set([
  'temperature',
  'top_p',
  'top_k',
  'num_predict',
  'seed',
  'stop',
  'presence_penalty',
  'frequency_penalty',
])

function ownOptions(options: JsonObject): JsonObject {
  const { num_predict } = options
  const isLimit = limitIn(options) !== undefined
  return { ...restOf(options, optionFields), ...(num_predict !== undefined && !isLimit && { num_predict }) }
}

/** Fields without a place in our shape, and the empty values that some clients send, such as `format: ""`. */
function readExtra(fields: JsonObject, options: JsonObject): ChatRequest['extra_content'] {
  const { format, tools } = fields
  const extra = {
    ...restOf(fields, requestFields),
    ...(format !== undefined && !readFormat(format) && { format }),
    ...(tools !== undefined && objectsOf(tools).length === 0 && { tools }),
    ...(fields['options'] !== undefined && { options: ownOptions(options) }),
  }
  return Object.keys(extra).length > 0 ? { ollama: extra } : undefined
}
