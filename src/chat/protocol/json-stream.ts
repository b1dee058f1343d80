import { StringDecoder } from 'node:string_decoder'
import { DialectError } from './dialect.ts'
import { lineLimit } from './sse.ts'

/**
 * Cuts a stream of JSON objects into the text of each, as they come: one object, several after each other, as Ollama
 * streams, or the objects of one array, which is how Gemini streams without `alt=sse`. Text between them is skipped.
 */
export function createJsonReader(limit: number = lineLimit) {
  const decoder = new StringDecoder('utf8')
  let value = ''
  let depth = 0
  let inArray = false
  let inText = false
  let escaped = false

  function take(text: string): string[] {
    const values: string[] = []
    let start = depth > 0 ? 0 : -1
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (inText) {
        if (escaped) escaped = false
        else if (code === backslash) escaped = true
        else if (code === quote) inText = false
      } else if (code === quote) inText = depth > 0
      else if (code === braceOpen || (code === bracketOpen && depth > 0)) {
        if (depth++ === 0) start = at
      } else if (code === bracketOpen) inArray = true
      else if (code === braceClose || code === bracketClose) {
        if (depth === 0) inArray = false
        else if (--depth === 0) {
          values.push(value + text.slice(start, at + 1))
          value = ''
          start = -1
        }
      }
    }
    if (start !== -1) value += text.slice(start)
    if (value.length > limit)
      throw new DialectError('broken', { message: `The provider sent a value of more than ${limit} characters` })
    return values
  }

  return {
    /** The texts of the values that these bytes complete. Throws a DialectError for a value over the limit. */
    push: (bytes: Uint8Array) => take(decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))),
    /** Nothing: a value that the body cut off is dropped. */
    end: () => [],
    /** True while a value is begun and not ended, or the array around the values is still open. */
    get open(): boolean {
      return depth > 0 || inArray
    },
  }
}

const quote = 34
const backslash = 92
const bracketOpen = 91
const bracketClose = 93
const braceOpen = 123
const braceClose = 125
