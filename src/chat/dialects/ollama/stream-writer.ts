import { collectReply } from '../../protocol/chunks.ts'
import type { StreamWriter } from '../../protocol/dialect.ts'
import { isoTime, type JsonObject } from '../../protocol/json-object.ts'
import type { ChatChunk } from '../../protocol/messages.ts'
import { logprobsOf } from '../shared/logprobs.ts'
import { writeCall } from './content.ts'
import { endOf, writeError } from './response.ts'

/** Writes a stream as the lines of /api/chat. */
export function createStreamWriter(): StreamWriter {
  return createLineWriter((message) => ({ message }))
}

/** Writes a stream as Ollama's lines, with `fieldsOf` a message in each. Calls are whole there, so they wait for the end. */
export function createLineWriter(fieldsOf: (message: JsonObject) => JsonObject): StreamWriter {
  const tail = createStreamTail()

  function line(chunk: Pick<ChatChunk, 'model' | 'created'>, message: JsonObject, end: JsonObject): string {
    const created = isoTime(chunk.created)
    return `${JSON.stringify({ model: chunk.model, created_at: created, ...fieldsOf(message), done: false, ...end })}\n`
  }

  return {
    push(chunk) {
      const choices = chunk.choices.filter(({ index }) => index === 0)
      const delta = choices[0]?.delta
      tail.add({ ...chunk, choices })
      const text = (delta?.content ?? '') + (delta?.refusal ?? '')
      const thinking = delta?.reasoning_content
      const logprobs = choices[0]?.['logprobs'] ? logprobsOf(choices[0]) : []
      if (text === '' && !thinking && logprobs.length === 0) return ''
      const message = { role: 'assistant', content: text, ...(thinking && { thinking }) }
      return line(chunk, message, logprobs.length > 0 ? { logprobs } : {})
    },
    end() {
      const reply = tail.reply()
      const calls = reply.choices[0]?.message.tool_calls
      const last = calls ? line(reply, { role: 'assistant', content: '', tool_calls: calls.map(writeCall) }, {}) : ''
      return `${last}${line(reply, { role: 'assistant', content: '' }, { done: true, ...endOf(reply) })}`
    },
    fail: (error) => `${JSON.stringify(writeError(error))}\n`,
  }
}

function createStreamTail() {
  const waiting: ChatChunk[] = []
  return {
    add(chunk: ChatChunk) {
      const choices = chunk.choices.map((choice) => {
        const { tool_calls: calls } = choice.delta
        return { ...choice, delta: calls ? { tool_calls: calls } : {} }
      })
      const isNews = choices.some((choice) => choice.delta.tool_calls || choice.finish_reason || choice.extra_content)
      if (waiting.length === 0 || isNews || chunk.usage || chunk.extra_content) waiting.push({ ...chunk, choices })
    },
    /** The answer without its texts, which went out as they came. */
    reply: () => collectReply(waiting),
  }
}
