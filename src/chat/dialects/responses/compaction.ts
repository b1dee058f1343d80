import { isObject, type JsonObject, objectsOf, stringOf } from '../../protocol/json-object.ts'
import type { ChatRequest, Message, Tool } from '../../protocol/messages.ts'
import { summaryWish } from '../../protocol/summary-wish.ts'
import { messageTokens } from '../../protocol/token-estimate.ts'
import { extraOf } from '../shared/alternation.ts'
import { readInput } from './input.ts'
import type { OpenReasoning } from './reasoning.ts'

/** Tokens of the user's own messages that are kept in addition to a summary, the newest first: as many as Codex keeps. */
const keptTokens = 20_000

const introduction = 'The conversation up to here, summarised by a model:\n\n'

/** The types of compaction items: OpenAI's, and its earlier name, which Codex sends too. */
const compactions: readonly unknown[] = ['compaction', 'compaction_summary']

/** The place to which summaries are sealed: any model of their user continues with them. */
export const compactionPlace = { plugin: null, runner: null, model: 'compaction' } as const

/** Whether a request is to be compacted by its provider, where that can. */
function isCompaction(request: ChatRequest): boolean {
  return request.extra_content?.['responses']?.['compact'] === true
}

/** The request for a summary of its conversation. A provider with compaction of its own is asked for that. */
export function compactionRequest(request: ChatRequest): ChatRequest {
  const tools = request.tools ?? calledTools(request.messages)
  const own = { ...request.extra_content?.['responses'], compact: true }
  return {
    ...request,
    stream: false,
    messages: [...request.messages, summaryWish],
    ...(tools.length > 0 && { tools, tool_choice: 'none' as const }),
    extra_content: { ...request.extra_content, responses: own },
  }
}

/** The tools that a conversation calls, without their parameters: some providers refuse calls of unknown tools. */
function calledTools(messages: readonly Message[]): readonly Tool[] {
  const names = new Set(messages.flatMap(({ tool_calls: calls = [] }) => calls.map((call) => call.function.name)))
  return [...names].map((name) => ({ type: 'function', function: { name, parameters: { type: 'object' } } }))
}

/** The same request for a model's summary, where its provider turned out to have no compaction; undefined for any other. */
export function summaryRequest(request: ChatRequest, status: number): ChatRequest | undefined {
  if (!isCompaction(request) || ![404, 405, 501].includes(status)) return undefined
  const { compact: _, ...own } = request.extra_content!['responses']!
  return { ...request, extra_content: { ...request.extra_content, responses: own } }
}

/** The fields of a request that compaction takes: https://platform.openai.com/docs/api-reference/responses/compact */
const compactFields = ['model', 'input', 'instructions', 'reasoning', 'text', 'service_tier'].concat(
  ['tools', 'parallel_tool_calls', 'prompt_cache_key', 'prompt_cache_retention'], // As Codex sends them.
)

/** A compaction's address and body at its provider, from those of the request for a summary; undefined for any other request. */
export function compactionWire(
  request: ChatRequest,
  endpoint: string,
  body: JsonObject,
): { readonly endpoint: string; readonly body: JsonObject } | undefined {
  if (!isCompaction(request)) return undefined
  const own = extraOf(request, 'responses')
  const given = (name: string) => name === 'model' || name === 'input' || own[name] !== undefined
  const fields = compactFields.filter((name) => body[name] !== undefined && given(name))
  return {
    endpoint: endpoint.replace(/\/responses\/?(?=[?#]|$)/, '/responses/compact'),
    // The last item asks for the summary.
    body: Object.fromEntries(
      fields.map((name) => [name, name === 'input' ? objectsOf(body[name]).slice(0, -1) : body[name]]),
    ),
  }
}

/** The output of a compaction that its provider made, and otherwise undefined. */
export function ownCompaction(message: Message): readonly JsonObject[] | undefined {
  const items = objectsOf(extraOf(message, 'responses')['items'])
  return items.some(({ type }) => compactions.includes(type)) ? items : undefined
}

/** The user's newest messages among the items of a conversation, in their order. */
export function keptMessages(items: readonly unknown[]): readonly JsonObject[] {
  const own = items.filter(isObject).filter(({ type = 'message', role }) => type === 'message' && role === 'user')
  let left = keptTokens
  const tooLong = own.findLastIndex((item) => {
    left -= readInput([item]).reduce((sum, message) => sum + messageTokens(message), 0)
    return left < 0
  })
  return own.slice(tooLong + 1)
}

/** Whether items hold a compaction. */
export function hasCompaction(items: unknown): boolean {
  return Array.isArray(items) && items.some((item) => isObject(item) && compactions.includes(item['type']))
}

/** The items with summaries that were made here as messages; a compaction of a provider's own stays as it is. */
export function withSummaries(items: readonly unknown[], open: OpenReasoning): readonly unknown[] {
  return items.map((item) => {
    if (!isObject(item) || !compactions.includes(item['type'])) return item
    const summary = open(stringOf(item['encrypted_content']) ?? '')?.text
    return summary === undefined ? item : { type: 'message', role: 'user', content: `${introduction}${summary}` }
  })
}
