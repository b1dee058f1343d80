import { collectReply } from '../../protocol/chunks.ts'
import type { StreamEncoder } from '../../protocol/dialect.ts'
import { type JsonObject, objectOf, objectsOf } from '../../protocol/json-object.ts'
import type { ChatChunk, Delta } from '../../protocol/messages.ts'
import { extraOf } from '../shared/alternation.ts'
import { writeCall } from './parts.ts'
import { finishName, geminiErrorBody, writeUsage } from './response.ts'

/**
 * Writes a stream as Gemini's events. Calls are whole in Gemini's dialect, so they wait for the end of their choice, and
 * the last piece says how it ended and what it cost.
 */
export function encodeGeminiStream(): StreamEncoder {
  /** What waits for the end: pieces of calls, finish reasons, token counts. */
  const waiting: ChatChunk[] = []

  return {
    push(chunk) {
      const candidates = chunk.choices
        .map((choice) => ({ index: choice.index, parts: partsOf(choice.delta) }))
        .filter(({ parts }) => parts.length > 0)
        .map(({ index, parts }) => ({ content: { parts, role: 'model' }, index }))
      const rest = withoutTexts(chunk)
      if (waiting.length === 0 || isNews(rest)) waiting.push(rest)
      return candidates.length > 0 ? event({ candidates, ...outlineOf(chunk) }) : ''
    },
    end() {
      const reply = collectReply(waiting)
      const extra = extraOf(reply, 'gemini')
      const candidates = reply.choices.map((choice) => ({
        content: { parts: (choice.message.tool_calls ?? []).map(writeCall), role: 'model' },
        finishReason: finishName(choice.finish_reason),
        index: choice.index,
        ...extraOf(choice, 'gemini'),
      }))
      const usage = reply.usage && { usageMetadata: writeUsage(reply.usage, extra['usageMetadata']) }
      return event({ ...extra, candidates, ...usage, ...outlineOf(reply) })
    },
    fail: (error) => event(geminiErrorBody(error)),
  }
}

function event(body: JsonObject): string {
  return `data: ${JSON.stringify(body)}\r\n\r\n`
}

function outlineOf(thing: { readonly id: string; readonly model: string }): JsonObject {
  return { modelVersion: thing.model, responseId: thing.id }
}

/** The parts that need not wait: Gemini's own word for word where it sent something that only Gemini knows. */
function partsOf(delta: Delta): readonly JsonObject[] {
  const own = objectsOf(objectOf(extraOf(delta, 'gemini')['event'])['parts'])
  if (own.length > 0) return own.filter((part) => part['functionCall'] === undefined)
  const signature = extraOf(delta, 'google')['thought_signature']
  const text = (delta.content ?? '') + (delta.refusal ?? '')
  return [
    ...(delta.reasoning_content ? [{ text: delta.reasoning_content, thought: true }] : []),
    ...(text || signature ? [{ text, ...(signature !== undefined && { thoughtSignature: signature }) }] : []),
  ]
}

/** Whether there is more in a chunk than the texts that went out already. */
function isNews(chunk: ChatChunk): boolean {
  const said = chunk.choices.some((choice) => choice.delta.tool_calls || choice.finish_reason || choice.extra_content)
  return said || Boolean(chunk.usage) || chunk.extra_content !== undefined
}

function withoutTexts(chunk: ChatChunk): ChatChunk {
  const choices = chunk.choices.map((choice) => {
    const { tool_calls: calls } = choice.delta
    return { ...choice, delta: calls ? { tool_calls: calls } : {} }
  })
  return { ...chunk, choices }
}
