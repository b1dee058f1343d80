import type { StreamWriter } from '../../protocol/dialect.ts'
import type { ChatChunk, ChatRequest, Delta } from '../../protocol/messages.ts'
import { sourceOf } from '../../protocol/source.ts'
import { withoutExtra } from './content.ts'
import { writeError } from './response.ts'

/** Writes a stream in OpenAI's grammar. The chunk of token counts goes out only where the client asked for it. */
export function createStreamWriter(request: ChatRequest): StreamWriter {
  const wantsUsage = request.stream_options?.include_usage === true
  /** The chunk whose text up to its content is kept: the next ones mostly begin with the same. */
  let last: Pick<ChatChunk, 'id' | 'created' | 'model'> | undefined
  let before = ''

  function writeText(chunk: ChatChunk, text: string): string {
    const { id, created, model } = chunk
    if (!last || last.id !== id || last.created !== created || last.model !== model) {
      last = { id, created, model }
      before = JSON.stringify({ id, object: 'chat.completion.chunk', created, model }).slice(0, -1)
    }
    return `data: ${before},"choices":[{"index":0,"delta":{"content":${JSON.stringify(text)}},"finish_reason":null}]}\n\n`
  }

  return {
    push(chunk) {
      if (chunk.choices.length === 0 && chunk.usage && !wantsUsage) return ''
      const source = sourceOf(chunk)
      if (source !== undefined) return `data: ${source}\n\n`
      const text = onlyText(chunk)
      if (text !== undefined) return writeText(chunk, text)
      const plain = writeChunk(chunk)
      return plain ? `data: ${JSON.stringify(plain)}\n\n` : ''
    },
    end: () => 'data: [DONE]\n\n',
    fail: (error) => `data: ${JSON.stringify(writeError(error))}\n\n`,
  }
}

/** The text of a chunk that is a piece of the first choice's text and nothing else; undefined for every other one. */
function onlyText(chunk: ChatChunk): string | undefined {
  for (const name in chunk) if (!outlineFields.has(name)) return undefined
  const [choice] = chunk.choices
  if (chunk.choices.length !== 1 || choice!.index !== 0 || choice!.finish_reason !== null) return undefined
  for (const name in choice) if (name !== 'index' && name !== 'delta' && name !== 'finish_reason') return undefined
  const { delta } = choice!
  for (const name in delta) if (name !== 'content') return undefined
  return typeof delta.content === 'string' ? delta.content : undefined
}

const outlineFields: ReadonlySet<string> = new Set(['id', 'object', 'created', 'model', 'choices'])

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
