import { AppError } from '../../../errors.ts'
import {
  compact,
  isObject,
  type JsonObject,
  objectOf,
  objectsOf,
  restOf,
  stringOf,
} from '../../protocol/json-object.ts'
import type { ChatRequest, ForeignPart, Message, ResponseFormat, Tool } from '../../protocol/messages.ts'
import { extraOf, splitAnswers, withExtra } from '../shared/alternation.ts'
import { checkedRequest, checkRequest, requestBody } from '../shared/request-check.ts'
import { blocksOf, readAssistant, readParts } from './content.ts'
import { lostSampling } from './sampling.ts'

/** Reads a request in Anthropic's dialect. Fields that only Anthropic understands are kept for an Anthropic provider. */
export function readRequest(body: unknown): ChatRequest {
  const { fields, turns } = requestBody(body, 'messages')
  refuseThread(fields['thread'])
  checkFields(fields, turns)
  const config = objectOf(fields['output_config'])
  const choice = objectOf(fields['tool_choice'])
  const single = choice['disable_parallel_tool_use']
  const request = compact({
    model: fields['model'] ?? '',
    messages: [...readSystem(fields['system']), ...turns.flatMap(readTurn)],
    max_tokens: fields['max_tokens'],
    temperature: fields['temperature'],
    top_p: fields['top_p'],
    top_k: fields['top_k'],
    stop: fields['stop_sequences'],
    stream: fields['stream'],
    tools: fields['tools'] === undefined ? undefined : objectsOf(fields['tools']).map(readTool),
    tool_choice: readToolChoice(choice),
    parallel_tool_calls: typeof single === 'boolean' ? !single : undefined,
    user: stringOf(objectOf(fields['metadata'])['user_id']),
    response_format: readFormat(objectOf(config['format'])) ?? readFormat(objectOf(fields['output_format'])),
    reasoning_effort: stringOf(config['effort']),
    extra_content: readExtra(fields, config, choice),
  })
  return checkedRequest(request)
}

/**
 * A thread keeps a conversation at Anthropic, and its later turns hold only the new messages. Anthropic's library sends
 * everything, and no thread any more, once it reads this code (`src/lib/internal/threads/ThreadState.ts` of its sources).
 */
function refuseThread(thread: unknown): void {
  if (thread === undefined || thread === null) return
  const provider = {
    type: 'invalid_request_error',
    details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
  }
  const details = ['Send the whole conversation with every request']
  throw new AppError('invalid', 'Threads are not kept here: thread must be left out', { details, provider })
}

function checkFields(fields: JsonObject, turns: readonly JsonObject[]): void {
  const { expect, done } = checkRequest()
  const { system, tools } = fields
  const isContent = (value: unknown) => typeof value === 'string' || (Array.isArray(value) && value.every(isObject))
  expect(system === undefined || isContent(system), 'system', 'must be text or a list of blocks')
  expect(tools === undefined || Array.isArray(tools), 'tools', 'must be a list')
  for (const [index, turn] of turns.entries()) {
    const role = turn['role']
    expect(
      role === 'user' || role === 'assistant' || role === 'system',
      `messages[${index}].role`,
      'must be user or assistant',
    )
    expect(isContent(turn['content']), `messages[${index}].content`, 'must be text or a list of blocks')
  }
  done()
}

function readSystem(system: unknown): readonly Message[] {
  if (typeof system === 'string') return [{ role: 'system', content: system }]
  return Array.isArray(system) ? [{ role: 'system', content: readParts(objectsOf(system)) }] : []
}

/** A turn as messages; its other fields and the places of system messages stay in `turn`, for Anthropic. */
function readTurn(turn: JsonObject): readonly Message[] {
  const [first, ...rest] = readContent(turn)
  const more = restOf(turn, turnFields)
  if (!first || (more === undefined && turn['role'] !== 'system')) return first ? [first, ...rest] : []
  const own = { ...extraOf(first, 'anthropic'), turn: more ?? {} }
  return [{ ...first, extra_content: { ...first.extra_content, anthropic: own } }, ...rest]
}

const turnFields = new Set(['role', 'content'])

function readContent({ role, content }: JsonObject): readonly Message[] {
  if (typeof content === 'string') return [{ role: role as 'user' | 'assistant', content }]
  if (role === 'assistant') return [readAssistant(blocksOf(content))]
  return splitAnswers(
    objectsOf(content),
    (block) => (block['type'] === 'tool_result' ? readResult(block) : undefined),
    (blocks) => ({ role: role as 'user' | 'system', content: readParts(blocks) }),
  )
}

const resultFields = new Set(['type', 'tool_use_id', 'content'])

function readResult(block: JsonObject): Message {
  const { content } = block
  return {
    role: 'tool',
    tool_call_id: stringOf(block['tool_use_id']) ?? '',
    content: typeof content === 'string' ? content : Array.isArray(content) ? readParts(objectsOf(content)) : null,
    ...withExtra('anthropic', restOf(block, resultFields)),
  }
}

const toolFields = new Set(['name', 'description', 'input_schema', 'strict'])

/** A tool that Anthropic runs itself has a type of its own, such as `web_search_20250305`. */
function readTool(tool: JsonObject): Tool | ForeignPart {
  if (!isObject(tool['input_schema'])) return { type: 'foreign', dialect: 'anthropic', value: tool }
  const { name, description, input_schema: parameters, strict } = tool
  const described = compact({ name, description, parameters, strict })
  return {
    type: 'function',
    function: described as unknown as Tool['function'],
    ...withExtra('anthropic', restOf(tool, toolFields)),
  }
}

function readToolChoice(choice: JsonObject): ChatRequest['tool_choice'] {
  if (choice['type'] === 'any') return 'required'
  if (choice['type'] === 'auto' || choice['type'] === 'none') return choice['type']
  if (choice['type'] === 'tool') return { type: 'function', function: { name: stringOf(choice['name']) ?? '' } }
  return undefined
}

function readFormat(format: JsonObject): ResponseFormat | undefined {
  if (format['type'] !== 'json_schema' || !isObject(format['schema'])) return undefined
  return { type: 'json_schema', json_schema: { name: 'answer', schema: format['schema'] } }
}

/** Sampling that the model may refuse: from an Anthropic client it is passed through, and the provider answers for it. */
function ownSampling(fields: JsonObject): JsonObject {
  const { model, temperature, top_p, top_k } = fields
  const lost = lostSampling({ model: stringOf(model) ?? '', messages: [], temperature, top_p, top_k } as ChatRequest)
  return Object.fromEntries(lost.map((name) => [name, fields[name]]))
}

const requestFields = new Set([
  'model',
  'messages',
  'system',
  'max_tokens',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'stream',
  'tools',
  'tool_choice',
  'metadata',
  'output_config',
  // Only null comes so far.
  'thread',
])

/** Fields without a place in our shape: fields of the request, of its metadata and of its output_config. */
function readExtra(fields: JsonObject, config: JsonObject, choice: JsonObject): ChatRequest['extra_content'] {
  const metadata = fields['metadata']
  const format = isObject(config['format']) ? restOf(config['format'], new Set(['type', 'schema'])) : undefined
  const ownConfig = compact({ ...restOf(config, new Set(['format'])), format })
  const unknownChoice = choice['type'] !== undefined && readToolChoice(choice) === undefined
  const extra = compact({
    ...restOf(fields, requestFields),
    ...ownSampling(fields),
    metadata: metadata === undefined ? undefined : (restOf(objectOf(metadata), new Set(['user_id'])) ?? {}),
    output_config: Object.keys(ownConfig).length > 0 ? ownConfig : undefined,
    tool_choice: unknownChoice ? choice : undefined,
  })
  return Object.keys(extra).length > 0 ? { anthropic: extra } : undefined
}
