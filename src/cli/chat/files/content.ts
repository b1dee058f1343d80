import { estimateRequestTokens } from '../../../chat/chat.ts'
import { AppError } from '../../../errors.ts'
import { charsetOfPage, dataUrl, textOfBytes } from '../../../formats/formats.ts'
import type { Attachment } from './attachment.ts'
import { delimited, fileTag, shownName } from './delimited.ts'

/** The bytes of a file and where they came from. */
export interface Content {
  readonly name: string
  readonly bytes: Buffer
  /** The media type that a server named, and its character set. */
  readonly type?: string | undefined
  readonly charset?: string | undefined
  readonly isAddress?: boolean
}

/** Signatures of pictures that models read. */
const pictures: readonly (readonly [type: string, pattern: RegExp])[] = [
  ['image/png', /^\x89PNG\r\n\x1a\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF[\s\S]{4}WEBP/],
]

/** The media type of a picture or a PDF by its first bytes, or by its name where it is a broken PDF; undefined for others. */
function typeOf({ name, bytes, type }: Content): string | undefined {
  const beginning = bytes.subarray(0, 16).toString('latin1')
  const picture = pictures.find(([, pattern]) => pattern.test(beginning))?.[0]
  if (picture) return picture
  const isPdf = beginning.startsWith('%PDF-') || type === 'application/pdf' || (!type && /\.pdf$/i.test(name))
  return isPdf ? 'application/pdf' : undefined
}

const textTypes = /^text\/|^application\/(?:json|xml|javascript|yaml)$|\+(?:json|xml)$/

/** Whether a file is no picture and no PDF; it may still be binary. */
export function isText(content: Content): boolean {
  return typeOf(content) === undefined
}

/**
 * A file as parts of a message: a picture as it is, the text of a PDF, the main text of a page, or the text itself. Throws
 * `invalid` for a binary file, and the errors of `readPdf` and `readPage`.
 */
export async function attachmentOf(content: Content, signal: AbortSignal): Promise<Attachment> {
  const { name, bytes, isAddress } = content
  const type = typeOf(content)
  const where = { [isAddress ? 'url' : 'path']: name }
  if (type?.startsWith('image/')) {
    const url = dataUrl(type, bytes.toString('base64'))
    const label = { type: 'text' as const, text: fileTag({ ...where, type }, true) }
    return attachment(content, type, [label, { type: 'image_url', image_url: { url } }])
  }
  if (type === 'application/pdf') {
    const { readPdf } = await import('../../../formats/document-text.ts')
    const { text, title, pages } = await readPdf(bytes, shownName(name), signal)
    return attachment(content, type, [textPart({ ...where, type, title, pages: String(pages) }, text)])
  }
  if (isPage(content)) {
    const { readPage } = await import('../../../formats/document-text.ts')
    const { text, title } = await readPage(textIn(content, charsetOfPage(bytes)), shownName(name), signal)
    return attachment(content, 'text/html', [textPart({ ...where, title }, text)])
  }
  return attachment(content, content.type ?? 'text/plain', [textPart(where, textIn(content))])
}

/** Pages of the web are read for their main text; a file of HTML is its source. */
function isPage({ type, isAddress }: Content): boolean {
  return isAddress === true && (type === 'text/html' || type === 'application/xhtml+xml')
}

function textIn({ name, bytes, charset, isAddress, type }: Content, inner?: string): string {
  // Pages of the web have wrong bytes here and there.
  const isLenient = isAddress === true && type !== undefined && textTypes.test(type)
  const text = textOfBytes(bytes, charset ?? inner, isLenient)
  if (text !== undefined) return text
  const kind = isAddress && type ? ` (its type is ${shownName(type)})` : ''
  throw new AppError(
    isAddress ? 'unsupported_media' : 'invalid',
    `${shownName(name)} is neither text, a PDF nor an image (png, jpg, gif, webp)${kind}`,
  )
}

function textPart(attributes: Readonly<Record<string, string | undefined>>, text: string) {
  return { type: 'text' as const, text: delimited(attributes, text) }
}

function attachment({ name, bytes }: Content, type: string, parts: Attachment['parts']): Attachment {
  const empty = estimateRequestTokens({ messages: [{ content: [] }] })
  return {
    name,
    type,
    bytes: bytes.length,
    tokens: estimateRequestTokens({ messages: [{ content: [...parts] }] }) - empty,
    parts,
  }
}
