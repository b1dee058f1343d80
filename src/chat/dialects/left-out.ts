import type { ChatRequest, ForeignPart, Tool } from '../messages.ts'
import { lostSampling as lostClaudeSampling } from './anthropic-sampling.ts'
import type { Dialect } from './dialect.ts'
import { isObject, type JsonObject, objectOf } from './json.ts'
import { lostSampling as lostOpenaiSampling } from './openai-request.ts'
import { titles } from './shown.ts'

/**
 * What of a request a dialect has no words for and leaves out, in one sentence each, so that nothing is lost unseen:
 * tools that another provider runs itself, and settings that this one does not know or that the model refuses. What is
 * shown to the model itself is never left out: there the dialect refuses, see shown.ts.
 */
export function leftOutOf(request: ChatRequest, id: Dialect['id'], endpoint = ''): readonly string[] {
  const tools = (request.tools ?? []).filter((tool) => !knowsTool(tool, id)).map(toolName)
  const settings = Object.keys(unknownTo[id]).filter((name) => isAsked(request, name, unknownTo[id][name]))
  const foreign = own[id] === undefined ? Object.keys(own) : Object.keys(own).filter((name) => name !== id)
  const foreignFields = foreign.flatMap((name) => foreignSettings(request, own[name as Dialect['id']]))
  const names = [...tools.map((name) => `the tool ${name}`), ...settings, ...foreignFields]
  const refused = refusedByModel(request, id, endpoint)
  return [
    ...(names.length > 0 ? [`${names.join(', ')}: left out, since ${titles[id]} does not know it`] : []),
    ...(refused.length > 0 ? [`${refused.join(', ')}: left out, since ${request.model} refuses it`] : []),
  ]
}

function refusedByModel(request: ChatRequest, id: Dialect['id'], endpoint: string): readonly string[] {
  if (id === 'anthropic-messages') return lostClaudeSampling(request)
  return id === 'openai-chat' ? lostOpenaiSampling(request, endpoint) : []
}

/** The name under which a dialect keeps what only it understands. */
const own: Readonly<Partial<Record<Dialect['id'], 'anthropic' | 'gemini' | 'ollama'>>> = {
  'anthropic-messages': 'anthropic',
  gemini: 'gemini',
  ollama: 'ollama',
}

/** OpenAI's settings that a dialect has no field for, each with the value that asks for nothing. */
const unknownTo: Readonly<Record<Dialect['id'], Readonly<Record<string, unknown>>>> = {
  'openai-chat': {},
  'anthropic-messages': {
    seed: undefined,
    presence_penalty: 0,
    frequency_penalty: 0,
    logprobs: false,
    logit_bias: undefined,
    modalities: undefined,
  },
  gemini: { logprobs: false, logit_bias: undefined, modalities: undefined, parallel_tool_calls: true },
  ollama: { tool_choice: 'auto', logit_bias: undefined, modalities: undefined, parallel_tool_calls: true },
}

function isAsked(request: ChatRequest, name: string, neutral: unknown): boolean {
  const value = request[name]
  const isNothing = Array.isArray(value) ? value.every((item) => item === 'text') : isObject(value) && isEmpty(value)
  return value !== undefined && value !== null && value !== neutral && !isNothing
}

function isEmpty(value: JsonObject): boolean {
  return Object.keys(value).length === 0
}

/** The fields of a request that another dialect brought along and that change the answer. */
function foreignSettings(request: ChatRequest, dialect: string | undefined): readonly string[] {
  const extra = dialect === undefined ? {} : objectOf(request.extra_content?.[dialect])
  return ['thinking', 'mcp_servers', 'container', 'context_management', 'cachedContent'].filter(
    (name) => extra[name] !== undefined,
  )
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
