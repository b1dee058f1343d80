import { DialectError, type StreamReader } from '../../protocol/dialect.ts'
import {
  argumentsText,
  isObject,
  type JsonObject,
  objectOf,
  objectsOf,
  parseEvent,
  present,
  secondsOf,
  stringOf,
  wholeOf,
} from '../../protocol/json-object.ts'
import type { ChatChunk, ToolCallDelta } from '../../protocol/messages.ts'
import { keepSource } from '../../protocol/source.ts'
import { createEventReader, type ServerEvent } from '../../protocol/sse.ts'
import { assembleReader, createResponseReader, withJsonBody } from '../shared/stream-reader.ts'
import { generatedId } from '../shared/tool-ids.ts'
import { errorEvent, throwIfError, truncatedStream } from '../shared/wire-error.ts'
import { splitContent, withFittingFields } from './content.ts'
import { readFinish, readResponse, readUsage } from './response.ts'

/** Calls of tools in one answer: each further one is looked for among those before it, and no real answer has as many. */
const mostCalls = 1_000

interface ChoiceState {
  finished: boolean
  /** Ours by the provider's index and id of a call; Gemini's compatible service gives every parallel call the index 0. */
  readonly calls: { wireIndex: number; id: string | undefined; named: boolean }[]
}

/** Reads a stream in OpenAI's grammar (https://platform.openai.com/docs/api-reference/chat-streaming). */
export function createStreamReader(): StreamReader {
  return withJsonBody(readEvents(), () => createResponseReader(readResponse))
}

function readEvents(): StreamReader {
  const choices = new Map<number, ChoiceState>()
  let usageChunk: ChatChunk | undefined
  let complete = false
  let frame: Frame | undefined
  let framesLeft = mostFrames

  function finished(): boolean {
    for (const choice of choices.values()) if (!choice.finished) return false
    return choices.size > 0
  }

  function finish(): readonly ChatChunk[] {
    if (!finished()) throw truncatedStream()
    for (const { calls } of choices.values()) if (calls.some(({ named }) => !named)) throw nameless()
    complete = true
    return usageChunk ? [usageChunk] : []
  }

  function take(events: readonly ServerEvent[]): readonly ChatChunk[] {
    const chunks: ChatChunk[] = []
    for (const { event, data } of events) {
      if (complete || data === '') continue
      if (data === '[DONE]' || data.trim() === '[DONE]') chunks.push(...finish())
      else readChunk(data, event, chunks)
    }
    return chunks
  }

  function readChunk(data: string, event: string, chunks: ChatChunk[]): void {
    if (event === 'error') throw errorEvent(data)
    const state = choices.get(0)
    const next = frame && state?.finished === false ? framed(frame, data) : undefined
    if (next) return void chunks.push(keepSource(next, data))
    const fields = parseEvent(data)
    if (isPlainText(fields, state)) {
      if (framesLeft > 0) {
        framesLeft--
        frame = frameOf(fields, data)
      }
      chunks.push(keepSource(fields as unknown as ChatChunk, data))
    } else readAnyChunk(fields, data, chunks)
  }

  function readAnyChunk(fields: JsonObject, data: string, chunks: ChatChunk[]): void {
    throwIfError(fields)
    const usage = readUsage(fields)
    const wireChoices = objectsOf(fields['choices'])
    const changes: Changes = { made: !isOutlined(fields) }
    const read = present(wireChoices.map((choice) => readChoice(choice, stateOf(choice), fields, changes)))
    changes.made ||= read.length !== (fields['choices'] as readonly unknown[]).length
    if (usage) {
      const own = wireChoices.length === 0
      usageChunk = { ...(own && fields), ...outlineOf(fields), choices: [], usage }
      if (own && !changes.made) keepSource(usageChunk, data)
      if (read.length === 0) return
      changes.made ||= isObject(fields['usage'])
    }
    if (wireChoices.length > 0 && read.length === 0) return
    chunks.push(chunkOf(fields, read, changes, data))
  }

  function stateOf(choice: JsonObject): ChoiceState {
    const index = wholeOf(choice['index']) ?? 0
    const known = choices.get(index)
    if (known) return known
    const state: ChoiceState = { finished: false, calls: [] }
    choices.set(index, state)
    fresh.add(state)
    return state
  }

  /** Choices that have had no delta yet: their first one must name the role. */
  const fresh = new Set<ChoiceState>()

  function readChoice(
    choice: JsonObject,
    state: ChoiceState,
    fields: JsonObject,
    changes: Changes,
  ): JsonObject | undefined {
    throwIfError({ error: choice['error'] })
    const delta = isObject(choice['delta']) ? choice['delta'] : {}
    const again = state.finished
    if (again && isEmptyDelta(delta)) return undefined
    const read = readDelta(delta, fresh.delete(state), state, stringOf(fields['id']) ?? '')
    const reason =
      again || choice['finish_reason'] == null || choice['finish_reason'] === ''
        ? null
        : readFinish(choice['finish_reason'])
    if (reason !== null) state.finished = true
    if (read === choice['delta'] && reason === choice['finish_reason'] && typeof choice['index'] === 'number')
      return choice
    changes.made = true
    return { ...choice, index: wholeOf(choice['index']) ?? 0, delta: read, finish_reason: reason }
  }

  return assembleReader({ cut: createEventReader(), take, isComplete: () => complete, finish })
}

/**
 * Fast path for most chunks: one more piece of text for a choice that has begun. Every field that might need mending is
 * checked here; unknown ones need none.
 */
function isPlainText(fields: JsonObject, state: ChoiceState | undefined): boolean {
  if (!state || state.finished || !isOutlined(fields)) return false
  if (fields['error'] !== undefined || fields['usage'] != null || 'x_groq' in fields) return false
  const [choice, ...others] = fields['choices'] as readonly unknown[]
  if (others.length > 0 || !isObject(choice) || choice['index'] !== 0) return false
  const { delta, finish_reason: reason, error } = choice
  if (reason !== null || error !== undefined || !isObject(delta)) return false
  for (const name in delta) if (name !== 'content') return false
  return typeof delta['content'] === 'string'
}

/** The text of a chunk around its piece of content, and the chunk. */
interface Frame {
  readonly before: string
  readonly after: string
  readonly chunk: ChatChunk
  readonly choice: ChatChunk['choices'][number]
}

/** Frames that are made for one stream: some providers pad each chunk with other text, and none of theirs comes again. */
const mostFrames = 3

const contentBegins = '"content":"'

/**
 * The frame of a chunk of plain text; undefined where its content cannot be told in the text. The same text with another
 * content is parsed once: only where that content arrives in the delta is the place the right one, and not an unknown field's.
 */
function frameOf(fields: JsonObject, data: string): Frame | undefined {
  const chunk = fields as unknown as ChatChunk
  const choice = chunk.choices[0]!
  const content = choice.delta.content!
  const start = data.indexOf(contentBegins) + contentBegins.length
  const end = start + content.length
  if (start < contentBegins.length || data.slice(start, end) !== content || !isLiteral(content)) return undefined
  const [before, after] = [data.slice(0, start), data.slice(end)]
  const probe = `${content}+`
  const read = parseEvent(`${before}${probe}${after}`) as unknown as ChatChunk
  return read.choices[0]?.delta.content === probe ? { before, after, chunk, choice } : undefined
}

/** The chunk whose text is that of the frame around a string; undefined for every other text, which must be parsed. */
function framed({ before, after, chunk, choice }: Frame, data: string): ChatChunk | undefined {
  const end = data.length - after.length
  // `startsWith` reads character by character, and takes as long as to parse the text.
  if (end < before.length || data.slice(0, before.length) !== before || data.slice(end) !== after) return undefined
  const content = stringIn(data.slice(before.length, end))
  return content === undefined ? undefined : { ...chunk, choices: [{ ...choice, delta: { content } }] }
}

/** The string that these characters are between two quotation marks of JSON; undefined where they are not one. */
function stringIn(text: string): string | undefined {
  if (isLiteral(text)) return text
  try {
    const value: unknown = JSON.parse(`"${text}"`)
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}

/** Whether a string of JSON means what it says: no escape, end or forbidden character is in it (RFC 8259, section 7). */
function isLiteral(text: string): boolean {
  return !/["\\\u0000-\u001f]/.test(text)
}

interface Changes {
  made: boolean
}

function chunkOf(fields: JsonObject, choices: readonly JsonObject[], changes: Changes, data: string): ChatChunk {
  if (!changes.made) return keepSource(fields as unknown as ChatChunk, data)
  const { usage: _usage, ...rest } = fields
  return { ...rest, ...outlineOf(fields), choices: choices as unknown as ChatChunk['choices'] }
}

/** Whether a chunk has the fields that every chunk must have, in their types. */
function isOutlined({ id, object, created, model, choices }: JsonObject): boolean {
  const isNamed = typeof id === 'string' && typeof model === 'string' && typeof created === 'number'
  return isNamed && typeof object === 'string' && object !== '' && Array.isArray(choices)
}

function outlineOf(fields: JsonObject): Pick<ChatChunk, 'id' | 'object' | 'created' | 'model'> {
  return {
    id: stringOf(fields['id']) ?? '',
    object: 'chat.completion.chunk',
    created: secondsOf(fields['created']),
    model: stringOf(fields['model']) ?? '',
  }
}

function isEmptyDelta(delta: JsonObject): boolean {
  return Object.entries(delta).every(([name, value]) => name === 'role' || value === null || value === '')
}

/** The delta itself where it is as it should be, else a mended copy. A `function_call` is the one call that once could be. */
function readDelta(told: JsonObject, first: boolean, state: ChoiceState, chunkId: string): JsonObject {
  const delta = withFittingFields(told)
  const patch: Record<string, unknown> = {}
  if (first && delta['role'] !== 'assistant') patch['role'] = 'assistant'
  if (Array.isArray(delta['content'])) {
    const { text, thinking } = splitContent(delta['content'])
    patch['content'] = text
    if (thinking) patch['reasoning_content'] = thinking
  }
  if (typeof delta['reasoning'] === 'string' && typeof delta['reasoning_content'] !== 'string')
    patch['reasoning_content'] = delta['reasoning']
  const legacy = Array.isArray(delta['tool_calls']) ? undefined : delta['function_call']
  const calls = isObject(legacy)
    ? [readCall({ index: 0, function: legacy }, 0, state, chunkId)]
    : readCalls(delta['tool_calls'], state, chunkId)
  if (calls) patch['tool_calls'] = calls
  for (const _ in patch) return { ...delta, ...patch }
  return delta
}

/** The pieces of tool calls with an index that tells them apart, or undefined where they are right already. */
function readCalls(calls: unknown, state: ChoiceState, chunkId: string): readonly ToolCallDelta[] | undefined {
  if (!Array.isArray(calls)) return undefined
  const pieces = objectsOf(calls)
  const read = pieces.map((piece, position) => readCall(piece, position, state, chunkId))
  return read.every((piece, at) => piece === calls[at]) && read.length === calls.length
    ? undefined
    : (read as unknown as ToolCallDelta[])
}

function readCall(piece: JsonObject, position: number, state: ChoiceState, chunkId: string): JsonObject {
  const id = stringOf(piece['id']) || undefined
  const wire = readFunction(piece['function'])
  const named = Boolean(wire?.['name']) || piece['custom'] !== undefined
  // A piece without a name goes on with the call before it, also where a server gives every piece an id of its own.
  const before = lastOf(state, id) ?? (named ? undefined : state.calls.at(-1))
  const wireIndex = wholeOf(piece['index']) ?? before?.wireIndex ?? position
  const found = state.calls.findLastIndex(
    (call) => call.wireIndex === wireIndex && (id === undefined || call.id === id || !named),
  )
  const index = found === -1 ? state.calls.length : found
  if (index >= mostCalls) throw tooManyCalls()
  if (found === -1) state.calls.push({ wireIndex, id: id ?? generatedId(chunkId, index), named })
  const call = state.calls[index]!
  call.named ||= named
  const isFirst = found === -1
  const isWhole = isFirst ? id !== undefined && typeof piece['type'] === 'string' : id === undefined || id === call.id
  if (piece['index'] === index && wire === piece['function'] && isWhole) return piece
  const { id: _id, ...rest } = piece
  return {
    ...(isFirst || id === call.id ? piece : rest),
    index,
    ...(isFirst && { id: call.id, type: piece['type'] ?? 'function' }),
    ...('function' in piece && { function: wire ?? {} }),
  }
}

function tooManyCalls(): DialectError {
  return new DialectError('broken', {
    message: `The provider sent more than ${mostCalls} calls of tools in one answer`,
  })
}

function nameless(): DialectError {
  return new DialectError('broken', { message: 'The provider sent a call of a tool without a name' })
}

/** A name and arguments in text; some servers send the arguments as an object. */
function readFunction(told: unknown): JsonObject | undefined {
  if (told === undefined) return undefined
  const { name, arguments: given } = objectOf(told)
  const isNamed = name === undefined || typeof name === 'string'
  if (isObject(told) && isNamed && (given === undefined || typeof given === 'string')) return told
  return { ...(typeof name === 'string' && { name }), arguments: given == null ? '' : argumentsText(given) }
}

function lastOf(state: ChoiceState, id: string | undefined): ChoiceState['calls'][number] | undefined {
  return id === undefined ? state.calls.at(-1) : state.calls.findLast((call) => call.id === id)
}
