import type { Item, ItemPage, Reader, ResponseStore } from '../../chat/responses/store.ts'
import { yieldToEventLoop } from './event-loop.ts'
import { inTurns, type ResponseRow } from './response-rows.ts'

type MaybePromise<T> = T | Promise<T>

/** The rows behind a `ResponseStore`, as JSON texts; a database of this machine gives them at once. */
export interface ResponseReads {
  find(reader: Reader, id: string): MaybePromise<ResponseRow | undefined>
  output(number: number): MaybePromise<readonly string[]>
  /** Input before output. */
  all(number: number): MaybePromise<readonly string[]>
  /** One item more than the page has, where there are more; undefined where its beginning is none of the input. */
  input(number: number, page: ItemPage): MaybePromise<readonly string[] | undefined>
  /** The newest item with an id that the reader may read. */
  item(reader: Reader, id: string, since: number): MaybePromise<string | undefined>
  events(number: number): MaybePromise<Uint8Array | undefined>
}

/** Items that are looked up in one turn of the event loop: each takes up to a millisecond. */
const lookedUpAtOnce = 10

/** The methods of a `ResponseStore` that read, the same over every database. */
export function readsOf(rows: ResponseReads): Pick<ResponseStore, 'find' | 'input' | 'chain' | 'items' | 'events'> {
  const findSince = async (reader: Reader, id: string, since: number) => {
    const row = await rows.find(reader, id)
    return row && row.created_at >= since ? row : undefined
  }
  return {
    async find(reader, id, since) {
      const row = await findSince(reader, id, since)
      if (!row) return undefined
      const output = (await rows.output(row.number)).map(parsed)
      return {
        response: { ...JSON.parse(row.document), output },
        finished: row.process === null,
        created_at: row.created_at,
      }
    },
    async input(reader, id, since, page) {
      const row = await findSince(reader, id, since)
      const found = row && (await rows.input(row.number, page))
      return found && { items: found.slice(0, page.limit).map(parsed), more: found.length > page.limit }
    },
    async chain(reader, id, since, bounds) {
      const numbers: number[] = []
      const extent = { items: 0, bytes: 0 }
      let first = id
      for (let next: string | null = id; next !== null; ) {
        const row: ResponseRow | undefined = await rows.find(reader, next)
        if (!row || (next === id && row.created_at < since)) return 'absent'
        if (row.process !== null) return 'unfinished'
        numbers.push(row.number)
        first = next
        extent.items += row.items
        extent.bytes += row.bytes
        if (numbers.length > bounds.responses || extent.items > bounds.items || extent.bytes > bounds.bytes)
          return 'too_long'
        next = row.previous
      }
      bounds.charge?.(extent.bytes)
      return { items: await itemsOf(numbers.toReversed()), first }
    },
    async items(reader, ids, since, bounds) {
      const found = new Map<string, Item>()
      const pace = inTurns()
      let left = bounds.bytes
      for (const [at, id] of ids.entries()) {
        const text = await rows.item(reader, id, since)
        if (at % lookedUpAtOnce === 0) await yieldToEventLoop()
        if (text === undefined) continue
        left -= Buffer.byteLength(text)
        if (left < 0) return 'too_long'
        bounds.charge?.(Buffer.byteLength(text))
        found.set(id, parsed(text))
        await pace(text)
      }
      return found
    },
    async events(reader, id, since) {
      const row = await findSince(reader, id, since)
      return row && rows.events(row.number)
    },
  }

  async function itemsOf(numbers: readonly number[]): Promise<readonly Item[]> {
    const items: Item[] = []
    const pace = inTurns()
    for (const number of numbers)
      for (const text of await rows.all(number)) {
        items.push(parsed(text))
        await pace(text)
      }
    return items
  }
}

function parsed(text: string): Item {
  return JSON.parse(text)
}
