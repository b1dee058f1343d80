import type { StreamReader } from '../../protocol/dialect.ts'
import { type JsonObject, objectOf, parseEvent, restOf } from '../../protocol/json-object.ts'
import { createJsonReader } from '../../protocol/json-stream.ts'
import type { ChatChunk } from '../../protocol/messages.ts'
import { withExtra } from '../shared/alternation.ts'
import { choiceLogprobs, readTokens } from '../shared/logprobs.ts'
import { assembleReader, withJsonBody } from '../shared/stream-reader.ts'
import { throwIfError } from '../shared/wire-error.ts'
import { outlineOf, readFinish, readMessage, readUsage, replyFields } from './response.ts'

/** Reads Ollama's stream: a JSON object a line, the last one with `done: true`; an error is a line too. */
export function createStreamReader(now = Date.now()): StreamReader {
  const objects = readObjects(now)
  return withJsonBody(objects, () => objects)
}

/** Probabilities go with the pieces of a stream. */
const lastFields = new Set([...replyFields, 'logprobs'])

function readObjects(now: number): StreamReader {
  let complete = false
  let started = false
  let calls = 0
  let id = ''

  function take(texts: readonly string[]): readonly ChatChunk[] {
    const chunks: ChatChunk[] = []
    for (const text of texts) if (!complete) chunks.push(...read(parseEvent(text)))
    return chunks
  }

  function read(fields: JsonObject): readonly ChatChunk[] {
    throwIfError(fields)
    const outline = outlineOf(fields, now)
    id ||= outline.id
    const { role: _role, content, tool_calls: found, ...rest } = readMessage(objectOf(fields['message']), id, calls)
    const delta = {
      ...(!started && { role: 'assistant' as const }),
      ...rest,
      ...(content !== '' && { content: content as string }),
      ...(found && { tool_calls: found.map((call, at) => ({ index: calls + at, ...call })) }),
    }
    started = true
    calls += found?.length ?? 0
    complete = fields['done'] === true
    const reason = complete ? readFinish(fields, calls > 0) : null
    const base = { ...outline, id, object: 'chat.completion.chunk' as const }
    const extra = complete ? withExtra('ollama', restOf(fields, lastFields)) : {}
    const choice = { index: 0, delta, finish_reason: reason, ...choiceLogprobs(readTokens(fields['logprobs'])) }
    const chunk: ChatChunk = { ...base, choices: [choice], ...extra }
    const usage = complete ? readUsage(fields) : undefined
    return usage ? [chunk, { ...base, choices: [], usage }] : [chunk]
  }

  return assembleReader({ cut: createJsonReader(), take, isComplete: () => complete })
}
