import { isDeepStrictEqual } from 'node:util'
import { dataUrl, parseDataUrl } from '../../../formats/formats.ts'
import {
  argumentsText,
  isObject,
  type JsonObject,
  objectOf,
  parseArguments,
  present,
  restOf,
  stringOf,
} from '../../protocol/json-object.ts'
import {
  type ContentPart,
  contentOf,
  type ExtraContent,
  imageUrlOf,
  type Message,
  refusalOf,
  type TextPart,
  type ToolCall,
} from '../../protocol/messages.ts'
import { extraOf, withExtra } from '../shared/alternation.ts'
import { unsupportedMedia } from '../shared/media-support.ts'
import { isGeneratedId } from '../shared/tool-ids.ts'

/** A field of Gemini's by either of the names that its JSON takes: `inlineData` or `inline_data`. */
export function field(value: JsonObject, name: string): unknown {
  return value[name] ?? value[inSnakeCase(name)]
}

/** Names of Gemini's fields, each by both. */
export function inBothCases(...names: readonly string[]): ReadonlySet<string> {
  return new Set([...names, ...names.map(inSnakeCase)])
}

function inSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/**
 * A message's content as Gemini's parts. Empty texts are left out, and parts that Gemini does not have; where the content
 * is `shown` to the model those throw an AppError `invalid`.
 */
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

/** Gemini's parts as content: a plain text where they are one; a part that only Gemini has stays as it is. */
export function readParts(parts: readonly JsonObject[]): Message['content'] {
  const read = parts.map(readPart)
  const [only] = read
  return read.length === 1 && isPlainText(only!) ? (only as TextPart).text : read
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

/**
 * A turn of the model's as our message; `ids` names the calls that have no id. Parts that our shape cannot express
 * (thoughts, code that ran, signatures between texts) are kept unchanged next to it, for a Gemini provider.
 */
export function readAssistant(parts: readonly JsonObject[], ids: (name: string) => string): Message {
  const message = readAnswer(parts, ids)
  // Calls that Gemini's own client sends without a signature go back without one.
  const isWhole = message.tool_calls === undefined || message.tool_calls.some(signatureOf)
  if (isWhole && isDeepStrictEqual(writeAssistant(message), parts)) return message
  return { ...message, ...mergeParts(message, parts) }
}

/** The same without keeping the parts: an answer, or a piece of one, in our shape. */
export function readAnswer(parts: readonly JsonObject[], ids: (name: string) => string): Message {
  const texts = parts.filter((part) => typeof part['text'] === 'string' && part['thought'] !== true)
  const reasoning = parts.filter((part) => part['thought'] === true).map((part) => stringOf(part['text']) ?? '')
  const calls = parts.filter((part) => isObject(field(part, 'functionCall'))).map((part) => readCall(part, ids))
  const images = parts.map(readPart).filter((part) => part.type === 'image_url')
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
export function writeCall(call: ToolCall): JsonObject {
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

function mergeParts(message: Message, parts: readonly JsonObject[]): { readonly extra_content: ExtraContent } {
  return { extra_content: { ...message.extra_content, gemini: { parts } } }
}

function writePart(part: ContentPart): JsonObject | undefined {
  const extra = extraOf(part as TextPart, 'gemini')
  const wire = part as JsonObject
  if (part.type === 'foreign') return wire['dialect'] === 'gemini' ? objectOf(wire['value']) : undefined
  if (part.type === 'text') return wire['text'] === '' ? undefined : { ...extra, text: wire['text'] }
  const url = imageUrlOf(part)
  if (url !== undefined) return writeData(url, extra)
  if (part.type === 'file') {
    const data = stringOf(objectOf(wire['file'])['file_data'])
    return data === undefined ? undefined : writeData(data, extra)
  }
  if (part.type === 'input_audio') {
    const { data, format } = objectOf(wire['input_audio'])
    return writeData(dataUrl(`audio/${stringOf(format) ?? 'wav'}`, String(data)), extra)
  }
  const refusal = refusalOf(part)
  return refusal ? { text: refusal } : undefined
}

function writeData(url: string, { mimeType, displayName, ...extra }: JsonObject): JsonObject {
  const inline = parseDataUrl(url)
  const named = displayName === undefined ? {} : { displayName }
  if (inline) return { ...extra, inlineData: { mimeType: inline.mediaType, ...named, data: inline.data } }
  const type = mimeType ?? imageType(url)
  return { ...extra, fileData: { ...(type !== undefined && { mimeType: type }), fileUri: url } }
}

/** The media type that the name in an address tells, for Gemini wants one. */
function imageType(url: string): string | undefined {
  const name = /\.(png|jpe?g|webp|gif|heic|heif)(?:[?#]|$)/i.exec(url)?.[1]?.toLowerCase()
  return name && `image/${name === 'jpg' ? 'jpeg' : name}`
}

/** The types of sound that OpenAI's dialect has a name for, as they are written here. */
const soundFormats = new Map([
  ['audio/wav', 'wav'],
  ['audio/mp3', 'mp3'],
])

const dataFields = inBothCases('inlineData', 'fileData')

/** One of Gemini's parts; one that only Gemini has stays as it is. */
export function readPart(part: JsonObject): ContentPart {
  if (typeof part['text'] === 'string' && part['thought'] !== true) {
    const { text, ...rest } = part
    return { type: 'text', text: text as string, ...withExtra('gemini', restOf(rest, new Set())) }
  }
  const extra = restOf(part, dataFields)
  const inline = objectOf(field(part, 'inlineData'))
  const mimeType = stringOf(field(inline, 'mimeType'))
  const data = stringOf(inline['data'])
  if (mimeType !== undefined && data !== undefined) {
    const url = dataUrl(mimeType, data)
    const name = field(inline, 'displayName')
    const own = withExtra('gemini', name === undefined ? extra : { ...extra, displayName: name })
    const format = soundFormats.get(mimeType)
    if (format !== undefined) return { type: 'input_audio', input_audio: { data, format }, ...own }
    if (mimeType.startsWith('image/')) return { type: 'image_url', image_url: { url }, ...own }
    return { type: 'file', file: { file_data: url }, ...own }
  }
  const file = objectOf(field(part, 'fileData'))
  const url = stringOf(field(file, 'fileUri'))
  const type = stringOf(field(file, 'mimeType'))
  if (url !== undefined && (type ?? 'image/').startsWith('image/')) {
    const own = { ...extra, ...(type !== undefined && { mimeType: type }) }
    return {
      type: 'image_url',
      image_url: { url },
      ...withExtra('gemini', Object.keys(own).length > 0 ? own : undefined),
    }
  }
  return { type: 'foreign', dialect: 'gemini', value: part }
}

function isPlainText(part: ContentPart): boolean {
  return part.type === 'text' && part['extra_content'] === undefined
}
