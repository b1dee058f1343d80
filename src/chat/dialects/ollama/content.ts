import { dataUrl, parseDataUrl } from '../../../formats/formats.ts'
import {
  argumentsText,
  type JsonObject,
  objectOf,
  objectsOf,
  parseArguments,
  restOf,
  stringOf,
} from '../../protocol/json-object.ts'
import { type ContentPart, imageUrlOf, type Message, type ToolCall } from '../../protocol/messages.ts'
import { extraOf, withExtra } from '../shared/alternation.ts'
import { notExpressible } from '../shared/request-check.ts'
import { isGeneratedId } from '../shared/tool-ids.ts'

/** A call in Ollama's spelling: the arguments are an object, and an id is there only where the provider gave one. */
export function writeCall(call: ToolCall, index?: number): JsonObject {
  const { name, arguments: text } = call.function
  const wire = { ...(index !== undefined && { index }), name, arguments: parseArguments(text) }
  return { ...(!isGeneratedId(call.id) && { id: call.id }), ...extraOf(call, 'ollama'), function: wire }
}

/** The calls of a message of Ollama's; `ids` names those that have no id. */
export function readCalls(calls: unknown, ids: () => string): readonly ToolCall[] | undefined {
  const read = objectsOf(calls).map((call): ToolCall => {
    const wire = objectOf(call['function'])
    return {
      id: stringOf(call['id']) || ids(),
      type: 'function',
      function: { name: stringOf(wire['name']) ?? '', arguments: argumentsText(wire['arguments']) },
      ...withExtra('ollama', restOf(call, callFields)),
    }
  })
  return read.length > 0 ? read : undefined
}

const callFields = new Set(['id', 'function'])

/** Ollama names no media type: the first bytes of the base64 tell it. */
function mediaType(data: string): string {
  if (data.startsWith('/9j/')) return 'image/jpeg'
  if (data.startsWith('R0lG')) return 'image/gif'
  return data.startsWith('UklGR') ? 'image/webp' : 'image/png'
}

/** The text and the images of a message of Ollama's. */
export function readContent(turn: JsonObject): Message['content'] {
  const text = stringOf(turn['content']) ?? ''
  const images = Array.isArray(turn['images']) ? turn['images'].filter((image) => typeof image === 'string') : []
  if (images.length === 0) return text
  const parts = images.map((data) => ({ type: 'image_url', image_url: { url: dataUrl(mediaType(data), data) } }))
  return text === '' ? parts : [{ type: 'text', text }, ...parts]
}

/** The base64 of an image part; undefined for another part. Throws an AppError `invalid` for an https address. */
export function imageOf(part: ContentPart): string | undefined {
  const url = imageUrlOf(part)
  if (url === undefined) return undefined
  const inline = parseDataUrl(url)
  if (!inline) throw notExpressible('Ollama takes images as data: URLs only, not as addresses')
  return inline.data
}
