import { DialectError, type StreamReader } from '../../protocol/dialect.ts'
import {
  argumentsText,
  isObject,
  type JsonObject,
  objectOf,
  objectsOf,
  parseEvent,
  parseObject,
  present,
  secondsOf,
  stringOf,
  wholeOf,
} from '../../protocol/json-object.ts'
import type { ChatChunk, ToolCallDelta } from '../../protocol/messages.ts'
import { keepSource } from '../../protocol/source.ts'
import { createEventReader, type ServerEvent } from '../../protocol/sse.ts'
import { contentIn, cutAt, mark, marked, type TextFrame } from '../../protocol/text-frame.ts'
import { withUsageSoFar } from '../../protocol/usage-so-far.ts'
import { assembleReader, createResponseReader, withJsonBody } from '../shared/stream-reader.ts'
import { generatedId } from '../shared/tool-ids.ts'
import { errorEvent, throwIfError, truncatedStream } from '../shared/wire-error.ts'
import { type ChunkFrame, chunkFrames } from './chunk-frames.ts'
import { splitContent, withFittingFields } from './content.ts'
import { readFinish, readResponse, readUsage } from './response.ts'

/** Calls of tools in one answer: each further one is looked for among those before it, and no real answer has as many. */
const mostCalls = 1_000

interface ChoiceState {
  /** Whether no delta has come for it yet: the first one must name the role. */
  fresh: boolean
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
  let frame: ChunkFrame | undefined
  let finishFrame: ChunkFrame | undefined
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
    const known = choices.get(0)
    const isUnderWay = known?.finished === false
    const next = frame && isUnderWay ? framed(frame, data) : undefined
    if (next) return void chunks.push(keepSource(next, data))
    const last = finishFrame && isUnderWay ? finishing(finishFrame, data) : undefined
    if (last) {
      known!.finished = true
      return void chunks.push(keepSource(last, data))
    }
    const cut = isUnderWay && framesLeft > 0 ? cutAt('"content":"', data) : undefined
    const parsed = cut && parseCut(cut)
    if (cut && !parsed) framesLeft--
    const fields = parsed ?? parseEvent(data)
    if (!isPlain(fields, known)) return readAnyChunk(fields, data, chunks)
    const chunk = fields as unknown as ChatChunk
    const choice = chunk.choices[0]!
    const state = known ?? stateOf(0)
    state.fresh = false
    if (choice.finish_reason !== null) state.finished = true
    else if (cut && parsed) {
      framesLeft--
      frame = { ...cut, chunk, choice }
    } else if (!known) {
      const frames = chunkFrames(chunk, data)
      frame = frames?.text
      finishFrame = frames?.finish
    }
    chunks.push(keepSource(chunk, data))
  }

  function readAnyChunk(fields: JsonObject, data: string, chunks: ChatChunk[]): void {
    throwIfError(fields)
    const usage = readUsage(fields)
    const wireChoices = objectsOf(fields['choices'])
    const changes: Changes = { made: !isOutlined(fields) }
    const read = present(
      wireChoices.map((choice) => readChoice(choice, stateOf(wholeOf(choice['index']) ?? 0), fields, changes)),
    )
    changes.made ||= read.length !== (fields['choices'] as readonly unknown[]).length
    if (usage) {
      const own = wireChoices.length === 0
      usageChunk = { ...(own && fields), ...outlineOf(fields), choices: [], usage }
      if (own && !changes.made) keepSource(usageChunk, data)
      if (read.length === 0) return
      changes.made ||= isObject(fields['usage'])
    }
    if (wireChoices.length > 0 && read.length === 0) return
    const chunk = chunkOf(fields, read, changes, data)
    // Some services tell the counts so far with every piece.
    chunks.push(usage ? withUsageSoFar(chunk, { usage }) : chunk)
  }

  function stateOf(index: number): ChoiceState {
    const known = choices.get(index)
    if (known) return known
    const state: ChoiceState = { fresh: true, finished: false, calls: [] }
    choices.set(index, state)
    return state
  }

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
    const read = readDelta(delta, state.fresh, state, stringOf(fields['id']) ?? '')
    state.fresh = false
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

/** The fast path of most chunks: text, role or finish of the only choice, with all checked that may need mending. */
function isPlain(fields: JsonObject, state: ChoiceState | undefined): boolean {
  if (state?.finished || !isOutlined(fields) || fields['object'] === 'error' || 'statusCode' in fields) return false
  if (fields['error'] !== undefined || fields['usage'] != null || 'x_groq' in fields) return false
  const choices = fields['choices'] as readonly unknown[]
  const choice = choices[0]
  if (choices.length !== 1 || !isObject(choice) || choice['index'] !== 0 || choice['error'] !== undefined) return false
  const { delta, finish_reason: reason } = choice
  if (reason !== null && (typeof reason !== 'string' || readFinish(reason) !== reason)) return false
  return isObject(delta) && isPlainDelta(delta, state?.fresh ?? true)
}

function isPlainDelta(delta: JsonObject, isFirst: boolean): boolean {
  for (const name in delta) if (name !== 'content' && name !== 'role' && name !== 'refusal') return false
  const { content, role, refusal } = delta
  if (content != null && typeof content !== 'string') return false
  return refusal == null && (role === 'assistant' || (role === undefined && !isFirst))
}

/** Frames that are made for one stream: some providers pad each chunk with other text, and none of theirs comes again. */
const mostFrames = 3

/** Parses a chunk that was cut at its content; undefined where that is not the delta's, but an unknown field's. */
function parseCut(cut: TextFrame): JsonObject | undefined {
  const fields = parseObject(marked(cut))
  const [choice] = objectsOf(fields?.['choices'])
  const delta = choice?.['delta'] as { content?: unknown } | undefined
  if (delta?.content !== mark) return undefined
  delta.content = cut.content
  return fields
}

/** The chunk whose text is that of the frame around another content. */
function framed(frame: ChunkFrame, data: string): ChatChunk | undefined {
  const content = contentIn(frame, data)
  if (content === undefined) return undefined
  const { chunk, choice } = frame
  return { ...chunk, choices: [{ ...choice, delta: { ...choice.delta, content } }] }
}

/** The chunk whose text is that of the frame around a finish reason. */
function finishing(frame: ChunkFrame, data: string): ChatChunk | undefined {
  const raw = contentIn(frame, data)
  if (raw === undefined) return undefined
  const reason = readFinish(raw)
  if (reason !== raw) return undefined
  const { chunk, choice } = frame
  return { ...chunk, choices: [{ ...choice, finish_reason: reason }] }
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
function readDelta(raw: JsonObject, first: boolean, state: ChoiceState, chunkId: string): JsonObject {
  const delta = withFittingFields(raw)
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
  // A piece without a name continues with the call before it, also where a server gives every piece an id of its own.
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
function readFunction(raw: unknown): JsonObject | undefined {
  if (raw === undefined) return undefined
  const { name, arguments: given } = objectOf(raw)
  const isNamed = name === undefined || typeof name === 'string'
  if (isObject(raw) && isNamed && (given === undefined || typeof given === 'string')) return raw
  return { ...(typeof name === 'string' && { name }), arguments: given == null ? '' : argumentsText(given) }
}

function lastOf(state: ChoiceState, id: string | undefined): ChoiceState['calls'][number] | undefined {
  return id === undefined ? state.calls.at(-1) : state.calls.findLast((call) => call.id === id)
}
