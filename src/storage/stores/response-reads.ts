import type { Item, ItemPage, Reader, ResponseStore } from '../../chat/chat.ts'
import { yieldToEventLoop } from '../../process/process.ts'
import { row, rows, type StoreDatabase, sql, together, type Work, word } from '../port/port.ts'
import { firstOutput, inTurns, mostAlike, type ResponseRow, type ResponseTable } from './response-rows.ts'
import { findResponse, isReadable } from './response-writes.ts'

/** Items that are looked up in one turn of the event loop: each takes up to a millisecond. */
const lookedUpAtOnce = 10

/** The methods of a `ResponseStore` that read. */
export function readsOf(
  db: StoreDatabase,
  table: ResponseTable,
): Pick<ResponseStore, 'find' | 'input' | 'chain' | 'items'> {
  const findSince = async (reader: Reader, id: string, since: number) => {
    const row = await db.read(findResponse(reader, id))
    return row && row.created_at >= since ? row : undefined
  }
  return {
    async find(reader, id, since) {
      const row = await findSince(reader, id, since)
      if (!row) return undefined
      const output = (await db.read(textsOf(row.number, firstOutput))).map(parsed)
      return {
        response: { ...JSON.parse(row.document), output },
        finished: row.process === null,
        created_at: row.created_at,
      }
    },
    async input(reader, id, since, page) {
      const row = await findSince(reader, id, since)
      const found = row && (await db.read(inputPage(table, row.number, page)))
      return found && { items: found.slice(0, page.limit).map(parsed), more: found.length > page.limit }
    },
    async chain(reader, id, since, bounds) {
      const numbers: number[] = []
      const extent = { items: 0, bytes: 0 }
      let first = id
      for (let next: string | null = id; next !== null; ) {
        const row: ResponseRow | undefined = await db.read(findResponse(reader, next))
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
        const text = await db.read(itemWith(table, reader, id, since))
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
  }

  async function itemsOf(numbers: readonly number[]): Promise<readonly Item[]> {
    const items: Item[] = []
    const pace = inTurns()
    for (const number of numbers)
      for (const text of await db.read(textsOf(number))) {
        items.push(parsed(text))
        await pace(text)
      }
    return items
  }
}

function parsed(text: string): Item {
  return JSON.parse(text)
}

/** The items of a response as JSON, input before output, or its output alone. */
function* textsOf(number: number, from = 0): Work<readonly string[]> {
  const found = yield* rows<{ item: string }>(
    sql`SELECT item FROM response_item WHERE number = ${number} AND position >= ${from} ORDER BY position`,
  )
  return found.map(({ item }) => item)
}

/** One item more than the page has, where there are more; undefined where its beginning is none of the input. */
function* inputPage(
  table: ResponseTable,
  number: number,
  { limit, order, after }: ItemPage,
): Work<readonly string[] | undefined> {
  const input = sql`response_item WHERE number = ${number} AND position < ${firstOutput}`
  let place = order === 'asc' ? -1 : firstOutput
  if (after !== undefined) {
    const at = yield* row<{ position: number }>(sql`SELECT position FROM ${input} AND ${table.hasId(after)} LIMIT 1`)
    if (!at) return undefined
    place = at.position
  }
  const beyond =
    order === 'asc' ? sql`position > ${place} ORDER BY position` : sql`position < ${place} ORDER BY position DESC`
  const found = yield* rows<{ item: string }>(sql`SELECT item FROM ${input} AND ${beyond} LIMIT ${limit + 1}`)
  return found.map(({ item }) => item)
}

/** Keeps the order of a join, where the planner follows it. */
const inOrder = word('CROSS JOIN', 'JOIN')

/** The newest item with an id that the reader may read, as JSON. */
function* itemWith(table: ResponseTable, reader: Reader, id: string, since: number): Work<string | undefined> {
  const isWanted = sql`created_at >= ${since} AND ${isReadable(reader)}`
  const [found, counted] = yield* together(
    row<{ item: string }>(
      sql`SELECT item FROM (SELECT number, item FROM response_item WHERE ${table.hasId(id)}
            ORDER BY number DESC LIMIT ${mostAlike}) AS alike
          JOIN response USING (number) JOIN response_thread USING (thread_id)
          WHERE ${isWanted} ORDER BY number DESC LIMIT 1`,
    ),
    row<{ alike: number }>(
      sql`SELECT count(*) AS alike FROM (SELECT 1 FROM response_item WHERE ${table.hasId(id)} LIMIT ${mostAlike + 1}) AS few`,
    ),
  )
  if (found || counted!.alike <= mostAlike) return found?.item
  const own = yield* row<{ item: string }>(
    sql`WITH own AS MATERIALIZED
          (SELECT number FROM response JOIN response_thread USING (thread_id) WHERE ${isWanted})
        SELECT item FROM own ${inOrder} response_item USING (number) WHERE ${table.hasId(id)}
        ORDER BY number DESC LIMIT 1`,
  )
  return own?.item
}
