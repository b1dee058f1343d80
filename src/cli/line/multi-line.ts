/** The mark that begins and ends a text of several lines. */
const fence = '"""'

/**
 * The text with a next line begun, where Enter does not end it: behind a backslash at its end, which goes, and within a block
 * of three quotes. Undefined where it ends.
 */
export function continues(text: string, cursor: number): string | undefined {
  if (isOpenBlock(text)) return `${text.slice(0, cursor)}\n${text.slice(cursor)}`
  const [backslashes] = /(?<!\\)\\*$/.exec(text)!
  if (cursor !== text.length || backslashes.length % 2 === 0) return undefined
  return `${text.slice(0, -1)}\n`
}

/** The text without the quotes around its block. */
export function withoutFence(text: string): string {
  const trimmed = text.trim()
  if (!trimmed.startsWith(fence) || isOpenBlock(text)) return text
  return trimmed.slice(fence.length, -fence.length).replace(/^\n|\n$/g, '')
}

function isOpenBlock(text: string): boolean {
  const trimmed = text.trim()
  return trimmed.startsWith(fence) && !(trimmed.endsWith(fence) && trimmed.length >= 2 * fence.length)
}
