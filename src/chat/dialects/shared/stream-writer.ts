import { collectReply } from '../../protocol/chunks.ts'
import type { ChatChunk, ChatReply } from '../../protocol/messages.ts'

/** Keeps the parts of a stream that Gemini's and Ollama's dialects write at its end: calls, finish reasons, token counts. */
export interface StreamTail {
  add(chunk: ChatChunk): void
  /** The answer without its texts, which went out as they came. */
  reply(): ChatReply
}

export function createStreamTail(): StreamTail {
  const waiting: ChatChunk[] = []
  return {
    add(chunk) {
      const choices = chunk.choices.map((choice) => {
        const { tool_calls: calls } = choice.delta
        return { ...choice, delta: calls ? { tool_calls: calls } : {} }
      })
      const isNews = choices.some((choice) => choice.delta.tool_calls || choice.finish_reason || choice.extra_content)
      if (waiting.length === 0 || isNews || chunk.usage || chunk.extra_content) waiting.push({ ...chunk, choices })
    },
    reply: () => collectReply(waiting),
  }
}
