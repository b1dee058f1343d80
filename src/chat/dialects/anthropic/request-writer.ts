import type { Quirks, WireRequest } from '../../protocol/dialect.ts'
import { compact, type JsonObject, objectOf, objectsOf, present, stringOf } from '../../protocol/json-object.ts'
import type { ChatRequest, ForeignPart, Message, Tool } from '../../protocol/messages.ts'
import { endsPrefix } from '../../protocol/prefix.ts'
import { extraOf, groupTurns, isModel, splitSystem } from '../shared/alternation.ts'
import { isSupportedMedia } from '../shared/media-support.ts'
import { withTools } from '../shared/plain-tools.ts'
import { notExpressible } from '../shared/request-check.ts'
import { tokenLimitOf, wireRequest } from '../shared/request-writer.ts'
import { renameToolIds } from '../shared/tool-ids.ts'
import { writeAssistant, writeParts } from './content.ts'
import { ownStops, samplingOf } from './sampling.ts'
import { thinkingFields } from './thinking.ts'

/** The version of the API that this dialect is: https://docs.anthropic.com/en/api/versioning */
const anthropicVersion = '2023-06-01'

/**
 * Anthropic wants a limit with every request. Where none was asked, it is the smallest of the output limits that
 * Anthropic's list of models names (claude-opus-4-1, August 2026), so that every model there accepts it.
 */
const defaultMaxTokens = 32_000

/** Anthropic's own rule for ids of calls; ids of other providers are renamed to fit. */
const toolIdPattern = '^[a-zA-Z0-9_-]{1,128}$'

/** Our request as Anthropic's (https://docs.anthropic.com/en/api/messages). */
export function writeRequest(asked: ChatRequest, endpoint: string, quirks: Quirks = {}): WireRequest {
  const request = withTools(asked)
  if ((request.n ?? 1) > 1) throw notExpressible('Anthropic gives one answer to a request: ask with n: 1')
  const messages = renameToolIds(request.messages, quirks.tool_id_pattern ?? toolIdPattern)
  const { system, turns } = splitSystem(messages, quirks, isOwnTurn)
  const isMarked = messages.some(endsPrefix)
  const { betas, ...extra } = extraOf(request, 'anthropic')
  const body = compact({
    ...extra,
    model: request.model || undefined,
    max_tokens: tokenLimitOf(request) ?? defaultMaxTokens,
    system: writeSystem(system, request),
    messages: withToolMark(present(groupTurns(turns, isOwnTurn).map((group) => writeTurn(group, isMarked))), isMarked),
    ...compact(samplingOf(request)),
    stop_sequences: ownStops(request),
    stream: request.stream ?? undefined,
    tools: request.tools && present(request.tools.map(writeTool)),
    tool_choice: writeToolChoice(request),
    metadata: writeMetadata(request, extra),
    output_config: writeOutputConfig(request, extra),
  })
  const headers = { 'anthropic-version': anthropicVersion, ...betaHeader(betas) }
  return wireRequest(request, endpoint, compact({ ...body, ...thinkingFields(request, body) }), headers)
}

/** The betas that an Anthropic client asked for, which its fields need; names unsafe in a header are left out. */
function betaHeader(betas: unknown): { readonly 'anthropic-beta'?: string } {
  const names = (Array.isArray(betas) ? betas : []).filter((name) => /^[\w.:-]{1,100}$/.test(stringOf(name) ?? ''))
  return names.length > 0 ? { 'anthropic-beta': names.join(',') } : {}
}

/** Anthropic has no mode for JSON without a schema: the system prompt asks for it. */
const jsonInstruction = 'Answer with one JSON object and nothing else.'

function writeSystem(system: readonly Message[], request: ChatRequest): string | JsonObject[] | undefined {
  const instruction = request.response_format?.type === 'json_object' ? [{ type: 'text', text: jsonInstruction }] : []
  const [only] = system
  const isPlainText = typeof only?.content === 'string' && !endsPrefix(only)
  if (system.length === 1 && isPlainText && instruction.length === 0) return only.content
  const blocks = [...system.flatMap((message) => marked(message, writeParts(message.content))), ...instruction]
  return blocks.length > 0 ? blocks : undefined
}

/** @param isMarked texts become blocks, so that a message has the same form whether it has a mark or not */
function writeTurn(group: readonly Message[], isMarked: boolean): JsonObject | undefined {
  const [first] = group
  const more = objectOf(extraOf(first!, 'anthropic')['turn'])
  const role = isOwnTurn(first!) && first!.role === 'system' ? 'system' : isModel(first!) ? 'assistant' : 'user'
  if (group.length === 1 && isPlain(first!) && !isMarked)
    return first!.content === '' ? undefined : { role, ...more, content: first!.content }
  const blocks = group.flatMap((message) => {
    if (isModel(message)) return marked(message, writeAssistant(message))
    const written =
      message.role === 'tool' ? [writeResult(message)] : writeParts(message.content, isSupportedMedia(message))
    return marked(message, written)
  })
  return blocks.length > 0 ? { role, ...more, content: blocks } : undefined
}

/**
 * The blocks of a message, the last one marked where the message ends the part of the request that is cached: Anthropic
 * caches all before a mark, keeps it for 5 minutes and takes four marks (aichat sets three at most). It looks for what it
 * has at a mark and in the 20 blocks before it; thinking cannot be marked.
 * https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching
 */
function marked(message: Message, blocks: readonly JsonObject[]): readonly JsonObject[] {
  return endsPrefix(message) ? withMark(blocks) : blocks
}

function withMark(blocks: readonly JsonObject[]): readonly JsonObject[] {
  const at = blocks.findLastIndex(({ type }) => type !== 'thinking' && type !== 'redacted_thinking')
  return blocks.map((block, place) => (place === at ? { ...block, cache_control: { type: 'ephemeral' } } : block))
}

/** Marks the results of tools at the end of a marked request, since the rounds of a turn follow each other at once. */
function withToolMark(turns: readonly JsonObject[], isMarked: boolean): readonly JsonObject[] {
  const last = turns.at(-1)
  const blocks = objectsOf(last?.['content'])
  if (!isMarked || !last || blocks.at(-1)?.['type'] !== 'tool_result') return turns
  return [...turns.slice(0, -1), { ...last, content: withMark(blocks) }]
}

/** A message with a place and fields of its own among Anthropic's turns: see readTurn. */
function isOwnTurn(message: Message): boolean {
  return extraOf(message, 'anthropic')['turn'] !== undefined
}

/** A message that is nothing but text can go as text. */
function isPlain(message: Message): boolean {
  if (typeof message.content !== 'string' || message.role === 'tool') return false
  const { content: blocks } = extraOf(message, 'anthropic')
  return !message.tool_calls?.length && !message.reasoning_details && blocks === undefined
}

function writeResult(message: Message): JsonObject {
  const { content } = message
  const { turn: _turn, ...extra } = extraOf(message, 'anthropic')
  return {
    ...extra,
    type: 'tool_result',
    tool_use_id: message.tool_call_id ?? '',
    ...(content !== null && { content: typeof content === 'string' ? content : writeParts(content, true) }),
  }
}

function writeTool(tool: Tool | ForeignPart): JsonObject | undefined {
  if (tool.type === 'foreign') return tool.dialect === 'anthropic' ? tool.value : undefined
  if (tool.type !== 'function') return undefined
  const { name, description, parameters, strict } = tool.function
  return compact({
    ...extraOf(tool, 'anthropic'),
    name,
    description,
    input_schema: parameters ?? { type: 'object', properties: {} },
    strict: strict === true ? true : undefined,
  })
}

function writeToolChoice(request: ChatRequest): JsonObject | undefined {
  const { tool_choice: choice, parallel_tool_calls: parallel, tools } = request
  if (!tools?.length) return undefined
  const single = parallel === undefined ? undefined : !parallel
  const own = extraOf(request, 'anthropic')['tool_choice']
  const base = { ...objectOf(own), ...namedChoice(choice) }
  if (base['type'] === undefined) return single ? { type: 'auto', disable_parallel_tool_use: true } : undefined
  return compact({ ...base, disable_parallel_tool_use: base['type'] === 'none' ? undefined : single })
}

function namedChoice(choice: ChatRequest['tool_choice']): JsonObject {
  if (choice === undefined || choice === null) return {}
  if (typeof choice === 'object') return choice.type === 'function' ? { type: 'tool', name: choice.function?.name } : {}
  // Mistral's clients say `any` for OpenAI's `required`.
  return { type: choice === 'auto' || choice === 'none' ? choice : 'any' }
}

function writeMetadata(request: ChatRequest, extra: JsonObject): JsonObject | undefined {
  const user = request['user']
  const metadata = { ...objectOf(extra['metadata']), ...(typeof user === 'string' && { user_id: user }) }
  return extra['metadata'] !== undefined || typeof user === 'string' ? metadata : undefined
}

function writeOutputConfig(request: ChatRequest, extra: JsonObject): JsonObject | undefined {
  const format = request.response_format
  const own = objectOf(extra['output_config'])
  // An older field of Anthropic's means the same, and both together are refused.
  if (format?.type !== 'json_schema' || extra['output_format'] !== undefined)
    return extra['output_config'] === undefined ? undefined : own
  return {
    ...own,
    format: {
      ...objectOf(own['format']),
      type: 'json_schema',
      schema: format.json_schema.schema ?? { type: 'object' },
    },
  }
}
