import { randomUUID } from 'node:crypto'
import type { Appended, Item, NewItems, Reader, ResponseBounds, ResponseStore } from '../../chat/chat.ts'
import { greatest, row, run, type StoreDatabase, sql, together, type Work } from '../port/port.ts'
import { type ResponseRow, type ResponseTable, type Written, writtenOf } from './response-rows.ts'
import { trimResponses } from './response-trim.ts'
import { extentOf, findResponse, turnOf } from './response-writes.ts'

/** The transactions of responses, see responses.ts. */
interface ConversationParts extends ResponseTable {
  writeSoon(work: () => Work<boolean>): Promise<void>
  write<R>(work: () => Work<R>): Promise<R>
}

/** Items for a conversation, as their rows without places. */
export interface WrittenItems {
  readonly conversation: string
  readonly items: Written['items']
  readonly bytes: number
}

/** The rows of items, large ones in turns of the event loop. */
export async function writtenItems(appended: Appended | undefined): Promise<WrittenItems | undefined> {
  if (!appended) return undefined
  const empty = { id: '', status: '', output: [] }
  const { items, bytes, document } = await writtenOf(empty, appended.items)
  return { conversation: appended.conversation, items, bytes: bytes - Buffer.byteLength(document) }
}

/** The methods of a `ResponseStore` for conversations alone. */
export function conversationsOf(
  db: StoreDatabase,
  parts: ConversationParts,
): Pick<ResponseStore, 'append' | 'item' | 'removeItem' | 'describe'> {
  return {
    async append(reader, id, since, added, bounds) {
      const written = (await writtenItems({ conversation: id, items: added.items }))!
      let result: Awaited<ReturnType<ResponseStore['append']>> = 'absent'
      await parts.writeSoon(function* () {
        const done = yield* append(parts, reader, since, written, added, bounds)
        result = done.result
        return done.hasTrimmed
      })
      return result
    },
    async item(reader, id, since, item) {
      const found = await db.read(findItem(parts, reader, id, since, item))
      return found && JSON.parse(found.item)
    },
    removeItem: (reader, id, since, item) => parts.write(() => removeItem(parts, reader, id, since, item)),
    describe: (reader, { output: _, ...fields }, since, at) =>
      parts.write(() => describe(reader, fields.id, JSON.stringify({ ...fields, output: [] }), since, at)),
  }
}

/** Adds items at the end of a conversation; undefined where it is absent. An id that another item has is replaced. */
export function* appendItems(
  table: ResponseTable,
  reader: Reader,
  { conversation, items, bytes }: WrittenItems,
  at: number,
): Work<readonly Item[] | undefined> {
  const found = yield* findResponse(reader, conversation, true)
  if (!found) return undefined
  const { number } = found
  const last = yield* row<{ position: number | null }>(
    sql`SELECT max(position) AS position FROM response_item WHERE number = ${number}`,
  )
  const others = yield* together(
    ...items.map(({ id }) =>
      row(sql`SELECT 1 AS found FROM response_item WHERE number = ${number} AND ${table.hasId(id!)} LIMIT 1`),
    ),
  )
  const taken = new Set<string>()
  const first = (last?.position ?? -1) + 1
  const placed = items.map((each, index) => {
    const isTaken = others[index] !== undefined || taken.has(each.id!)
    taken.add(each.id!)
    return { ...(isTaken ? renamed(each) : each), position: first + index }
  })
  yield* together(table.writeItems(number, placed), grow(found, { items: items.length, bytes, at }))
  return placed.map(({ item }) => JSON.parse(item))
}

/** The item with another id. */
function renamed({ position, id, item }: Written['items'][number]): Written['items'][number] {
  const next = `${id!.split('_', 1)[0]!.slice(0, 40)}_${randomUUID().replaceAll('-', '')}`
  return { position, id: next, item: JSON.stringify({ ...JSON.parse(item), id: next }) }
}

/** Counts items and bytes that a conversation gained, at a time which is that of its last change. */
function grow(
  { number, thread_id }: ResponseRow,
  { items, bytes, at }: { readonly items: number; readonly bytes: number; readonly at: number },
): Work<unknown> {
  return together(
    run(
      sql`UPDATE response SET items = items + ${items}, bytes = bytes + ${bytes},
            created_at = ${greatest}(created_at, ${at}) WHERE number = ${number}`,
    ),
    run(
      sql`UPDATE response_thread SET bytes = bytes + ${bytes}, used_at = ${greatest}(used_at, ${at})
          WHERE thread_id = ${thread_id}`,
    ),
  )
}

/** What became of the items, and whether others made room for them. */
interface AppendDone {
  readonly result: readonly Item[] | 'absent' | 'too_long'
  readonly hasTrimmed: boolean
}

function* append(
  table: ResponseTable,
  reader: Reader,
  since: number,
  written: WrittenItems,
  { at, most }: NewItems,
  bounds: ResponseBounds,
): Work<AppendDone> {
  yield* turnOf(reader.owner)
  const found = yield* findSince(reader, written.conversation, since)
  if (!found) return { result: 'absent', hasTrimmed: false }
  const { items, bytes } = found
  const mostBytes = Math.min(most.bytes, bounds.bytes)
  if (items + written.items.length > most.items || bytes + written.bytes > mostBytes)
    return { result: 'too_long', hasTrimmed: false }
  const result = (yield* appendItems(table, reader, written, at))!
  const extent = yield* extentOf(reader.owner)
  return { result, hasTrimmed: yield* trimResponses(table, reader.owner, found.thread_id, extent, bounds) }
}

function* findSince(reader: Reader, id: string, since: number): Work<ResponseRow | undefined> {
  const found = yield* findResponse(reader, id)
  return found && found.created_at >= since ? found : undefined
}

interface ItemRow extends ResponseRow {
  readonly position: number
  readonly item: string
}

function* findItem(
  table: ResponseTable,
  reader: Reader,
  id: string,
  since: number,
  item: string,
): Work<ItemRow | undefined> {
  const found = yield* findSince(reader, id, since)
  if (!found) return undefined
  const place = yield* row<Pick<ItemRow, 'position' | 'item'>>(
    sql`SELECT position, item FROM response_item WHERE number = ${found.number} AND ${table.hasId(item)} LIMIT 1`,
  )
  return place && { ...found, ...place }
}

function* removeItem(table: ResponseTable, reader: Reader, id: string, since: number, wanted: string): Work<boolean> {
  yield* turnOf(reader.owner)
  const found = yield* findItem(table, reader, id, since, wanted)
  if (!found) return false
  const { number, position, item, created_at: at } = found
  yield* together(
    run(sql`DELETE FROM response_item WHERE number = ${number} AND position = ${position}`),
    grow(found, { items: -1, bytes: -Buffer.byteLength(item), at }),
  )
  return true
}

function* describe(reader: Reader, id: string, document: string, since: number, at: number): Work<boolean> {
  yield* turnOf(reader.owner)
  const found = yield* findSince(reader, id, since)
  if (!found) return false
  const gained = Buffer.byteLength(document) - Buffer.byteLength(found.document)
  yield* together(
    run(sql`UPDATE response SET document = ${document} WHERE number = ${found.number}`),
    grow(found, { items: 0, bytes: gained, at }),
  )
  return true
}
