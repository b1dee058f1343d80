import {
  isObject,
  type JsonObject,
  objectOf,
  objectsOf,
  present,
  restOf,
  stringOf,
} from '../../protocol/json-object.ts'
import { type ContentPart, imageUrlOf, type Message, refusalOf } from '../../protocol/messages.ts'
import { extraOf, withExtra } from '../shared/alternation.ts'
import { unsupportedMedia } from '../shared/media-support.ts'

/** A message's content, or a tool's output, as parts; a single plain text stays text. A part that only this dialect has stays as it is. */
export function readParts(content: unknown): Message['content'] {
  if (typeof content === 'string') return content
  const parts = objectsOf(content).map(readPart)
  const [only] = parts
  return parts.length === 1 && only?.type === 'text' && !('extra_content' in only) ? String(only['text']) : parts
}

const textFields = new Set(['type', 'text'])
const imageFields = new Set(['type', 'image_url', 'detail'])
const fileFields = new Set(['type', 'filename', 'file_data', 'file_id'])

function readPart(part: JsonObject): ContentPart {
  const { type, text, image_url: url, file_url: fileUrl, file_data: data, file_id: id } = part
  if (isText(part))
    return { type: 'text', text: String(text), ...withExtra('responses', restOf(filled(part), textFields)) }
  if (type === 'refusal' && typeof part['refusal'] === 'string') return { type: 'refusal', refusal: part['refusal'] }
  if (type === 'input_image' && typeof url === 'string') {
    const detail = stringOf(part['detail'])
    const image = { url, ...(detail !== undefined && { detail }) }
    return { type: 'image_url', image_url: image, ...withExtra('responses', restOf(filled(part), imageFields)) }
  }
  if (type === 'input_file' && fileUrl == null && (typeof data === 'string' || typeof id === 'string')) {
    const { type: _type, ...file } = filled(part)
    const known = Object.fromEntries(Object.entries(file).filter(([name]) => fileFields.has(name)))
    return { type: 'file', file: known, ...withExtra('responses', restOf(filled(part), fileFields)) }
  }
  if (type === 'input_audio' && isObject(part['input_audio'])) return { type, input_audio: part['input_audio'] }
  return { type: 'foreign', dialect: 'responses', value: part }
}

/** Whether a part is a text of any of its three names. */
export function isText({ type, text }: JsonObject): boolean {
  return typeof text === 'string' && (type === 'input_text' || type === 'output_text' || type === 'text')
}

/** A part without its empty fields, which say nothing. */
function filled(part: JsonObject): JsonObject {
  const isFilled = (value: unknown) => value !== null && !(Array.isArray(value) && value.length === 0)
  return Object.fromEntries(Object.entries(part).filter(([, value]) => isFilled(value)))
}

/** Content as this dialect's. Parts that it lacks are left out; where content is `shown` they throw `invalid`. */
export function writeParts(
  content: Message['content'],
  shown: boolean,
  textType = 'input_text',
): string | JsonObject[] {
  if (!Array.isArray(content)) return (content as string | null) ?? ''
  const parts = present(
    content.map((part) => {
      const wire = writePart(part, textType)
      if (!wire && shown) throw unsupportedMedia(part, 'openai-responses')
      return wire
    }),
  )
  const [only] = parts
  return parts.length === 1 && isText(only!) && Object.keys(only!).length === 2 ? String(only!['text']) : parts
}

function writePart(part: ContentPart, textType: string): JsonObject | undefined {
  const wire = part as JsonObject
  const extra = extraOf(part as Pick<Message, 'extra_content'>, 'responses')
  if (part.type === 'foreign') return wire['dialect'] === 'responses' ? objectOf(wire['value']) : undefined
  if (part.type === 'text') return { type: textType, text: wire['text'], ...extra }
  const url = imageUrlOf(part)
  if (url !== undefined) {
    const { detail } = objectOf(wire['image_url'])
    return { type: 'input_image', image_url: url, ...(detail !== undefined && { detail }), ...extra }
  }
  if (part.type === 'file') return { type: 'input_file', ...objectOf(wire['file']), ...extra }
  const refusal = refusalOf(part)
  return refusal
    ? {
        type: textType === 'output_text' ? 'refusal' : textType,
        [textType === 'output_text' ? 'refusal' : 'text']: refusal,
      }
    : undefined
}
