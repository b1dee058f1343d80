import { count, bytes as size } from '../../page/format.ts'
import { ask } from '../../wire/client.ts'
import type { DocumentText } from '../../wire/types.ts'

/** A part of a message, as a chat request has it. */
export interface Part {
  readonly type: string
  readonly text?: string
  readonly image_url?: { readonly url?: string }
  readonly file?: { readonly filename?: string }
}

/** A file that goes with a question. */
export interface Attachment {
  readonly key: string
  readonly name: string
  /** What becomes of it, such as `its text, 3 pages`. */
  readonly note: string
  readonly parts: readonly Part[]
  /** Of a picture: an address that this page may show. */
  readonly address?: string
  /** It is still being read. */
  readonly isReading?: boolean
  /** Why it cannot go with the question. */
  readonly problem?: string
}

/** Pictures that providers take. */
const pictureTypes = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

/** The largest file: bytes, so that its base64 fits into a request of 32 MiB. */
const mostBytes = 20 * 1024 * 1024

let lastKey = 0

/** An attachment that stands for a file until it is read. */
export function unread(file: File): Attachment {
  return {
    key: `file-${++lastKey}`,
    name: file.name,
    note: `${size(file.size)}, being read`,
    parts: [],
    isReading: true,
  }
}

/** Reads a file: a picture goes as it is, of a PDF its text goes, and a text as it is. A file that cannot go says why. */
export async function readAttachment({ key, name }: Attachment, file: File): Promise<Attachment> {
  const refused = (problem: string) => ({ key, name, note: '', parts: [], problem })
  if (file.size > mostBytes) return refused(`is larger than ${size(mostBytes)}`)
  if (file.size === 0) return refused('is empty')
  try {
    if (pictureTypes.includes(file.type)) {
      const image_url = { url: await dataUrl(file) }
      const address = URL.createObjectURL(file)
      return { key, name, note: `a picture, ${size(file.size)}`, parts: [{ type: 'image_url', image_url }], address }
    }
    if (file.type === 'application/pdf' || /\.pdf$/i.test(name)) {
      const data = (await dataUrl(file)).split(',')[1] ?? ''
      const { text, pages = 0 } = await ask<DocumentText>('POST', '/api/documents/text', { body: { name, data } })
      return {
        key,
        name,
        note: `its text, ${pages === 1 ? '1 page' : `${count(pages)} pages`}`,
        parts: [filePart(name, text)],
      }
    }
    const text = new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer())
    if (text.includes('\0')) return refused(unknownKind)
    return { key, name, note: `its text, ${count(text.length)} characters`, parts: [filePart(name, text)] }
  } catch (reason) {
    return refused(reason instanceof TypeError ? unknownKind : `cannot go: ${(reason as Error).message}`)
  }
}

const unknownKind = 'is neither text, a PDF nor a picture (PNG, JPEG, GIF, WebP)'

/** A text between tags with the name of its file, as the command line sends it. It cannot end itself. */
function filePart(name: string, text: string): Part {
  const path = name.replace(/[&<>"\p{Cc}]/gu, (character) => `&#${character.codePointAt(0)};`)
  const inside = text.replace(/<(?=\s{0,9}(?:\/\s{0,9})?file\b)/gi, '&lt;')
  return { type: 'text', text: `<file path="${path}">\n${inside}\n</file>` }
}

/** The words of a saved message, and the files that went with it. Texts of several parts are saved as one. */
export function readContent(content: unknown): { readonly text: string; readonly attachments: readonly Attachment[] } {
  const parts = Array.isArray(content) ? (content as readonly Part[]) : [{ type: 'text', text: String(content ?? '') }]
  const attachments: Attachment[] = []
  const texts: string[] = []
  for (const part of parts) {
    const key = `file-${++lastKey}`
    if (part.type === 'text') texts.push(withoutFiles(part.text ?? '', attachments))
    else {
      const url = part.image_url?.url
      const address = url === undefined ? undefined : addressOf(url)
      const name = part.file?.filename ?? (url === undefined ? 'a file' : 'a picture')
      attachments.push({ key, name, note: '', parts: [part], ...(address && { address }) })
    }
  }
  return { text: texts.filter((text) => text !== '').join('\n'), attachments }
}

const fileEnd = '\n</file>'

/** A text without the files at its beginning, which go to the attachments. */
function withoutFiles(text: string, attachments: Attachment[]): string {
  let rest = text
  for (;;) {
    const [tag, name, isEmpty] = /^<file (?:path|url)="([^"]{0,1000})"[^>]{0,1000}?(\/?)>/.exec(rest) ?? []
    // The command line puts a tag without content before a picture.
    const end = tag === undefined || isEmpty ? (tag?.length ?? -1) : rest.indexOf(fileEnd) + fileEnd.length
    if (name === undefined || end < tag!.length) return rest
    const block = rest.slice(0, end)
    if (!isEmpty)
      attachments.push({
        key: `file-${++lastKey}`,
        name: plainName(name),
        note: `its text, ${count(end - tag!.length - fileEnd.length)} characters`,
        parts: [{ type: 'text', text: block }],
      })
    rest = rest.slice(end).replace(/^\n/, '')
  }
}

function plainName(written: string): string {
  const names: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' }
  return written.replace(/&(?:(amp|lt|gt|quot)|#(\d{1,7}));/g, (_, named: string | undefined, code: string) =>
    named ? names[named]! : String.fromCodePoint(Number(code)),
  )
}

/** An address of this page for the bytes of a `data:` URL, which its policy does not show. */
function addressOf(url: string): string | undefined {
  const [, type, data] = /^data:(image\/[\w.+-]{1,50});base64,(.*)$/s.exec(url) ?? []
  if (type === undefined || !pictureTypes.includes(type)) return undefined
  return URL.createObjectURL(new Blob([Uint8Array.from(atob(data!), (letter) => letter.charCodeAt(0))], { type }))
}

function dataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => resolve(String(reader.result)))
    reader.addEventListener('error', () => reject(new Error(`${file.name} cannot be read`)))
    reader.readAsDataURL(file)
  })
}
