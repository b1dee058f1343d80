import { AppError } from '../../../errors.ts'
import { compact, type JsonObject, objectsOf, stringOf } from '../../protocol/json-object.ts'
import {
  type ChatRequest,
  type Message,
  type ReasoningDetail,
  reasoningFormat,
  type ToolCall,
} from '../../protocol/messages.ts'
import { extraOf } from '../shared/alternation.ts'
import { itemId } from './echo.ts'
import { inputOf } from './items.ts'
import { type OwnReasoning, reasoningOf, type SealReasoning } from './reasoning.ts'
import { type ToolName, toolNames } from './tools.ts'

/** Items of one answer. */
export const mostItems = 1_000

/** Characters of one answer: the end of a stream has them four times. The longest answers of models have some 500,000. */
export const mostText = 4 * 1024 * 1024

/** The failure of an answer beyond a bound; `extent` is the bound in words. */
export function tooLongAnswer(extent: string): AppError {
  return new AppError('protocol', `The provider sent more than ${extent} in one answer`)
}

/** How a response is written for its client. */
export interface ResponseOptions {
  /** The id of the response; by default made from the answer's. */
  readonly id?: string
  /** Seals reasoning for its way through the client; without it, only reasoning of this dialect goes out, as it came. */
  readonly seal?: SealReasoning
}

/** How the items of one answer are written. */
export interface OutputParts {
  /** The id of the response, which its items' ids are made of. */
  readonly response: string
  readonly names: ReadonlyMap<string, ToolName>
  readonly seal: SealReasoning | undefined
}

/** The parts for the answer to a request. */
export function outputParts(response: string, request: ChatRequest | undefined, seal?: SealReasoning): OutputParts {
  return { response, names: toolNames(request), seal }
}

/** An answer's message as output items, all of them `status`. Reasoning has its `encrypted_content`: see `shownOutput`. */
export function writeOutput(
  message: Message,
  status: string,
  parts: OutputParts,
  logprobs: readonly unknown[] = [],
): readonly JsonObject[] {
  const { items } = extraOf(message, 'responses')
  if (Array.isArray(items)) return objectsOf(items).map((item, index) => writeOwn(item, index, parts))
  const output: JsonObject[] = []
  const reasoning = reasoningOf(message)
  if (reasoning) output.push(reasoningItem(reasoning, 0, parts))
  const content = contentOf(message, logprobs)
  if (content.length > 0) output.push(messageItem(content, output.length, status, parts))
  for (const call of message.tool_calls ?? []) output.push(callItem(call, output.length, status, parts))
  return output
}

/** The output as the client asked for it: sealed reasoning where it is wanted, since it is long. */
export function shownOutput(output: readonly JsonObject[], request: ChatRequest | undefined): readonly JsonObject[] {
  if (wantsReasoning(request)) return output
  return output.map((item) => (item['type'] === 'reasoning' ? withoutSealed(item) : item))
}

/** Whether a client wants reasoning in the answer to send it back: it asks for it, or nothing is stored for it. */
export function wantsReasoning(request: ChatRequest | undefined): boolean {
  const { include, store } = request ? extraOf(request, 'responses') : {}
  return store === false || (Array.isArray(include) && include.includes('reasoning.encrypted_content'))
}

/** An item without its encrypted reasoning. */
export function withoutSealed(item: JsonObject): JsonObject {
  const { encrypted_content: _sealed, ...rest } = item
  return rest
}

/** An item of a provider of this dialect: word for word, but with its reasoning sealed. */
function writeOwn(item: JsonObject, index: number, parts: OutputParts): JsonObject {
  const id = stringOf(item['id'])
  if (item['type'] === 'reasoning') {
    const data = stringOf(item['encrypted_content'])
    const details = data === undefined ? [] : [encryptedDetail(data, id)]
    const sealed = sealedContent({ details }, parts)
    return {
      ...withoutSealed(item),
      id: id ?? itemId('rs', parts.response, index),
      ...(sealed && { encrypted_content: sealed }),
    }
  }
  if (id !== undefined) return item
  return { ...item, id: itemId(prefixes[String(item['type'])] ?? 'item', parts.response, index) }
}

const prefixes: Readonly<Record<string, string>> = { message: 'msg', function_call: 'fc', custom_tool_call: 'ctc' }

/** The encrypted reasoning of this dialect as OpenRouter spells it. */
export function encryptedDetail(data: string, id: string | undefined, index?: number): ReasoningDetail {
  return compact({ type: 'reasoning.encrypted', data, id, format: reasoningFormat, index }) as ReasoningDetail
}

/** The content of `encrypted_content` for a piece of reasoning; undefined where there is nothing to send back. */
function sealedContent(reasoning: OwnReasoning, { seal }: OutputParts): string | undefined {
  const isEmpty = !reasoning.text && !reasoning.details?.length && !reasoning.google && !reasoning.calls
  if (isEmpty) return undefined
  if (seal) return seal(reasoning)
  return reasoning.details?.find(({ format, data }) => format === reasoningFormat && data)?.data
}

/** Reasoning as an item: its words as a summary, which every client shows. */
export function reasoningItem(reasoning: OwnReasoning, index: number, parts: OutputParts): JsonObject {
  const sealed = sealedContent(reasoning, parts)
  return {
    id: itemId('rs', parts.response, index),
    type: 'reasoning',
    summary: reasoning.text ? [{ type: 'summary_text', text: reasoning.text }] : [],
    ...(sealed !== undefined && { encrypted_content: sealed }),
  }
}

/** A message of an answer as an output item; `index` is its place in the output. */
export function messageItem(
  content: readonly JsonObject[],
  index: number,
  status: string,
  parts: OutputParts,
): JsonObject {
  return { id: itemId('msg', parts.response, index), type: 'message', status, content, role: 'assistant' }
}

/** A text as a part of an output message. */
export function textPart(text: string, logprobs: readonly unknown[] = []): JsonObject {
  return { type: 'output_text', annotations: [], logprobs, text }
}

function contentOf({ content, refusal }: Message, logprobs: readonly unknown[]): readonly JsonObject[] {
  const text = typeof content === 'string' ? content : ''
  return [...(text ? [textPart(text, logprobs)] : []), ...(refusal ? [{ type: 'refusal', refusal }] : [])]
}

/** A call as the client declared its tool: a function's, one of a namespace, or a custom tool's. */
export function callItem(call: ToolCall, index: number, status: string, parts: OutputParts): JsonObject {
  const { name: flat, arguments: text } = call.function
  const own = extraOf(call, 'responses')
  const known = parts.names.get(flat)
  const input = known?.isCustom || own['custom'] === true ? (inputOf(text) ?? text) : undefined
  const name = known?.name ?? stringOf(own['name']) ?? flat
  const namespace = known?.namespace ?? stringOf(own['namespace'])
  const id = itemId(input === undefined ? 'fc' : 'ctc', parts.response, index)
  const place = { call_id: call.id || `call_${id}`, name, ...(namespace !== undefined && { namespace }) }
  if (input !== undefined) return { id, type: 'custom_tool_call', status, ...place, input }
  return { id, type: 'function_call', status, ...place, arguments: text.trim() === '' ? '{}' : text }
}
