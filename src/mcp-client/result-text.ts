import type { ToolResult } from '../chat/tools/tool-server.ts'

/** The most parts of a result that are read. */
const mostParts = 1_000

interface Part {
  readonly type?: unknown
  readonly text?: unknown
  readonly mimeType?: unknown
  readonly uri?: unknown
  readonly resource?: { readonly uri?: unknown; readonly text?: unknown } | undefined
}

/**
 * A result as text for a model: its texts, and the type and address of pictures, sounds and links. Without any, its
 * structured form.
 */
export function textOfResult(result: {
  readonly content?: unknown
  readonly structuredContent?: unknown
  readonly isError?: boolean | undefined
}): ToolResult {
  const parts = Array.isArray(result.content) ? (result.content as readonly Part[]).slice(0, mostParts) : []
  const text = parts.map(textOf).join('\n')
  const whole = text === '' && result.structuredContent !== undefined ? JSON.stringify(result.structuredContent) : text
  return { text: whole === '' ? '(no output)' : whole, isError: result.isError === true }
}

function textOf({ type, text, mimeType, uri, resource }: Part): string {
  if (typeof text === 'string') return text
  if (typeof resource?.text === 'string') return resource.text
  const about = [mimeType, uri, resource?.uri].filter((word) => typeof word === 'string').join(' ')
  return `[${typeof type === 'string' ? type : 'part'}${about === '' ? '' : ` ${about}`}]`
}
