import { isDeepStrictEqual } from 'node:util'
import { dataUrl, parseDataUrl } from '../../../formats/formats.ts'
import {
  argumentsText,
  isObject,
  type JsonObject,
  objectOf,
  objectsOf,
  parseArguments,
  present,
  restOf,
  stringOf,
} from '../../protocol/json-object.ts'
import {
  type ContentPart,
  contentOf,
  imageUrlOf,
  type Message,
  type ReasoningDetail,
  refusalOf,
  type TextPart,
  type ToolCall,
} from '../../protocol/messages.ts'
import { extraOf, withExtra } from '../shared/alternation.ts'
import { unsupportedMedia } from '../shared/media-support.ts'

/** The mark of Anthropic's thinking among OpenRouter's `reasoning_details`. */
export const thinkingFormat = 'anthropic-claude-v1'

/**
 * A message's content as blocks. Empty texts are left out, because Anthropic refuses them. Parts without a block are left
 * out too; where the content is `shown` to the model they throw an AppError `invalid`.
 */
export function writeParts(content: Message['content'], shown = false): JsonObject[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return present(
    (content ?? []).map((part) => {
      const block = writePart(part)
      if (!block && shown && part.type !== 'text') throw unsupportedMedia(part, 'anthropic-messages')
      return block
    }),
  )
}

/** Blocks as parts; a block that only Anthropic has stays as it is. */
export function readParts(blocks: readonly JsonObject[]): ContentPart[] {
  return blocks.map(readBlock)
}

/**
 * The blocks of an assistant's turn: signed thinking first, as Anthropic demands, then text, then calls. Thinking without
 * a signature is left out, because Anthropic takes back only signed thinking.
 */
export function writeAssistant(message: Message): readonly JsonObject[] {
  const own = extraOf(message, 'anthropic')['content']
  if (Array.isArray(own)) return own
  const content = contentOf(message)
  return [
    ...present((message.reasoning_details ?? []).map(writeThinking)),
    ...writeParts(content),
    ...(message.tool_calls ?? []).map(writeCall),
  ]
}

/**
 * An assistant's turn as our message. Blocks that our shape cannot express (server tools, citations, thinking between
 * calls) are kept word for word next to it, for an Anthropic provider that reads the conversation again.
 */
export function readAssistant(blocks: readonly JsonObject[]): Message {
  const texts = blocks.filter((block) => block['type'] === 'text')
  const calls = blocks.filter((block) => block['type'] === 'tool_use').map(readCall)
  const thoughts = blocks.filter((block) => block['type'] === 'thinking')
  const reasoning = thoughts.map((block) => stringOf(block['thinking']) ?? '').join('')
  const details = present(blocks.map(readThinking))
  const message: Message = {
    role: 'assistant',
    content: texts.length === 0 ? null : texts.map((block) => stringOf(block['text']) ?? '').join(''),
    ...(reasoning && { reasoning_content: reasoning }),
    ...(details.length > 0 && { reasoning_details: details }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  const sendable = blocks.filter((block) => block['type'] !== 'thinking' || block['signature'])
  if (isDeepStrictEqual(writeAssistant(message), sendable)) return message
  return { ...message, ...withExtra('anthropic', { content: sendable }) }
}

function writeCall(call: ToolCall): JsonObject {
  const { name, arguments: text } = call.function
  return { ...extraOf(call, 'anthropic'), type: 'tool_use', id: call.id, name, input: parseArguments(text) }
}

/** The thinking block that a piece of reasoning came from, or undefined where Anthropic did not sign it. */
export function writeThinking(detail: ReasoningDetail): JsonObject | undefined {
  if (detail.format && !detail.format.startsWith('anthropic')) return undefined
  if (detail.type === 'reasoning.text' && detail.signature)
    return { type: 'thinking', thinking: detail.text ?? '', signature: detail.signature }
  if (detail.type === 'reasoning.encrypted' && detail.data && detail.format)
    return { type: 'redacted_thinking', data: detail.data }
  return undefined
}

/** A signed or encrypted thinking block as a piece of reasoning. */
function readThinking(block: JsonObject, index: number): ReasoningDetail | undefined {
  const signature = stringOf(block['signature'])
  const data = stringOf(block['data'])
  if (block['type'] === 'thinking' && signature)
    return { type: 'reasoning.text', text: stringOf(block['thinking']) ?? '', signature, format: thinkingFormat, index }
  if (block['type'] === 'redacted_thinking' && data)
    return { type: 'reasoning.encrypted', data, format: thinkingFormat, index }
  return undefined
}

const callFields = new Set(['type', 'id', 'name', 'input'])

function readCall(block: JsonObject): ToolCall {
  const name = stringOf(block['name']) ?? ''
  return {
    id: stringOf(block['id']) ?? '',
    type: 'function',
    function: { name, arguments: argumentsText(block['input']) },
    ...withExtra('anthropic', restOf(block, callFields)),
  }
}

function writePart(part: ContentPart): JsonObject | undefined {
  const extra = extraOf(part as TextPart, 'anthropic')
  if (part.type === 'foreign') return part['dialect'] === 'anthropic' ? objectOf(part['value']) : undefined
  if (part.type === 'text') {
    const { text, cache_control: cache } = part as TextPart & JsonObject
    // OpenRouter's clients put Anthropic's cache mark on the part itself.
    return text === ''
      ? undefined
      : { ...extra, type: 'text', text, ...(cache !== undefined && { cache_control: cache }) }
  }
  const url = imageUrlOf(part)
  if (url !== undefined) return { ...extra, type: 'image', source: writeSource(url) }
  if (part.type === 'file') return writeFile(objectOf((part as JsonObject)['file']), extra)
  const refusal = refusalOf(part)
  return refusal ? { type: 'text', text: refusal } : undefined
}

function writeSource(url: string): JsonObject {
  const inline = parseDataUrl(url)
  return inline ? { type: 'base64', media_type: inline.mediaType, data: inline.data } : { type: 'url', url }
}

function writeFile(file: JsonObject, extra: JsonObject): JsonObject | undefined {
  const data = stringOf(file['file_data'])
  if (data === undefined) return undefined
  const title = stringOf(file['filename'])
  return { ...extra, type: 'document', source: writeSource(data), ...(title !== undefined && { title }) }
}

const blockFields: Readonly<Record<string, ReadonlySet<string>>> = {
  text: new Set(['type', 'text']),
  image: new Set(['type', 'source']),
  document: new Set(['type', 'source', 'title']),
}

function readBlock(block: JsonObject): ContentPart {
  const extra = () => withExtra('anthropic', restOf(block, blockFields[String(block['type'])]!))
  const url = sourceUrl(block['source'])
  if (block['type'] === 'text' && typeof block['text'] === 'string')
    return { type: 'text', text: block['text'], ...extra() }
  if (block['type'] === 'image' && url !== undefined) return { type: 'image_url', image_url: { url }, ...extra() }
  if (block['type'] === 'document' && url !== undefined && url.startsWith('data:')) {
    const filename = stringOf(block['title'])
    return { type: 'file', file: { ...(filename !== undefined && { filename }), file_data: url }, ...extra() }
  }
  return { type: 'foreign', dialect: 'anthropic', value: block }
}

function sourceUrl(source: unknown): string | undefined {
  if (!isObject(source)) return undefined
  const { type, media_type: mediaType, data, url } = source
  if (type === 'url' && Object.keys(source).length === 2) return stringOf(url)
  if (type !== 'base64' || typeof mediaType !== 'string' || typeof data !== 'string') return undefined
  return dataUrl(mediaType, data)
}

/** The blocks of a content that may also be a plain text. */
export function blocksOf(content: unknown): readonly JsonObject[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : objectsOf(content)
}
