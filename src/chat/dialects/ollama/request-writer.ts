import type { Quirks, WireRequest } from '../../protocol/dialect.ts'
import { compact, type JsonObject, objectOf, present } from '../../protocol/json-object.ts'
import { type ChatRequest, contentOf, type Message, type Tool, textOf } from '../../protocol/messages.ts'
import { extraOf, failedTool, isFailedTool } from '../shared/alternation.ts'
import { isSupportedMedia, unsupportedMedia } from '../shared/media-support.ts'
import { withTools } from '../shared/plain-tools.ts'
import { notExpressible } from '../shared/request-check.ts'
import { stopsOf, tokenLimitOf, wireRequest } from '../shared/request-writer.ts'
import { answeredNames, isGeneratedId } from '../shared/tool-ids.ts'
import { imageOf, writeCall } from './content.ts'

/** Our request as Ollama's /api/chat (https://docs.ollama.com/api/chat). Without `stream: false` Ollama streams. */
export function writeRequest(asked: ChatRequest, endpoint: string, quirks: Quirks = {}): WireRequest {
  const request = withTools(asked)
  if ((request.n ?? 1) > 1) throw notExpressible('Ollama gives one answer to a request: ask with n: 1')
  const extra = extraOf(request, 'ollama')
  const names = answeredNames(request.messages)
  const tools = request.tools?.filter((tool) => tool.type === 'function').map((tool) => writeTool(tool as Tool))
  const body = compact({
    ...extra,
    model: request.model || undefined,
    messages: request.messages.map((message) => writeMessage(message, names, quirks)),
    stream: request.stream === true,
    tools: tools?.length ? tools : extra['tools'],
    format: writeFormat(request.response_format) ?? extra['format'],
    options: writeOptions(request, extra['options']),
    think: extra['think'] ?? thinkingValue(request),
    logprobs: request['logprobs'] ?? undefined,
    top_logprobs: request['top_logprobs'] ?? undefined,
  })
  return wireRequest(request, endpoint, body)
}

function writeMessage(message: Message, names: ReadonlyMap<Message, string>, quirks: Quirks): JsonObject {
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
    tool_calls: message.tool_calls?.map((call) => writeCall(call)),
    tool_name: role === 'tool' ? (message.name ?? (isGeneratedId(id) ? undefined : names.get(message))) : undefined,
    tool_call_id: isGeneratedId(id) ? undefined : id,
  })
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
    num_predict: tokenLimitOf(request),
    seed: request.seed ?? undefined,
    stop: stopsOf(request),
    presence_penalty: request.presence_penalty ?? undefined,
    frequency_penalty: request.frequency_penalty ?? undefined,
  })
  return own !== undefined || Object.keys(options).length > 0 ? options : undefined
}

/**
 * Ollama's `think`. gpt-oss thinks in levels and cannot stop; other models that can think do so by default
 * (https://docs.ollama.com/capabilities/thinking), and asking one that cannot is an error: only false is sent.
 */
function thinkingValue(request: ChatRequest): string | boolean | undefined {
  const effort = request.reasoning_effort
  if (!effort) return undefined
  if (!/gpt-oss/.test(request.model)) return effort === 'none' ? false : undefined
  return effort === 'medium' || effort === 'high' ? effort : 'low'
}
