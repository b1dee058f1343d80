/**
 * The pictures, sounds and files of saved conversations. They are kept apart from their messages, by the SHA-256 of their
 * bytes, and stand in them as references: a saved message is short, and the same picture is kept once in a conversation.
 */
import { webcrypto } from 'node:crypto'
import {
  type ContentPart,
  imageUrlOf,
  type JsonObject,
  type Message,
  mediaBytes,
  mediaNames,
  objectOf,
  textOf,
} from '../../chat/chat.ts'
import { dataUrl } from '../../formats/formats.ts'
import type { KeptFile, SavedMessage } from './conversation.ts'

/** A reference in the place of base64 or of a `data:` URL. */
interface Reference {
  readonly type: string
  readonly size: number
  readonly hash: string
}

const pattern = /^kept:([\w.+-]{1,100}\/[\w.+-]{1,100});size=(\d{1,12});sha256=([\da-f]{64})$/

/**
 * A message as it is stored, and its files. Of a part that is neither text, a file in base64 nor the address of a picture
 * only its type is kept, and a message without files is one text.
 */
export async function withFilesApart(
  message: Message,
): Promise<{ readonly message: Message; readonly files: readonly KeptFile[] }> {
  const files: KeptFile[] = []
  const apart = async (parts: readonly ContentPart[]) => {
    const stored: ContentPart[] = []
    for (const part of parts) stored.push(await storedPart(part, files))
    return stored
  }
  const { content, images } = message
  const drawn = Array.isArray(images) && images.length > 0 ? { images: await apart(images) } : {}
  if (!Array.isArray(content)) return { message: { ...message, ...drawn }, files }
  const parts = await apart(content)
  const isText = parts.every(({ type }) => type === 'text')
  return { message: { ...message, content: isText ? textsOf(parts) : parts, ...drawn }, files }
}

async function storedPart(part: ContentPart, files: KeptFile[]): Promise<ContentPart> {
  const inline = mediaBytes(part)
  if (part.type === 'text' || /^https?:/i.test(imageUrlOf(part) ?? '')) return part
  const bytes = Buffer.from(inline?.data ?? '', 'base64')
  if (!inline || bytes.length === 0) return placeholder(part)
  const hash = Buffer.from(await webcrypto.subtle.digest('SHA-256', bytes)).toString('hex')
  const reference = `kept:${inline.mediaType.toLowerCase()};size=${bytes.length};sha256=${hash}`
  if (!pattern.test(reference)) return placeholder(part)
  files.push({ hash, bytes })
  return withSource(part, reference)
}

/** Stands for a part of which nothing is kept. */
function placeholder({ type }: ContentPart): ContentPart {
  return { type: 'text', text: `[${type}]` }
}

/** A part with other bytes, or a reference to them. */
function withSource(part: ContentPart, source: string): ContentPart {
  const { image_url: image, input_audio: audio, file } = part as JsonObject
  if (part.type === 'input_audio') return { ...part, input_audio: { ...objectOf(audio), data: source } }
  if (part.type === 'file') return { ...part, file: { ...objectOf(file), file_data: source } }
  return { ...part, image_url: { ...objectOf(image), url: source } }
}

function referenceOf(part: ContentPart): Reference | undefined {
  const { input_audio: audio, file } = part as JsonObject
  const source = imageUrlOf(part) ?? objectOf(audio)['data'] ?? objectOf(file)['file_data']
  const [, type, size, hash] = (typeof source === 'string' && pattern.exec(source)) || []
  return hash === undefined ? undefined : { type: type!, size: Number(size), hash }
}

function partsIn({ content, images }: Message): readonly ContentPart[] {
  return [content, images].flatMap((parts) => (Array.isArray(parts) ? (parts as readonly ContentPart[]) : []))
}

/** Reads the bytes of those hashes that are kept. */
type ReadFiles = (hashes: readonly string[]) => Promise<ReadonlyMap<string, Uint8Array>>

/**
 * Saved messages with their files, the latest first, as far as their bytes fit into `room`. One that does not fit, or is not
 * kept any more, is replaced by a text that says so; `left` is their number.
 */
export async function withFiles(
  saved: readonly SavedMessage[],
  room: number,
  read: ReadFiles,
): Promise<{ readonly messages: readonly SavedMessage[]; readonly left: number }> {
  const wanted = new Set<string>()
  let rest = room
  for (const { hash, size } of saved.flatMap(({ message }) => partsIn(message).flatMap(listed)).toReversed()) {
    if (wanted.has(hash)) continue
    rest -= size
    if (rest < 0) break
    wanted.add(hash)
  }
  if (rest === room) return { messages: saved, left: 0 }
  const files = await read([...wanted])
  let left = 0
  const restored = (part: ContentPart): ContentPart => {
    const reference = referenceOf(part)
    if (!reference) return part
    const bytes = files.get(reference.hash)
    if (bytes) return withSource(part, sourceOf(part, reference.type, bytes))
    left++
    const reason = wanted.has(reference.hash) ? 'it is not kept any more' : 'it does not fit beside the later ones'
    return { type: 'text', text: `[${mediaNames(part).one} was left out: ${reason}]` }
  }
  const messages = saved.map((each) =>
    partsIn(each.message).some(referenceOf) ? { ...each, message: mapParts(each.message, restored) } : each,
  )
  return { messages, left }
}

function listed(part: ContentPart): readonly Reference[] {
  const reference = referenceOf(part)
  return reference ? [reference] : []
}

function sourceOf({ type }: ContentPart, mediaType: string, bytes: Uint8Array): string {
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  return type === 'input_audio' ? data : dataUrl(mediaType, data)
}

function mapParts(message: Message, change: (part: ContentPart) => ContentPart): Message {
  const { content, images } = message
  return {
    ...message,
    ...(Array.isArray(content) && { content: content.map(change) }),
    ...(Array.isArray(images) && { images: images.map(change) }),
  }
}

/** Saved messages without the addresses of pictures, for a chat that must stay on this machine. */
export function withoutAddresses(saved: readonly SavedMessage[]): readonly SavedMessage[] {
  const isAddress = (part: ContentPart) => /^https?:/i.test(imageUrlOf(part) ?? '')
  return saved.map((each) => {
    if (!partsIn(each.message).some(isAddress)) return each
    return { ...each, message: mapParts(each.message, (part) => (isAddress(part) ? placeholder(part) : part)) }
  })
}

/** A message as it is shown without its files: one text, with the type of each part that is none. */
export function withoutFiles(message: Message): Message {
  const { content, images, ...rest } = message
  const drawn = Array.isArray(images) ? (images as readonly ContentPart[]).filter((part) => !referenceOf(part)) : []
  const text = Array.isArray(content) ? textsOf(content) : (content as string | null)
  return { ...rest, content: text, ...(drawn.length > 0 && { images: drawn }) }
}

/** The texts of parts, one in a line, and the types of the others. */
export function textsOf(parts: readonly ContentPart[]): string {
  return parts.map((part) => (part.type === 'text' ? textOf([part]) : `[${part.type}]`)).join('\n')
}
