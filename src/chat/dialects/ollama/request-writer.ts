import { dataUrl, parseDataUrl } from '../../../formats/data-url.ts'
import type { Quirks, WireRequest } from '../../protocol/dialect.ts'
import {
  argumentsText,
  compact,
  isObject,
  type JsonObject,
  objectOf,
  objectsOf,
  parseArguments,
  present,
  restOf,
  stringOf,
} from '../../protocol/json-object.ts'
import {
  type ChatRequest,
  type ContentPart,
  contentOf,
  imageUrlOf,
  type Message,
  type Tool,
  type ToolCall,
  textOf,
} from '../../protocol/messages.ts'
import { extraOf, failedTool, isFailedTool, withExtra } from '../shared/alternation.ts'
import { withTools } from '../shared/legacy-functions.ts'
import { isSupportedMedia, unsupportedMedia } from '../shared/media-support.ts'
import { checkedRequest, checkRequest, notExpressible, requestBody } from '../shared/request-check.ts'
import { generatedId, isGeneratedId } from '../shared/tool-ids.ts'

/** Our request as Ollama's /api/chat (https://docs.ollama.com/api/chat). Without `stream: false` Ollama streams. */
export function writeOllamaRequest(asked: ChatRequest, endpoint: string, quirks: Quirks = {}): WireRequest {
  const request = withTools(asked)
  if ((request.n ?? 1) > 1) throw notExpressible('Ollama gives one answer to a request: ask with n: 1')
  const extra = extraOf(request, 'ollama')
  const names = new Map(
    request.messages.flatMap(({ tool_calls: calls = [] }) => calls.map((call) => [call.id, call.function.name])),
  )
  const tools = request.tools?.filter((tool) => tool.type === 'function').map((tool) => writeTool(tool as Tool))
  const body = compact({
    ...extra,
    model: request.model || undefined,
    messages: request.messages.map((message) => writeMessage(message, names, quirks)),
    stream: request.stream === true,
    tools: tools?.length ? tools : extra['tools'],
    format: writeFormat(request.response_format) ?? extra['format'],
    options: writeOptions(request, extra['options']),
    think: extra['think'] ?? writeThink(request),
  })
  return {
    url: endpoint.replaceAll('{model}', encodeURIComponent(request.model)),
    headers: { 'content-type': 'application/json' },
    body,
  }
}

/** Reads a request in Ollama's dialect. */
export function readOllamaRequest(body: unknown): ChatRequest {
  const { fields, turns } = requestBody(body, 'messages')
  const { expect, done } = checkRequest()
  for (const [index, turn] of turns.entries()) {
    const known = ['system', 'user', 'assistant', 'tool'].includes(stringOf(turn['role']) ?? '')
    expect(known, `messages[${index}].role`, 'must be system, user, assistant or tool')
    expect(
      turn['content'] === undefined || typeof turn['content'] === 'string',
      `messages[${index}].content`,
      'must be text',
    )
  }
  done()
  const options = objectOf(fields['options'])
  const tools = objectsOf(fields['tools'])
  const request = compact({
    model: fields['model'] ?? '',
    messages: readMessages(turns),
    temperature: options['temperature'],
    top_p: options['top_p'],
    top_k: options['top_k'],
    max_tokens: options['num_predict'],
    seed: options['seed'],
    stop: options['stop'],
    presence_penalty: options['presence_penalty'],
    frequency_penalty: options['frequency_penalty'],
    stream: fields['stream'] !== false,
    tools: tools.length > 0 ? tools.map(readTool) : undefined,
    response_format: readFormat(fields['format']),
    reasoning_effort: stringOf(fields['think']),
    extra_content: readExtra(fields, options),
  })
  return checkedRequest(request)
}

/** A call in Ollama's spelling: the arguments are an object, and an id is there only where the provider gave one. */
export function writeOllamaCall(call: ToolCall, index?: number): JsonObject {
  const { name, arguments: text } = call.function
  const wire = { ...(index !== undefined && { index }), name, arguments: parseArguments(text) }
  return { ...(!isGeneratedId(call.id) && { id: call.id }), ...extraOf(call, 'ollama'), function: wire }
}

/** The calls of a message of Ollama's; `ids` names those that have no id. */
export function readOllamaCalls(calls: unknown, ids: () => string): readonly ToolCall[] | undefined {
  const read = objectsOf(calls).map((call): ToolCall => {
    const wire = objectOf(call['function'])
    return {
      id: stringOf(call['id']) || ids(),
      type: 'function',
      function: { name: stringOf(wire['name']) ?? '', arguments: argumentsText(wire['arguments']) },
      ...withExtra('ollama', restOf(call, callFields)),
    }
  })
  return read.length > 0 ? read : undefined
}

const callFields = new Set(['id', 'function'])

function writeMessage(message: Message, names: ReadonlyMap<string, string>, quirks: Quirks): JsonObject {
  const role = message.role === 'developer' || message.role === 'system' ? (quirks.system_as ?? 'system') : message.role
  const parts = Array.isArray(message.content) ? message.content : []
  const images = present(parts.map(imageOf))
  const strange = isSupportedMedia(message)
    ? parts.find((part) => part.type !== 'text' && part.type !== 'image_url')
    : undefined
  if (strange) throw unsupportedMedia(strange, 'ollama')
  const id = message.tool_call_id
  return compact({
    ...extraOf(message, 'ollama'),
    role: role === 'developer' ? 'system' : role,
    content: (isFailedTool(message) ? failedTool : '') + textOf(contentOf(message)),
    thinking: message.reasoning_content,
    images: images.length > 0 ? images : undefined,
    tool_calls: message.tool_calls?.map((call) => writeOllamaCall(call)),
    tool_name: role === 'tool' ? (message.name ?? (isGeneratedId(id) ? undefined : names.get(id!))) : undefined,
    tool_call_id: isGeneratedId(id) ? undefined : id,
  })
}

function imageOf(part: ContentPart): string | undefined {
  const url = imageUrlOf(part)
  if (url === undefined) return undefined
  const inline = parseDataUrl(url)
  if (!inline) throw notExpressible('Ollama takes images as data: URLs only, not as addresses')
  return inline.data
}

function writeTool(tool: Tool): JsonObject {
  return { ...extraOf(tool, 'ollama'), type: 'function', function: tool.function }
}

function writeFormat(format: ChatRequest['response_format']): unknown {
  if (format?.type === 'json_object') return 'json'
  return format?.type === 'json_schema' ? (format.json_schema.schema ?? 'json') : undefined
}

function writeOptions(request: ChatRequest, own: unknown): JsonObject | undefined {
  const options = compact({
    ...objectOf(own),
    temperature: request.temperature ?? undefined,
    top_p: request.top_p ?? undefined,
    top_k: request.top_k ?? undefined,
    num_predict: request.max_completion_tokens ?? request.max_tokens ?? undefined,
    seed: request.seed ?? undefined,
    stop: typeof request.stop === 'string' ? [request.stop] : (request.stop ?? undefined),
    presence_penalty: request.presence_penalty ?? undefined,
    frequency_penalty: request.frequency_penalty ?? undefined,
  })
  return own !== undefined || Object.keys(options).length > 0 ? options : undefined
}

/**
 * gpt-oss thinks in levels and cannot stop; other models think or do not. Those that can do so unasked
 * (https://docs.ollama.com/capabilities/thinking), and to ask one that cannot is an error: only "do not" is said.
 */
function writeThink(request: ChatRequest): string | boolean | undefined {
  const effort = request.reasoning_effort
  if (!effort) return undefined
  if (!/gpt-oss/.test(request.model)) return effort === 'none' ? false : undefined
  return effort === 'medium' || effort === 'high' ? effort : 'low'
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
    const calls = readOllamaCalls(turn['tool_calls'], () => generatedId('', count++))
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

function readContent(turn: JsonObject): Message['content'] {
  const text = stringOf(turn['content']) ?? ''
  const images = Array.isArray(turn['images']) ? turn['images'].filter((image) => typeof image === 'string') : []
  if (images.length === 0) return text
  const parts = images.map((data) => ({ type: 'image_url', image_url: { url: dataUrl(mediaType(data), data) } }))
  return text === '' ? parts : [{ type: 'text', text }, ...parts]
}

/** Ollama does not say what an image is: its first bytes do. */
function mediaType(data: string): string {
  if (data.startsWith('/9j/')) return 'image/jpeg'
  if (data.startsWith('R0lG')) return 'image/gif'
  return data.startsWith('UklGR') ? 'image/webp' : 'image/png'
}

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

const requestFields = new Set(['model', 'messages', 'stream', 'options', 'tools', 'format'])

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

/** What our shape has no field for, and the empty values that some clients send, such as `format: ""`. */
function readExtra(fields: JsonObject, options: JsonObject): ChatRequest['extra_content'] {
  const { format, tools } = fields
  const extra = {
    ...restOf(fields, requestFields),
    ...(format !== undefined && !readFormat(format) && { format }),
    ...(tools !== undefined && objectsOf(tools).length === 0 && { tools }),
    ...(fields['options'] !== undefined && { options: restOf(options, optionFields) ?? {} }),
  }
  return Object.keys(extra).length > 0 ? { ollama: extra } : undefined
}
