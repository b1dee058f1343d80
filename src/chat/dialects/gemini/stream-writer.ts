import type { StreamWriter } from '../../protocol/dialect.ts'
import { type JsonObject, objectOf, objectsOf } from '../../protocol/json-object.ts'
import type { Delta } from '../../protocol/messages.ts'
import { extraOf } from '../shared/alternation.ts'
import { createStreamTail } from '../shared/stream-writer.ts'
import { writeCall } from './content.ts'
import { writeError, writeFinish, writeUsage } from './response.ts'

/**
 * Writes a stream as Gemini's events. Calls are whole in Gemini's dialect, so they wait for the end; the last event holds
 * the finish reasons and the token counts.
 */
export function createStreamWriter(): StreamWriter {
  const tail = createStreamTail()

  return {
    push(chunk) {
      const candidates = chunk.choices
        .map((choice) => ({ index: choice.index, parts: partsOf(choice.delta) }))
        .filter(({ parts }) => parts.length > 0)
        .map(({ index, parts }) => ({ content: { parts, role: 'model' }, index }))
      tail.add(chunk)
      return candidates.length > 0 ? event({ candidates, ...outlineOf(chunk) }) : ''
    },
    end() {
      const reply = tail.reply()
      const extra = extraOf(reply, 'gemini')
      const candidates = reply.choices.map((choice) => ({
        content: { parts: (choice.message.tool_calls ?? []).map(writeCall), role: 'model' },
        finishReason: writeFinish(choice.finish_reason),
        index: choice.index,
        ...extraOf(choice, 'gemini'),
      }))
      const usage = reply.usage && { usageMetadata: writeUsage(reply.usage, extra['usageMetadata']) }
      return event({ ...extra, candidates, ...usage, ...outlineOf(reply) })
    },
    fail: (error) => event(writeError(error)),
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
