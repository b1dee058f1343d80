import { dataUrl, parseDataUrl } from '../../../formats/formats.ts'
import {
  argumentsText,
  isObject,
  type JsonObject,
  objectOf,
  parseArguments,
  present,
  stringOf,
} from '../../protocol/json-object.ts'
import {
  type ContentPart,
  contentOf,
  type ExtraContent,
  imageUrlOf,
  type Message,
  refusalOf,
  type ToolCall,
} from '../../protocol/messages.ts'
import { extraOf } from '../shared/alternation.ts'
import { unsupportedMedia } from '../shared/media-support.ts'
import { isGeneratedId } from '../shared/tool-ids.ts'

/** A field of Gemini's by either of the names that its JSON takes: `inlineData` or `inline_data`. */
export function field(value: JsonObject, name: string): unknown {
  return value[name] ?? value[inSnakeCase(name)]
}

/** Names of Gemini's fields, each by both. */
function inBothCases(...names: readonly string[]): ReadonlySet<string> {
  return new Set([...names, ...names.map(inSnakeCase)])
}

function inSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** Content as Gemini's parts, without those it lacks; where content is `shown` to the model they throw `invalid`. */
export function writeParts(content: Message['content'], shown = false): JsonObject[] {
  if (typeof content === 'string') return content === '' ? [] : [{ text: content }]
  return present(
    (content ?? []).map((part) => {
      const wire = writePart(part)
      if (!wire && shown && part.type !== 'text') throw unsupportedMedia(part, 'gemini')
      return wire
    }),
  )
}

/** The parts of a turn of the model's. Its thoughts are not sent back, but for the signatures. */
export function writeAssistant(message: Message): readonly JsonObject[] {
  const own = extraOf(message, 'gemini')['parts']
  if (Array.isArray(own)) return own
  const parts = writeParts(contentOf(message))
  const signature = signatureOf(message)
  const signed = signature === undefined ? parts : signLast(parts, signature)
  return [...signed, ...(message.tool_calls ?? []).map(writeCall)]
}

/** The parts of an answer, or of a piece of one, in our shape; `ids` names the calls that have no id. */
export function readAnswer(parts: readonly JsonObject[], ids: (name: string) => string): Message {
  const texts = parts.filter((part) => typeof part['text'] === 'string' && part['thought'] !== true)
  const reasoning = parts.filter((part) => part['thought'] === true).map((part) => stringOf(part['text']) ?? '')
  const calls = parts.filter((part) => isObject(field(part, 'functionCall'))).map((part) => readCall(part, ids))
  const images = present(parts.map(readImage))
  const signature = stringOf(field(texts.at(-1) ?? {}, 'thoughtSignature'))
  return {
    role: 'assistant',
    content: texts.length === 0 ? null : texts.map((part) => String(part['text'])).join(''),
    ...(reasoning.length > 0 && { reasoning_content: reasoning.join('') }),
    ...(calls.length > 0 && { tool_calls: calls }),
    // OpenRouter's field for pictures that a model drew.
    ...(images.length > 0 && { images }),
    ...(signature !== undefined && signed(signature)),
  }
}

/** Whether our shape can express all of these parts. */
export function isPlainAnswer(parts: readonly JsonObject[]): boolean {
  return parts.every((part) => {
    if (isObject(field(part, 'functionCall'))) return Object.keys(part).every((name) => callPartFields.has(name))
    return typeof part['text'] === 'string' && Object.keys(part).every((name) => textPartFields.has(name))
  })
}

const callPartFields = inBothCases('functionCall', 'thoughtSignature')
const textPartFields = inBothCases('text', 'thought', 'thoughtSignature')

/** A call as a part, with the signature that Gemini wants back with it. */
function writeCall(call: ToolCall): JsonObject {
  const { name, arguments: text } = call.function
  const signature = signatureOf(call)
  return {
    functionCall: { ...(!isGeneratedId(call.id) && { id: call.id }), name, args: parseArguments(text) },
    ...(signature !== undefined && { thoughtSignature: signature }),
  }
}

function readCall(part: JsonObject, ids: (name: string) => string): ToolCall {
  const wire = objectOf(field(part, 'functionCall'))
  const name = stringOf(wire['name']) ?? ''
  const signature = stringOf(field(part, 'thoughtSignature'))
  return {
    id: stringOf(wire['id']) || ids(name),
    type: 'function',
    function: { name, arguments: argumentsText(wire['args']) },
    ...(signature !== undefined && signed(signature)),
  }
}

/** Where Gemini's own service in OpenAI's dialect puts it too. */
function signed(signature: string): { readonly extra_content: ExtraContent } {
  return { extra_content: { google: { thought_signature: signature } } }
}

function signatureOf(thing: { readonly extra_content?: ExtraContent }): string | undefined {
  return stringOf(extraOf(thing, 'google')['thought_signature'])
}

function signLast(parts: readonly JsonObject[], signature: string): JsonObject[] {
  const last = parts.at(-1) ?? { text: '' }
  return [...parts.slice(0, -1), { ...last, thoughtSignature: signature }]
}

function writePart(part: ContentPart): JsonObject | undefined {
  const wire = part as JsonObject
  if (part.type === 'text') return wire['text'] === '' ? undefined : { text: wire['text'] }
  const url = imageUrlOf(part)
  if (url !== undefined) return writeData(url)
  if (part.type === 'file') {
    const data = stringOf(objectOf(wire['file'])['file_data'])
    return data === undefined ? undefined : writeData(data)
  }
  if (part.type === 'input_audio') {
    const { data, format } = objectOf(wire['input_audio'])
    return writeData(dataUrl(`audio/${stringOf(format) ?? 'wav'}`, String(data)))
  }
  const refusal = refusalOf(part)
  return refusal ? { text: refusal } : undefined
}

function writeData(url: string): JsonObject {
  const inline = parseDataUrl(url)
  if (inline) return { inlineData: { mimeType: inline.mediaType, data: inline.data } }
  const type = imageType(url)
  return { fileData: { ...(type !== undefined && { mimeType: type }), fileUri: url } }
}

/** The media type that the name in an address tells, for Gemini wants one. */
function imageType(url: string): string | undefined {
  const name = /\.(png|jpe?g|webp|gif|heic|heif)(?:[?#]|$)/i.exec(url)?.[1]?.toLowerCase()
  return name && `image/${name === 'jpg' ? 'jpeg' : name}`
}

/** A picture that the model drew, as data or an address. */
function readImage(part: JsonObject): JsonObject | undefined {
  const inline = objectOf(field(part, 'inlineData'))
  const type = stringOf(field(inline, 'mimeType'))
  const data = stringOf(inline['data'])
  if (type?.startsWith('image/') && data !== undefined) return imageAt(dataUrl(type, data))
  const file = objectOf(field(part, 'fileData'))
  const url = stringOf(field(file, 'fileUri'))
  const isImage = (stringOf(field(file, 'mimeType')) ?? 'image/').startsWith('image/')
  return url !== undefined && isImage ? imageAt(url) : undefined
}

function imageAt(url: string): JsonObject {
  return { type: 'image_url', image_url: { url } }
}
