import type { Quirks, WireRequest } from '../../protocol/dialect.ts'
import { compact, type JsonObject, objectOf, objectsOf, restOf, stringOf } from '../../protocol/json-object.ts'
import type { ChatRequest, Message } from '../../protocol/messages.ts'
import { lostSampling } from '../openai/sampling.ts'
import { extraOf, failedTool, isFailedTool } from '../shared/alternation.ts'
import { isSupportedMedia } from '../shared/media-support.ts'
import { withTools } from '../shared/plain-tools.ts'
import { notExpressible } from '../shared/request-check.ts'
import { includedLogprobs } from '../shared/request-fields.ts'
import { tokenLimitOf, wireRequest } from '../shared/request-writer.ts'
import { renameToolIds } from '../shared/tool-ids.ts'
import { compactionWire } from './compaction.ts'
import { writeParts } from './content.ts'
import { writeTurn } from './items.ts'
import { toolNames, writeToolChoice, writeTools } from './tools.ts'

/** Our request as one of the Responses dialect (https://platform.openai.com/docs/api-reference/responses/create). */
export function writeRequest(asked: ChatRequest, endpoint: string, quirks: Quirks = {}): WireRequest {
  const own = asked.extra_content?.['responses']
  const request = own === undefined ? withTools(asked) : asked
  if ((request.n ?? 1) > 1) throw notExpressible('The Responses dialect gives one answer to a request: ask with n: 1')
  const pattern = quirks.tool_id_pattern
  const messages = pattern ? renameToolIds(request.messages, pattern) : request.messages
  const instructed = messages.filter(isInstruction)
  const tools = writeTools(request.tools)
  // A choice among tools that are all left out would be refused.
  const isBare = tools?.length === 0 && request.tools !== undefined && request.tools.length > 0
  const body = compact({
    ...(own === undefined ? unkept : restOf(own, written)),
    ...sharedFields(request),
    include: writeInclude(request, own),
    model: request.model || undefined,
    instructions: instructed.length > 0 || own?.['instructions'] === '' ? own?.['instructions'] : undefined,
    input: messages.filter((message) => !isInstruction(message)).flatMap((message) => writeMessage(message, quirks)),
    max_output_tokens: tokenLimitOf(request),
    temperature: request.temperature ?? undefined,
    top_p: request.top_p ?? undefined,
    stream: request.stream ?? undefined,
    tools: isBare ? undefined : tools,
    tool_choice: isBare ? undefined : writeChoice(request, own),
    parallel_tool_calls: isBare ? undefined : (request.parallel_tool_calls ?? undefined),
    user: stringOf(request['user']),
    text: writeText(request, objectOf(own?.['text'])),
    reasoning: writeReasoning(request, own),
    stream_options: writeStreamOptions(request, own),
  })
  const refused = lostSampling(request, endpoint)
  const whole = { endpoint, body: refused.length > 0 ? without(body, refused) : body }
  const sent = compactionWire(request, endpoint, whole.body) ?? whole
  return wireRequest(request, sent.endpoint, sent.body)
}

/** A body without the fields that its model refuses. */
function without(body: JsonObject, refused: readonly string[]): JsonObject {
  const { include, ...rest } = restOf(body, new Set(refused)) ?? {}
  const isCut = Array.isArray(include) && refused.includes('logprobs')
  const kept = isCut ? include.filter((name) => name !== includedLogprobs) : include
  const isLeft = kept !== undefined && !(isCut && (kept as readonly unknown[]).length === 0)
  return { ...rest, ...(isLeft && { include: kept }) }
}

/** For requests of other dialects: the provider keeps nothing, and the answer brings its reasoning along. */
const unkept: JsonObject = { store: false, include: ['reasoning.encrypted_content'] }

/** A list, as the answer's parts other than its text are asked for here. */
function writeInclude(request: ChatRequest, own: JsonObject | undefined): unknown {
  const include = own === undefined ? unkept['include'] : own['include']
  if (request['logprobs'] !== true) return include ?? undefined
  const listed = Array.isArray(include) ? (include as readonly unknown[]) : []
  return listed.includes(includedLogprobs) ? listed : [...listed, includedLogprobs]
}

/** The own fields of a request that are written from our shape. */
const written = new Set([
  'instructions',
  'max_output_tokens',
  'temperature',
  'top_p',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'user',
  'text',
  'reasoning',
  'stream_options',
  'sealed',
  'compact',
])

/** Fields that both of OpenAI's dialects have under one name. */
const shared = [
  'metadata',
  'service_tier',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'top_logprobs',
]

function sharedFields(request: ChatRequest): JsonObject {
  const entries = shared.map((name) => [name, request[name] ?? undefined] as const)
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

function isInstruction(message: Message): boolean {
  return extraOf(message, 'responses')['instructions'] === true
}

function writeMessage(message: Message, quirks: Quirks): readonly JsonObject[] {
  const { before, after } = extraOf(message, 'responses')
  return [...objectsOf(before), ...writeItems(message, quirks), ...objectsOf(after)]
}

function writeItems(
  message: Message,
  { system_as: systemAs, tool_id_pattern: pattern }: Quirks,
): readonly JsonObject[] {
  if (message.role === 'assistant') return writeTurn(message, pattern !== undefined)
  const { before: _before, after: _after, custom, ...extra } = extraOf(message, 'responses')
  const content = writeParts(message.content, isSupportedMedia(message))
  if (message.role === 'tool') {
    const type = custom === true ? 'custom_tool_call_output' : 'function_call_output'
    const output = isFailedTool(message) ? failed(content) : content
    return [{ ...extra, type, call_id: message.tool_call_id ?? '', output }]
  }
  const role = message.role === 'system' || message.role === 'developer' ? (systemAs ?? message.role) : 'user'
  return [{ ...extra, role, content }]
}

/** A failed tool's output, marked in words. */
function failed(output: string | JsonObject[]): string | JsonObject[] {
  return typeof output === 'string' ? `${failedTool}${output}` : [{ type: 'input_text', text: failedTool }, ...output]
}

/** A hosted tool's choice has no place in our shape. */
function writeChoice(request: ChatRequest, own: JsonObject | undefined): unknown {
  return writeToolChoice(request.tool_choice ?? own?.['tool_choice'], toolNames(request))
}

function writeText(request: ChatRequest, own: JsonObject): JsonObject | undefined {
  const { response_format: format } = request
  const verbosity = request['verbosity'] ?? undefined
  const { format: ownFormat, ...rest } = own
  const wire = format?.type === 'json_schema' ? { type: 'json_schema', ...format.json_schema } : (format ?? ownFormat)
  const text = compact({ ...rest, verbosity: rest['verbosity'] ?? verbosity, format: wire ?? undefined })
  return Object.keys(text).length > 0 ? text : undefined
}

function writeReasoning(request: ChatRequest, own: JsonObject | undefined): JsonObject | undefined {
  const { effort: _effort, ...rest } = objectOf(own?.['reasoning'])
  const effort = request.reasoning_effort
  const reasoning = { ...(effort !== undefined && { effort }), ...rest }
  return Object.keys(reasoning).length > 0 ? reasoning : undefined
}

/** Token counts come at the end of every stream: only the client's own options are passed on. */
function writeStreamOptions(request: ChatRequest, own: JsonObject | undefined): unknown {
  return request.stream ? (own?.['stream_options'] ?? undefined) : undefined
}
