import type { StreamReader } from '../../protocol/dialect.ts'
import {
  isObject,
  type JsonObject,
  objectOf,
  objectsOf,
  parseEvent,
  stringOf,
  wholeOf,
} from '../../protocol/json-object.ts'
import { createJsonReader } from '../../protocol/json-stream.ts'
import type { ChatChunk, Delta, FinishReason } from '../../protocol/messages.ts'
import { createEventReader } from '../../protocol/sse.ts'
import { withUsageSoFar } from '../../protocol/usage-so-far.ts'
import { withExtra } from '../shared/alternation.ts'
import { choiceLogprobs, readLogprobsResult } from '../shared/logprobs.ts'
import { assembleReader, withJsonBody } from '../shared/stream-reader.ts'
import { generatedId } from '../shared/tool-ids.ts'
import { throwIfError, truncatedStream } from '../shared/wire-error.ts'
import { field, readAnswer } from './content.ts'
import { blockReason, countsOf, endingOf, hasFinished, readFinish, requireWholeCalls } from './response.ts'

/**
 * Reads Gemini's stream, as events (`alt=sse`) or as the one JSON array that it sends without that.
 * `now` in milliseconds dates its chunks.
 */
export function createStreamReader(now = Date.now()): StreamReader {
  return withJsonBody(readPieces(cutEvents(), now), () => readPieces(createJsonReader(), now))
}

/** The texts of the pieces of a stream. */
type PieceReader = ReturnType<typeof cutEvents>

function cutEvents() {
  const reader = createEventReader()
  return {
    push: (bytes: Uint8Array) => reader.push(bytes).map(({ data }) => data),
    end: () => reader.end().map(({ data }) => data),
  }
}

interface CandidateState {
  finished: boolean
  calls: number
}

function readPieces(cut: PieceReader, now: number): StreamReader {
  const candidates = new Map<number, CandidateState>()
  const created = Math.floor(now / 1000)
  let outline = { id: '', model: '' }
  let usage: JsonObject | undefined
  let blocked = false
  let ended = false

  function isComplete(): boolean {
    for (const candidate of candidates.values()) if (!candidate.finished) return false
    return blocked || candidates.size > 0
  }

  function take(texts: readonly string[]): readonly ChatChunk[] {
    return texts.filter((text) => text.trim() !== '').flatMap((text) => read(parseEvent(text)))
  }

  function read(fields: JsonObject): readonly ChatChunk[] {
    throwIfError(fields)
    outline = {
      id: stringOf(fields['responseId']) ?? outline.id,
      model: stringOf(fields['modelVersion']) ?? outline.model,
    }
    // Counts grow from piece to piece: only the last ones are true.
    if (isObject(fields['usageMetadata'])) usage = fields['usageMetadata']
    const choices = objectsOf(fields['candidates']).map(readCandidate)
    if (blockReason(fields) !== undefined && choices.length === 0 && !blocked) {
      blocked = true
      choices.push({ index: 0, delta: { role: 'assistant' }, finish_reason: 'content_filter' })
    }
    if (choices.length === 0) return []
    const chunk = { ...base(), choices }
    return [usage ? withUsageSoFar(chunk, countsOf(usage)) : chunk]
  }

  function base(): Pick<ChatChunk, 'id' | 'object' | 'created' | 'model'> {
    return { id: outline.id, object: 'chat.completion.chunk', created, model: outline.model }
  }

  function readCandidate(candidate: JsonObject, position: number): ChatChunk['choices'][number] {
    const index = wholeOf(candidate['index']) ?? position
    const known = candidates.get(index)
    const state = known ?? { finished: false, calls: 0 }
    candidates.set(index, state)
    const wireReason = field(candidate, 'finishReason')
    const parts = requireWholeCalls(objectsOf(objectOf(candidate['content'])['parts']))
    const delta = readDelta(parts, state, `${outline.id}${index || ''}`)
    const reason: FinishReason | null =
      state.finished || !hasFinished(wireReason) ? null : readFinish(wireReason, state.calls > 0)
    if (reason !== null) state.finished = true
    return {
      index,
      delta: known ? delta : { role: 'assistant', ...delta },
      finish_reason: reason,
      ...choiceLogprobs(readLogprobsResult(field(candidate, 'logprobsResult'))),
      ...withExtra('gemini', endingOf(candidate)),
    }
  }

  function finish(): readonly ChatChunk[] {
    if (!isComplete()) throw truncatedStream()
    ended = true
    return usage ? [{ ...base(), choices: [], ...countsOf(usage) }] : []
  }

  return assembleReader({ cut, take, isComplete, isOver: () => ended, finish })
}

function readDelta(parts: readonly JsonObject[], state: CandidateState, where: string): Delta {
  const first = state.calls
  const {
    role: _role,
    content,
    tool_calls: calls,
    ...answer
  } = readAnswer(parts, () => generatedId(where, state.calls++))
  // Calls with an id of their own were not counted by it.
  state.calls = first + (calls?.length ?? 0)
  return {
    ...(answer as Delta),
    ...(content !== null && { content: content as string }),
    ...(calls && { tool_calls: calls.map((call, at) => ({ index: first + at, ...call })) }),
  }
}
