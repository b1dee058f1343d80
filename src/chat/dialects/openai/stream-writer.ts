import type { ClientError, StreamEncoder } from '../../protocol/dialect.ts'
import type { ChatChunk, ChatRequest, Delta } from '../../protocol/messages.ts'
import { withoutExtra } from './request-writer.ts'
import { sourceOf } from './stream-reader.ts'

/** Writes a stream in OpenAI's grammar. The chunk of token counts goes out only where the client asked for it. */
export function encodeOpenaiStream(request: ChatRequest): StreamEncoder {
  const wantsUsage = request.stream_options?.include_usage === true
  return {
    push(chunk) {
      if (chunk.choices.length === 0 && chunk.usage && !wantsUsage) return ''
      const source = sourceOf(chunk)
      if (source !== undefined) return `data: ${source}\n\n`
      const plain = writeChunk(chunk)
      return plain ? `data: ${JSON.stringify(plain)}\n\n` : ''
    },
    end: () => 'data: [DONE]\n\n',
    fail: (error) => `data: ${JSON.stringify(openaiErrorBody(error))}\n\n`,
  }
}

/** The chunk without what only other dialects understand; undefined where nothing else was in it. */
function writeChunk(chunk: ChatChunk): object | undefined {
  const choices = chunk.choices.map((choice) => ({ ...withoutExtra(choice), delta: writeDelta(choice.delta) }))
  const empty = choices.every(
    (choice, at) => choice.finish_reason === null && isBare(choice.delta, chunk.choices[at]!.delta),
  )
  if (choices.length > 0 && empty && !chunk.usage) return undefined
  return { ...withoutExtra(chunk), choices }
}

function isBare(delta: Delta, before: Delta): boolean {
  return delta !== before && Object.keys(delta).length === 0
}

function writeDelta(delta: Delta): Delta {
  const plain = withoutExtra(delta)
  const calls = delta.tool_calls?.map((call) => withoutExtra(call))
  return calls ? { ...plain, tool_calls: calls } : plain
}

/**
 * `{error:{message,type,param,code}}`, in a stream an event of its own: OpenAI's clients throw on it. Beside `choices`, as
 * OpenRouter writes it, `@ai-sdk/openai` reads an ordinary chunk in it and ends as if nothing had happened.
 */
export function openaiErrorBody(error: ClientError): { error: Record<string, unknown> } {
  const { message, type = 'server_error', param = null, code = null } = error
  return { error: { message, type, param, code } }
}
