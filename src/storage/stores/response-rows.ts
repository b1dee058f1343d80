import type { Item, ResponseObject } from '../../chat/chat.ts'
import { yieldToEventLoop } from '../../process/process.ts'
import type { Statement, Work } from '../port/port.ts'

/** The position of the first item of a response's output; its input has fewer. */
export const firstOutput = 1_000_000

/** Characters of JSON that are parsed, or written, in one turn of the event loop: some milliseconds' work. */
const parsedAtOnce = 1 << 20

/** Items of one id that are looked through, newest first; beyond these the owner's responses are. */
export const mostAlike = 50

export interface ResponseRow {
  readonly number: number
  readonly thread_id: number
  readonly previous: string | null
  readonly created_at: number
  /** The mark of the process that works on it; null for a finished one. */
  readonly process: string | null
  readonly items: number
  readonly bytes: number
  readonly document: string
}

/** A response as its rows. */
export interface Written {
  readonly document: string
  readonly items: readonly { readonly position: number; readonly id: string | null; readonly item: string }[]
  readonly bytes: number
}

/** What each database does its own way with the rows of a response. */
export interface ResponseTable {
  writeItems(number: number, items: Written['items']): Work<unknown>
  /** The condition on a `response_item` to have an id. */
  hasId(id: string): Statement
  /** Takes a response out of its thread, which counts it still. */
  leave(response: Pick<ResponseRow, 'number' | 'bytes'>): Work<unknown>
}

/** The rows of a response, a large one's in turns of the event loop. */
export async function writtenOf(response: ResponseObject, input: readonly Item[]): Promise<Written> {
  const document = JSON.stringify({ ...response, output: [] })
  const items: Written['items'][number][] = []
  let bytes = Buffer.byteLength(document)
  const pace = inTurns()
  const write = (item: Item, position: number) => {
    const text = JSON.stringify(item)
    bytes += Buffer.byteLength(text)
    items.push({ position, id: item.id ?? null, item: text })
    return pace(text)
  }
  for (const [at, item] of input.entries()) await write(item, at)
  for (const [at, item] of response.output.entries()) await write(item, firstOutput + at)
  // The transaction has a turn of its own.
  if (bytes > parsedAtOnce) await yieldToEventLoop()
  return { document, items, bytes }
}

/** Yields to the event loop after each megabyte of texts. */
export function inTurns(): (text: string) => Promise<void> | undefined {
  let unread = parsedAtOnce
  return ({ length }) => {
    unread -= length
    if (unread > 0) return undefined
    unread = parsedAtOnce
    return yieldToEventLoop()
  }
}
