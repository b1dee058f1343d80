import { collectReply } from '../../protocol/chunks.ts'
import { type ClientError, DialectError, type StreamDecoder, type StreamEncoder } from '../../protocol/dialect.ts'
import {
  countOf,
  isoTime,
  type JsonObject,
  objectOf,
  parseEvent,
  restOf,
  stringOf,
} from '../../protocol/json-object.ts'
import {
  type ChatChunk,
  type ChatReply,
  type Choice,
  contentOf,
  type FinishReason,
  type Message,
  textOf,
  type Usage,
} from '../../protocol/messages.ts'
import { createLineReader } from '../../protocol/sse.ts'
import { extraOf, withExtra } from '../shared/alternation.ts'
import { generatedId } from '../shared/tool-ids.ts'
import { withJsonBody } from '../shared/whole-response.ts'
import { malformedResponse, readWireError, takeLast, throwIfError, truncatedStream } from '../shared/wire-error.ts'
import { readOllamaCalls, writeOllamaCall } from './request-writer.ts'

/** Reads an answer of Ollama's. */
export function readOllamaReply(body: unknown, now: number): ChatReply {
  throwIfError(body)
  const fields = objectOf(body)
  const outline = outlineOf(fields, now)
  if (typeof fields['message'] !== 'object') throw malformedResponse('it holds no message')
  const message = readMessage(objectOf(fields['message']), outline.id, 0)
  const choice: Choice = { index: 0, message, finish_reason: finishOf(fields, message.tool_calls !== undefined) }
  const usage = readUsage(fields)
  return {
    ...outline,
    object: 'chat.completion',
    choices: [choice],
    ...(usage && { usage }),
    ...withExtra('ollama', restOf(fields, replyFields)),
  }
}

/** Our answer as Ollama's. */
export function writeOllamaReply(reply: ChatReply): Record<string, unknown> {
  const message = reply.choices[0]?.message
  return {
    model: reply.model,
    created_at: isoTime(reply.created),
    message: writeMessage(message),
    done: true,
    ...endOf(reply),
  }
}

/** Reads Ollama's stream: a JSON object a line, the last one with `done: true`; an error is a line too. */
export function decodeOllamaStream(now: number): StreamDecoder {
  const lines = decodeLines(now)
  return withJsonBody(lines, lines)
}

function decodeLines(now: number): StreamDecoder {
  const reader = createLineReader()
  let complete = false
  let started = false
  let calls = 0
  let id = ''

  function take(lines: readonly string[]): readonly ChatChunk[] {
    const chunks: ChatChunk[] = []
    for (const line of lines) if (!complete && line.trim() !== '') chunks.push(...read(parseEvent(line)))
    return chunks
  }

  function read(fields: JsonObject): readonly ChatChunk[] {
    const error = readWireError(fields)
    if (error) throw new DialectError('reported', error)
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
    const reason = complete ? finishOf(fields, calls > 0) : null
    const base = { ...outline, id, object: 'chat.completion.chunk' as const }
    const extra = complete ? withExtra('ollama', restOf(fields, replyFields)) : {}
    const chunk: ChatChunk = { ...base, choices: [{ index: 0, delta, finish_reason: reason }], ...extra }
    const usage = complete ? readUsage(fields) : undefined
    return usage ? [chunk, { ...base, choices: [], usage }] : [chunk]
  }

  return {
    push: (bytes) => take(reader.push(bytes)),
    end() {
      if (complete) return []
      const last = takeLast(() => take(reader.end()))
      if (!complete) throw truncatedStream()
      return last
    },
    get complete() {
      return complete
    },
  }
}

/** Writes a stream as Ollama's lines. Calls are whole there, so they wait for the end. */
export function encodeOllamaStream(): StreamEncoder {
  const waiting: ChatChunk[] = []

  function line(chunk: Pick<ChatChunk, 'model' | 'created'>, message: JsonObject, end: JsonObject): string {
    const created = isoTime(chunk.created)
    return `${JSON.stringify({ model: chunk.model, created_at: created, message, done: false, ...end })}\n`
  }

  return {
    push(chunk) {
      const choice = chunk.choices.find(({ index }) => index === 0)
      const delta = choice?.delta
      const isNews = delta?.tool_calls || choice?.finish_reason || chunk.usage || chunk.extra_content
      if (isNews || waiting.length === 0) waiting.push(withoutTexts(chunk))
      const text = (delta?.content ?? '') + (delta?.refusal ?? '')
      const thinking = delta?.reasoning_content
      if (text === '' && !thinking) return ''
      return line(chunk, { role: 'assistant', content: text, ...(thinking && { thinking }) }, {})
    },
    end() {
      const reply = collectReply(waiting)
      const calls = reply.choices[0]?.message.tool_calls
      const last = calls
        ? line(reply, { role: 'assistant', content: '', tool_calls: calls.map(writeOllamaCall) }, {})
        : ''
      return `${last}${line(reply, { role: 'assistant', content: '' }, { done: true, ...endOf(reply) })}`
    },
    fail: (error) => `${JSON.stringify(ollamaErrorBody(error))}\n`,
  }
}

/** `{error:"text"}`. */
export function ollamaErrorBody(error: ClientError): { error: string } {
  return { error: error.message }
}

const replyFields = new Set(['model', 'message', 'done'])

/** Ollama gives its answers no id: the time they were made at, to the nanosecond, tells them apart. */
function outlineOf(fields: JsonObject, now: number): Pick<ChatReply, 'id' | 'created' | 'model'> {
  const at = stringOf(fields['created_at']) ?? ''
  const time = Date.parse(at)
  return {
    id: `chatcmpl-${at.replace(/\D/g, '') || now}`,
    created: Math.floor((Number.isNaN(time) ? now : time) / 1000),
    model: stringOf(fields['model']) ?? '',
  }
}

function readMessage(wire: JsonObject, where: string, begun: number): Message {
  let count = begun
  const calls = readOllamaCalls(wire['tool_calls'], () => generatedId(where, count++))
  if (calls?.some((call) => call.function.name === '')) throw malformedResponse('a call has no name')
  const thinking = stringOf(wire['thinking'])
  return {
    role: 'assistant',
    content: stringOf(wire['content']) ?? '',
    ...(thinking && { reasoning_content: thinking }),
    ...(calls && { tool_calls: calls }),
  }
}

function writeMessage(message: Message | undefined): JsonObject {
  return {
    role: 'assistant',
    content: message ? textOf(contentOf(message)) : '',
    ...(message?.reasoning_content && { thinking: message.reasoning_content }),
    ...(message?.tool_calls && { tool_calls: message.tool_calls.map(writeOllamaCall) }),
  }
}

/** Ollama's reasons are `stop`, `length`, and `load`; ours are written in the same place where it has none. */
function finishOf(fields: JsonObject, calls: boolean): FinishReason {
  const reason = fields['done_reason']
  if (reason === 'length' || reason === 'content_filter' || reason === 'error') return reason
  return calls ? 'tool_calls' : 'stop'
}

/** Ollama leaves out a count of 0. */
function readUsage(fields: JsonObject): Usage | undefined {
  if (fields['prompt_eval_count'] === undefined && fields['eval_count'] === undefined) return undefined
  const prompt = countOf(fields['prompt_eval_count'])
  const completion = countOf(fields['eval_count'])
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
}

function endOf(reply: ChatReply): JsonObject {
  const reason = reply.choices[0]?.finish_reason
  const { usage } = reply
  return {
    ...extraOf(reply, 'ollama'),
    done_reason: reason === 'tool_calls' ? 'stop' : (reason ?? 'stop'),
    ...(usage && { prompt_eval_count: usage.prompt_tokens, eval_count: usage.completion_tokens }),
  }
}

function withoutTexts(chunk: ChatChunk): ChatChunk {
  const choices = chunk.choices
    .filter(({ index }) => index === 0)
    .map((choice) => ({ ...choice, delta: choice.delta.tool_calls ? { tool_calls: choice.delta.tool_calls } : {} }))
  return { ...chunk, choices }
}
