import type { ContentPart, ToolResult } from '../chat/chat.ts'
import { dataUrl } from '../formats/formats.ts'

/** The most parts of a result that are read. */
const mostParts = 1_000

type Unread<Names extends string> = { readonly [Name in Names]?: unknown }

interface Part extends Unread<'type' | 'text' | 'data' | 'mimeType' | 'uri'> {
  readonly resource?: Unread<'uri' | 'mimeType' | 'text' | 'blob'> | undefined
}

/** A result as a message: texts, pictures, sounds, PDF files, what else there is by type; else its structured form. */
export function contentOfResult(result: {
  readonly content?: unknown
  readonly structuredContent?: unknown
  readonly isError?: boolean | undefined
}): ToolResult {
  const parts = Array.isArray(result.content) ? (result.content as readonly Part[]).slice(0, mostParts) : []
  const content = parts.map(partOf)
  const isEmpty = content.every((part) => part.type === 'text' && part['text'] === '')
  const { structuredContent } = result
  const whole = structuredContent === undefined ? '(no output)' : JSON.stringify(structuredContent)
  return { content: isEmpty ? [textPart(whole)] : content, isError: result.isError === true }
}

function partOf({ type, text, data, mimeType, uri, resource }: Part): ContentPart {
  if (typeof text === 'string') return textPart(text)
  if (typeof resource?.text === 'string') return textPart(resource.text)
  const media = mediaOf(resource?.mimeType ?? mimeType, resource?.blob ?? data, resource?.uri)
  if (media) return media
  const about = [mimeType ?? resource?.mimeType, uri, resource?.uri]
    .filter((word) => typeof word === 'string')
    .join(' ')
  return textPart(`[${typeof type === 'string' ? type : 'part'}${about === '' ? '' : ` ${about}`}]`)
}

/** The pictures that all providers read. */
const pictures = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

/** Names of OpenAI's for sound (https://platform.openai.com/docs/guides/audio); other formats are read by nobody. */
const sounds: ReadonlyMap<string, string> = new Map([
  ['audio/wav', 'wav'],
  ['audio/x-wav', 'wav'],
  ['audio/wave', 'wav'],
  ['audio/mpeg', 'mp3'],
  ['audio/mp3', 'mp3'],
])

/** Bytes in base64 as a part; undefined where they are none, or of a type that no provider reads. */
function mediaOf(mimeType: unknown, data: unknown, uri: unknown): ContentPart | undefined {
  if (typeof mimeType !== 'string' || typeof data !== 'string' || !/^[\w+/-]+={0,2}$/.test(data)) return undefined
  const type = mimeType.toLowerCase().split(';', 1)[0]!.trim()
  if (pictures.includes(type)) return { type: 'image_url', image_url: { url: dataUrl(type, data) } }
  const format = sounds.get(type)
  if (format !== undefined) return { type: 'input_audio', input_audio: { data, format } }
  if (type !== 'application/pdf') return undefined
  const name = typeof uri === 'string' ? uri.split(/[?#]/, 1)[0]!.split('/').at(-1)!.slice(-200) : ''
  return { type: 'file', file: { filename: name || 'file.pdf', file_data: dataUrl(type, data) } }
}

function textPart(text: string): ContentPart {
  return { type: 'text', text }
}
