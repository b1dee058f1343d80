import type { Quirks, WireRequest } from '../../protocol/dialect.ts'
import { compact, isObject, type JsonObject, parseObject, stringOf } from '../../protocol/json-object.ts'
import type { ChatRequest, Message, Tool } from '../../protocol/messages.ts'
import { extraOf, groupTurns, isFailedTool, isModel, splitSystem } from '../shared/alternation.ts'
import { isSupportedMedia } from '../shared/media-support.ts'
import { withTools } from '../shared/plain-tools.ts'
import { stopsOf, tokenLimitOf } from '../shared/request-writer.ts'
import { answeredNames, isGeneratedId } from '../shared/tool-ids.ts'
import { writeAssistant, writeParts } from './content.ts'

/** Our request as Gemini's (https://ai.google.dev/api/generate-content). */
export function writeRequest(asked: ChatRequest, endpoint: string, quirks: Quirks = {}): WireRequest {
  const request = withTools(asked)
  const { system, turns } = splitSystem(request.messages, quirks)
  const names = answeredNames(turns)
  const body = compact({
    contents: groupTurns(turns).flatMap((group) => writeContent(group, names, request.model)),
    systemInstruction: writeSystem(system),
    generationConfig: writeConfig(request),
    tools: writeTools(request.tools),
    toolConfig: writeToolConfig(request.tool_choice),
  })
  return { url: geminiUrl(endpoint, request), headers: { 'content-type': 'application/json' }, body }
}

/**
 * The address of a call: `{model}` filled in and the method that fits, `:generateContent` or `:streamGenerateContent`
 * with `alt=sse`. An endpoint that names no method, such as `…/v1beta`, gets the rest of the path.
 */
function geminiUrl(endpoint: string, request: ChatRequest): string {
  const method = request.stream ? 'streamGenerateContent' : 'generateContent'
  const [, address = endpoint, query = ''] = /^([^?#]*)\??([^#]*)/.exec(endpoint) ?? []
  const model = encodeURIComponent(request.model.replace(/^models\//, ''))
  const filled = address.replaceAll('{model}', model)
  const named = /:(?:stream)?generateContent$/i
  const path = named.test(filled) ? filled.replace(named, '') : withModel(filled.replace(/(?<!\/)\/+$/, ''), model)
  const parameters = query.split('&').filter((parameter) => parameter !== '' && !parameter.startsWith('alt='))
  if (request.stream) parameters.push('alt=sse')
  return `${path}:${method}${parameters.length > 0 ? `?${parameters.join('&')}` : ''}`
}

function withModel(path: string, model: string): string {
  if (/\/models\/[^/]+$/.test(path)) return path
  return path.endsWith('/models') ? `${path}/${model}` : `${path}/models/${model}`
}

function writeContent(
  group: readonly Message[],
  names: ReadonlyMap<Message, string>,
  model: string,
): readonly JsonObject[] {
  const parts = group.flatMap((message) => {
    if (isModel(message))
      return hasOwnParts(message) ? writeAssistant(message) : signFirstCall(writeAssistant(message), model)
    return message.tool_call_id !== undefined || message.role === 'tool'
      ? writeAnswer(message, names, model)
      : writeParts(message.content, isSupportedMedia(message))
  })
  if (isModel(group[0]!)) return parts.length > 0 ? [{ role: 'model', parts }] : []
  // Gemini answers an empty text, and refuses a conversation that lacks its turn.
  return [{ role: 'user', parts: parts.length > 0 ? parts : [{ text: '' }] }]
}

/**
 * Gemini 3 refuses a call without a signature, and calls of other models have none. Google's page on thought signatures
 * gives this value for them (https://ai.google.dev/gemini-api/docs/thought-signatures).
 */
const noSignature = 'skip_thought_signature_validator'

function hasOwnParts(message: Message): boolean {
  return extraOf(message, 'gemini')['parts'] !== undefined
}

function signFirstCall(parts: readonly JsonObject[], model: string): readonly JsonObject[] {
  const first = parts.findIndex((part) => part['functionCall'] !== undefined)
  if (first === -1 || parts[first]!['thoughtSignature'] !== undefined || !needsSignatures(model)) return parts
  return parts.map((part, at) => (at === first ? { ...part, thoughtSignature: noSignature } : part))
}

/**
 * The answer of a tool, which goes by name. Gemini 3 takes the pictures and files in it as its parts
 * (https://ai.google.dev/gemini-api/docs/function-calling#multimodal); for earlier models they are next to it.
 */
function writeAnswer(message: Message, names: ReadonlyMap<Message, string>, model: string): readonly JsonObject[] {
  const id = message.tool_call_id
  const name = names.get(message) ?? (message.name || 'tool')
  const parts = writeParts(message.content, true)
  const texts = parts.map((part) => stringOf(part['text']) ?? '').join('')
  // Gemini's page on function calling names the field of a failure `error`.
  const response = isFailedTool(message) ? { error: texts } : answerOf(texts)
  const media = parts.filter((part) => part['text'] === undefined)
  // Gemini's API takes bytes there, and no addresses.
  const isInside = needsSignatures(model) && media.length > 0 && media.every(({ inlineData }) => inlineData)
  const answer = {
    ...(!isGeneratedId(id) && { id }),
    name,
    response,
    ...(isInside && { parts: media }),
  }
  return [{ functionResponse: answer }, ...(isInside ? [] : media)]
}

/** Gemini wants an object: a text that is none goes under `output`, the name that its page on function calling gives. */
function answerOf(text: string): JsonObject {
  return parseObject(text) ?? { output: text }
}

function writeSystem(system: readonly Message[]): JsonObject | undefined {
  const parts = system.flatMap((message) => writeParts(message.content))
  return parts.length > 0 ? { parts } : undefined
}

function writeConfig(request: ChatRequest): JsonObject | undefined {
  const config = compact({
    temperature: request.temperature ?? undefined,
    topP: request.top_p ?? undefined,
    topK: request.top_k ?? undefined,
    maxOutputTokens: tokenLimitOf(request),
    stopSequences: stopsOf(request),
    seed: request.seed ?? undefined,
    candidateCount: request.n ?? undefined,
    presencePenalty: request.presence_penalty ?? undefined,
    frequencyPenalty: request.frequency_penalty ?? undefined,
    ...writeFormat(request.response_format),
    ...(request['logprobs'] === true && { responseLogprobs: true, logprobs: request['top_logprobs'] ?? undefined }),
    thinkingConfig: thinkingConfig(request.model, request.reasoning_effort),
  })
  return Object.keys(config).length > 0 ? config : undefined
}

function writeFormat(format: ChatRequest['response_format']): JsonObject {
  if (format?.type !== 'json_object' && format?.type !== 'json_schema') return {}
  const json = { responseMimeType: 'application/json' }
  if (format.type === 'json_object') return json
  return { ...json, responseJsonSchema: format.json_schema.schema ?? { type: 'object' } }
}

/** All functions in one tool. */
function writeTools(tools: ChatRequest['tools']): readonly JsonObject[] | undefined {
  if (tools === undefined || tools === null) return undefined
  const functions = tools.filter((tool) => tool.type === 'function').map((tool) => writeTool(tool as Tool))
  return functions.length > 0 ? [{ functionDeclarations: functions }] : []
}

function writeTool(tool: Tool): JsonObject {
  const { name, description, parameters } = tool.function
  const schema = parameters && (isGeminiSchema(parameters) ? { parameters } : { parametersJsonSchema: parameters })
  return compact({ name, description, ...schema })
}

function writeToolConfig(choice: ChatRequest['tool_choice']): JsonObject | undefined {
  const config = writeToolChoice(choice)
  return config && { functionCallingConfig: config }
}

function writeToolChoice(choice: ChatRequest['tool_choice']): JsonObject | undefined {
  if (choice === undefined || choice === null) return undefined
  if (typeof choice === 'object')
    return choice.type === 'function' ? { mode: 'ANY', allowedFunctionNames: [choice.function?.name ?? ''] } : undefined
  return { mode: choice === 'auto' ? 'AUTO' : choice === 'none' ? 'NONE' : 'ANY' }
}

/** Whether a JSON Schema is also one that Gemini's older field for it takes, which knows a small part of the keywords only. */
function isGeminiSchema(schema: JsonObject): boolean {
  return Object.entries(schema).every(([name, value]) => {
    if (name === 'properties') return isObject(value) && Object.values(value).every(isSchema)
    if (name === 'items') return isSchema(value)
    if (name === 'anyOf') return Array.isArray(value) && value.every(isSchema)
    if (name === 'type') return typeof value === 'string' && value !== 'null'
    if (name === 'enum') return Array.isArray(value) && value.every((item) => typeof item === 'string')
    if (name === 'format') return typeof value === 'string' && formats.includes(value)
    return keywords.includes(name)
  })
}

const formats = ['float', 'double', 'int32', 'int64', 'enum', 'date-time']

const keywords = [
  'title',
  'description',
  'maxItems',
  'minItems',
  'required',
  'minProperties',
  'maxProperties',
  'minLength',
  'maxLength',
  'pattern',
  'propertyOrdering',
  'minimum',
  'maximum',
]

function isSchema(value: unknown): boolean {
  return isObject(value) && isGeminiSchema(value)
}

/**
 * `reasoning_effort` for a Gemini model, by the table on Google's page for its OpenAI-compatible service
 * (https://ai.google.dev/gemini-api/docs/openai#thinking): Gemini 3 takes a level, Gemini 2.5 a budget of tokens.
 * Undefined for models that do not think, and where no effort was asked for.
 */
function thinkingConfig(model: string, effort: string | undefined): JsonObject | undefined {
  if (!effort) return undefined
  const isPro = /-pro\b/.test(model)
  if (needsSignatures(model)) return { thinkingLevel: levelOf(effort, isPro) }
  if (!/gemini-2\.5/.test(model)) return undefined
  // Gemini 2.5 Pro cannot stop thinking: 128 is the least it takes.
  const none = isPro ? 128 : 0
  return compact({ thinkingBudget: effort === 'none' ? none : (budgets.get(effort) ?? 8192) })
}

/** Gemini 3 and later want the signatures of their thoughts back with every call. */
function needsSignatures(model: string): boolean {
  return /gemini-(?:[3-9]|\d\d)/.test(model)
}

const budgets: ReadonlyMap<string, number> = new Map([
  ['minimal', 1024],
  ['low', 1024],
  ['medium', 8192],
  ['high', 24_576],
])

/** The Pro models know `low` and `high` only. */
function levelOf(effort: string, isPro: boolean): string {
  if (effort === 'none' || effort === 'minimal') return isPro ? 'low' : 'minimal'
  if (effort === 'low') return 'low'
  return effort === 'medium' && !isPro ? 'medium' : 'high'
}
