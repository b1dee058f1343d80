import { parseDataUrl } from '../../formats/formats.ts'
import { type JsonObject, objectOf, stringOf } from './json-object.ts'
import { type ContentPart, imageUrlOf } from './messages.ts'

/** The parts of a message that are no text, by what a model needs to take them. */
export type MediaKind = 'image' | 'audio' | 'file'

/** The kind of a picture, sound or file; undefined for a text, and for a part of one dialect alone. */
export function mediaKind(part: ContentPart): MediaKind | undefined {
  if (imageUrlOf(part) !== undefined) return 'image'
  if (part.type === 'input_audio') return 'audio'
  return part.type === 'file' ? 'file' : undefined
}

const names = {
  image: { one: 'a picture', many: 'pictures' },
  audio: { one: 'a sound', many: 'sounds' },
  file: { one: 'a file', many: 'files' },
} as const

/** The words for a part of a kind, and for several: `a picture`, `pictures`. */
export function mediaNames(part: ContentPart): { readonly one: string; readonly many: string } {
  return names[mediaKind(part) ?? 'file']
}

/** The base64 in a part, and its media type; undefined where it holds none, such as an address. */
export function mediaBytes(part: ContentPart): { readonly mediaType: string; readonly data: string } | undefined {
  const wire = part as JsonObject
  const { data, format } = objectOf(wire['input_audio'])
  if (part.type === 'input_audio')
    return typeof data === 'string' ? { mediaType: `audio/${stringOf(format) ?? 'wav'}`, data } : undefined
  const url = imageUrlOf(part) ?? stringOf(objectOf(wire['file'])['file_data'])
  return url === undefined ? undefined : parseDataUrl(url)
}

/** The bytes that the base64 of a part stands for; 0 where it holds none. */
export function mediaSize(part: ContentPart): number {
  const { data = '' } = mediaBytes(part) ?? {}
  return Math.floor((data.length * 3) / 4)
}
