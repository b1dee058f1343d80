import { parseDataUrl } from '../formats/data-url.ts'
import { imageSize } from '../formats/image-size.ts'
import { objectOf, stringOf } from './protocol/json-object.ts'
import { type ContentPart, imageUrlOf, type Message } from './protocol/messages.ts'

/** The parts of a request that cost tokens. */
export interface Countable {
  readonly messages: readonly Pick<Message, 'content' | 'tool_calls'>[]
  readonly tools?: unknown
}

/** Words and structure of each message beside its content. */
const perMessage = 3

/**
 * The tokens of a request, estimated without asking a provider: four UTF-8 bytes of text each (OpenAI's rule of thumb for
 * English); pictures and documents by Anthropic's documentation, never by the length of their bytes.
 */
export function estimateRequestTokens({ messages, tools }: Countable): number {
  const counted = messages.map(({ content, tool_calls: calls }) => tokensOf(content) + (calls ? textTokens(calls) : 0))
  return counted.reduce((sum, tokens) => sum + tokens + perMessage, tools === undefined ? 0 : textTokens(tools))
}

function tokensOf(content: Message['content']): number {
  if (!Array.isArray(content)) return textTokens(content ?? '')
  return (content as readonly ContentPart[]).reduce((sum, part) => sum + partTokens(part), 0)
}

function partTokens(part: ContentPart): number {
  const url = imageUrlOf(part)
  if (url !== undefined) return imageTokens(url)
  const file =
    part.type === 'file' ? stringOf(objectOf((part as Record<string, unknown>)['file'])['file_data']) : undefined
  return textTokens(part) + (file === undefined ? 0 : documentTokens(file))
}

/** From this length on a text is not written as JSON to be counted: characters. */
const longText = 64 * 1024

/** Base64 is not counted as text; the text around it is. */
function textTokens(value: unknown): number {
  if (typeof value === 'string') {
    const quoted = value.length > longText ? Buffer.byteLength(value) + 2 : Buffer.byteLength(JSON.stringify(value))
    return Math.ceil(quoted / 4)
  }
  const text = JSON.stringify(value, function (this: unknown, name, inner) {
    // The data of Anthropic's documents of type `text` is the text itself.
    const isBytes = name === 'file_data' || (name === 'data' && objectOf(this)['type'] !== 'text')
    return isBytes && typeof inner === 'string' ? '' : inner
  })
  return Math.ceil(Buffer.byteLength(text) / 4)
}

/** https://docs.anthropic.com/en/docs/build-with-claude/vision: width × height ÷ 750, for at most 1,568 pixels an edge. */
const pixelsPerToken = 750
const longestEdge = 1568
/** The most that a picture costs there: used for pictures of unknown size. */
const mostImageTokens = 1600

/** Bytes of a file to read for its size: a JPEG has it behind its metadata. */
const headerBytes = 256 * 1024

function imageTokens(url: string): number {
  const size = imageSize(bytesOf(url, headerBytes))
  if (!size) return mostImageTokens
  const scale = Math.min(1, longestEdge / Math.max(size.width, size.height))
  const tokens = Math.ceil((size.width * scale * size.height * scale) / pixelsPerToken)
  return Math.min(Math.max(tokens, 1), mostImageTokens)
}

/** https://docs.anthropic.com/en/docs/build-with-claude/pdf-support gives 1,500 to 3,000 tokens for a page. */
const tokensPerPage = 2250

/** Bytes of a PDF to search for pages; one page where none are found. */
const documentBytes = 1024 * 1024

function documentTokens(url: string): number {
  const inline = parseDataUrl(url)
  if (inline?.mediaType.startsWith('text/')) return Math.ceil((inline.data.length * 3) / 4 / 4)
  const pages =
    bytesOf(url, documentBytes)
      .toString('latin1')
      .match(/\/Type\s*\/Page(?!\w)/g)?.length ?? 0
  return Math.max(1, pages) * tokensPerPage
}

/** The first bytes of a data URL; none of an address. */
function bytesOf(url: string, most: number): Buffer {
  return Buffer.from(parseDataUrl(url)?.data.slice(0, Math.ceil(most / 3) * 4) ?? '', 'base64')
}
