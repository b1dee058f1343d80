import type { Dialect } from '../protocol/dialect.ts'
import { isObject, type JsonObject, stringOf } from '../protocol/json-object.ts'
import type { ChatRequest, ForeignPart, Tool } from '../protocol/messages.ts'
import { changedSampling, lostSampling as lostClaudeSampling } from './anthropic/sampling.ts'
import { lostToThinking, thinkingFields } from './anthropic/thinking.ts'
import { thinkingConfig } from './gemini/thinking.ts'
import { lostSampling as lostOpenaiSampling } from './openai/sampling.ts'
import { foreignFields, type Owner, unknownInMessages } from './shared/foreign-fields.ts'
import { withTools } from './shared/legacy-functions.ts'
import { titles } from './shared/media-support.ts'
import { unknownFields } from './shared/request-fields.ts'
import { tokenLimitOf } from './shared/request-writer.ts'

/**
 * The parts of a request that a dialect cannot express and leaves out, one sentence each: tools that another provider
 * runs itself, and settings unknown to this one or refused by the model; also the values that it has to change. Content
 * shown to the model is never left out: the dialect refuses the request instead, see media-support.ts.
 */
export function unsupportedFields(asked: ChatRequest, id: Dialect['id'], endpoint = ''): readonly string[] {
  if (id === 'openai-chat' && asked.tools === undefined) return lostByOpenai(asked, endpoint)
  const request = id === 'openai-chat' ? asked : withTools(asked)
  const tools = (request.tools ?? []).filter((tool) => !knowsTool(tool, id)).map(toolName)
  const names = [
    ...tools.map((name) => `the tool ${name}`),
    ...(id === 'openai-chat' ? [] : unsupportedValues(request, id)),
    ...unknownFields(request, id),
    ...(id === 'openai-chat' ? [] : unknownInMessages(request)),
    ...foreignFields(request, own[id]),
  ]
  const refused = [...refusedByModel(request, id, endpoint), ...lostEffort(request, id)]
  const changed = id === 'anthropic-messages' ? changedSampling(request) : []
  return [...sentencesOn(request, id, names, refused), ...changed]
}

/** The same for a request without tools to OpenAI's dialect, which knows every other field and passes it on. */
function lostByOpenai(request: ChatRequest, endpoint: string): readonly string[] {
  const names = foreignFields(request, own['openai-chat'])
  const refused = lostOpenaiSampling(request, endpoint)
  return names.length === 0 && refused.length === 0 ? refused : sentencesOn(request, 'openai-chat', names, refused)
}

function sentencesOn(
  { model }: ChatRequest,
  id: Dialect['id'],
  names: readonly string[],
  refused: readonly string[],
): readonly string[] {
  return [
    ...(names.length > 0 ? [`${names.join(', ')}: left out, since ${titles[id]} does not know it`] : []),
    ...(refused.length > 0 ? [`${refused.join(', ')}: left out, since ${model} refuses it`] : []),
  ]
}

function refusedByModel(request: ChatRequest, id: Dialect['id'], endpoint: string): readonly string[] {
  if (id === 'anthropic-messages') return [...new Set([...lostClaudeSampling(request), ...lostToThinking(request)])]
  return id === 'openai-chat' || id === 'openai-responses' ? lostOpenaiSampling(request, endpoint) : []
}

/** A reasoning effort for a model without efforts; `none` asks for nothing there. */
function lostEffort(request: ChatRequest, id: Dialect['id']): readonly string[] {
  const { model, reasoning_effort: effort } = request
  if (!effort || effort === 'none') return []
  const body = { max_tokens: tokenLimitOf(request) ?? Number.MAX_SAFE_INTEGER }
  const takes: Record<Dialect['id'], () => boolean> = {
    'openai-chat': () => true,
    'openai-responses': () => true,
    'anthropic-messages': () =>
      isObject(request.extra_content?.['anthropic']) || Object.keys(thinkingFields(request, body)).length > 0,
    gemini: () => thinkingConfig(model, effort) !== undefined,
    ollama: () => /gpt-oss/.test(model),
  }
  return takes[id]() ? [] : ['reasoning_effort']
}

/** The key of a dialect's own fields in `extra_content`. */
const own: Readonly<Partial<Record<Dialect['id'], Owner>>> = {
  'openai-responses': 'responses',
  'anthropic-messages': 'anthropic',
  gemini: 'gemini',
  ollama: 'ollama',
}

/** Fields that a dialect has, with a value that it cannot express. */
function unsupportedValues(request: ChatRequest, id: Dialect['id']): readonly string[] {
  const { tool_choice: choice, response_format: format } = request
  const isAsked = choice !== undefined && choice !== null && choice !== 'auto'
  const isKnown = id !== 'ollama' && (isNamed(choice) || ['none', 'required', 'any'].includes(choice as string))
  const isFormat = ['text', 'json_object', 'json_schema', undefined].includes(format?.type)
  const sampling = id === 'openai-responses' ? ['stop', 'top_k'].filter((name) => request[name] != null) : []
  return [
    ...sampling,
    ...(isAsked && !isKnown ? ['tool_choice'] : []),
    ...(isFormat ? [] : [`response_format ${(stringOf(format!.type) ?? '').slice(0, 60)}`]),
  ]
}

function isNamed(choice: ChatRequest['tool_choice']): boolean {
  return isObject(choice) && choice['type'] === 'function'
}

function knowsTool(tool: Tool | ForeignPart, id: Dialect['id']): boolean {
  if (tool.type === 'foreign') return tool.dialect === own[id]
  return tool.type === 'function' || id === 'openai-chat'
}

function toolName(tool: Tool | ForeignPart): string {
  const { type, name } = tool.type === 'foreign' ? tool.value : (tool as unknown as JsonObject)
  const [first = 'without a name'] = tool.type === 'foreign' ? Object.keys(tool.value) : []
  return [name, type, first].find((text) => typeof text === 'string')!.slice(0, 60)
}
