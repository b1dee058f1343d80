import { randomUUID } from 'node:crypto'

/** The text of an event, cut around one string in it: events that repeat the text need not be parsed. */
export interface TextFrame {
  readonly before: string
  /** The string itself. */
  readonly content: string
  readonly after: string
}

/** Stands for the string while an event is parsed; made again in each process, so that no provider can send it. */
export const mark = randomUUID()

/** Cuts a text at the string that follows `begin`, which ends in a quotation mark; undefined where there is none, or one with escapes. */
export function cutAt(begin: string, text: string): TextFrame | undefined {
  const start = text.indexOf(begin) + begin.length
  const end = text.indexOf('"', start)
  if (start < begin.length || end === -1) return undefined
  const content = text.slice(start, end)
  return isLiteral(content) ? { before: text.slice(0, start), content, after: text.slice(end) } : undefined
}

/** The text with the mark in the place of the string: where it is parsed, the mark shows which field the string is. */
export function marked({ before, after }: TextFrame): string {
  return before + mark + after
}

/** The string in a text that is the frame's around it; undefined for every other text, which must be parsed. */
export function contentIn({ before, after }: TextFrame, text: string): string | undefined {
  const end = text.length - after.length
  // `startsWith` reads character by character, and takes as long as to parse the text.
  if (end < before.length || text.slice(0, before.length) !== before || text.slice(end) !== after) return undefined
  return stringIn(text.slice(before.length, end))
}

/** The string that these characters are between two quotation marks of JSON; undefined where they are not one. */
function stringIn(text: string): string | undefined {
  if (isLiteral(text)) return text
  try {
    const value: unknown = JSON.parse(`"${text}"`)
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}

/** Whether a string of JSON means what it says: no escape, end or forbidden character is in it (RFC 8259, section 7). */
function isLiteral(text: string): boolean {
  return !/["\\\u0000-\u001f]/.test(text)
}
