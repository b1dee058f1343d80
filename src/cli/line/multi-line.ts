/** The mark that begins and ends a text of several lines. */
const fence = '"""'

/** Whether a text is a block of three quotes that has not ended. */
export function isOpenBlock(text: string): boolean {
  const trimmed = text.trim()
  return trimmed.startsWith(fence) && !(trimmed.endsWith(fence) && trimmed.length >= 2 * fence.length)
}

/** Whether a backslash that is none of a pair ends a line: the text goes on in the next one. */
export function endsInBackslash(line: string): boolean {
  return /(?<!\\)\\*$/.exec(line)![0].length % 2 === 1
}

/** The text without the quotes around its block. */
export function withoutFence(text: string): string {
  const trimmed = text.trim()
  if (!trimmed.startsWith(fence) || isOpenBlock(text)) return text
  return trimmed.slice(fence.length, -fence.length).replace(/^\n|\n$/g, '')
}
