import type { StreamWriter } from '../../protocol/dialect.ts'
import type { ChatChunk, ChatRequest, Delta } from '../../protocol/messages.ts'
import { sourceOf } from '../../protocol/source.ts'
import { withoutExtra } from './content.ts'
import { writeError } from './response.ts'

/** Writes a stream in OpenAI's grammar. The chunk of token counts goes out only where the client asked for it. */
export function createStreamWriter(request: ChatRequest): StreamWriter {
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
    fail: (error) => `data: ${JSON.stringify(writeError(error))}\n\n`,
  }
}

/** The chunk without the fields of other dialects; undefined where nothing else was in it. */
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
