import type { Item, NewResponse, ResponseStore } from '../../chat/responses/store.ts'
import { yieldToEventLoop } from '../shared/event-loop.ts'
import { mayRun, processMark } from '../shared/process-mark.ts'
import { inTurns, type Written, writtenOf } from '../shared/response-rows.ts'
import type { Database } from './connection.ts'
import { syncLater, syncLog, withoutSync } from './late-sync.ts'
import type { OwnedRows } from './owned-rows.ts'
import { hideResponses, removeHidden } from './removal.ts'
import { responseStatements } from './responses-rows.ts'
import { createResponseTrim } from './responses-trim.ts'

/** Items that are looked up in one turn of the event loop: each takes up to a millisecond. */
const lookedUpAtOnce = 10

/** Responses in SQLite. */
export function createResponseStore(db: Database): ResponseStore {
  const rows = responseStatements(db)
  const trim = createResponseTrim(db)

  const add = db.transaction((response: NewResponse, written: Written, bounds: Parameters<ResponseStore['add']>[1]) => {
    const { owner, previous, created_at, unfinished } = response
    const thread = rows.threadOf({ owner, key: response.key }, previous) ?? rows.openThread(owner)
    rows.insert(response, thread, written, unfinished ? processMark() : null)
    rows.use(thread, created_at, written.bytes)
    return trim(owner, thread, bounds)
  })
  const finish = db.transaction((owner: string, id: string, written: Written, events: Uint8Array | undefined) => {
    const row = rows.find({ owner }, id)
    if (!row || row.process === null) return false
    rows.finish(row, written, events)
    return true
  })

  return {
    async add(response, bounds) {
      const written = await writtenOf(response.response, response.input)
      const removed = withoutSync(db, () => add.immediate(response, written, bounds))
      syncLater(db)
      // Nobody waits for the room of old responses.
      if (removed) void removeHidden(db)
    },
    async finish(owner, response, events) {
      const written = await writtenOf(response, [])
      const finished = withoutSync(db, () => finish.immediate(owner, response.id, written, events))
      await syncLog(db)
      return finished
    },
    async find(reader, id, since) {
      const row = rows.find(reader, id)
      if (!row || row.created_at < since) return undefined
      const output = rows.output(row.number).map(parsed)
      return {
        response: { ...JSON.parse(row.document), output },
        finished: row.process === null,
        created_at: row.created_at,
      }
    },
    async input(reader, id, since, page) {
      const row = rows.find(reader, id)
      if (!row || row.created_at < since) return undefined
      const found = rows.input(row.number, page)
      return found && { items: found.slice(0, page.limit).map(parsed), more: found.length > page.limit }
    },
    async chain(reader, id, since, bounds) {
      const numbers: number[] = []
      const extent = { items: 0, bytes: 0 }
      let first = id
      for (let next: string | null = id; next !== null; ) {
        const row = rows.find(reader, next)
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
        const text = rows.item(reader, id, since)
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
      const row = rows.find(reader, id)
      return row && row.created_at >= since ? rows.events(row.number) : undefined
    },
    async remove(reader, id) {
      const removed = db.transaction(() => rows.hide(reader, id)).immediate()
      if (removed) await removeHidden(db)
      return removed
    },
    async removeAll(owner) {
      const { responses } = db
        .transaction(() => {
          const extent = rows.extent(owner)
          hideResponses(db, owner)
          return extent
        })
        .immediate()
      if (responses > 0) await removeHidden(db)
      return responses
    },
    extent: async (owner) => rows.extent(owner),
    async expire(since) {
      if (rows.hideBefore(since) > 0) await removeHidden(db)
    },
    async orphans(before) {
      const own = processMark()
      const isLeft = (mark: string, at: number) => mark !== own && (!mayRun(mark) || at < before)
      return rows
        .unfinished()
        .flatMap(({ owner, response, process, created_at }) =>
          isLeft(process, created_at) ? [{ owner, response }] : [],
        )
    },
  }

  async function itemsOf(numbers: readonly number[]): Promise<readonly Item[]> {
    const items: Item[] = []
    const pace = inTurns()
    for (const number of numbers)
      for (const text of rows.all(number)) {
        items.push(parsed(text))
        await pace(text)
      }
    return items
  }
}

/** Responses when users come and go. */
export const responseOwnership: OwnedRows = {
  reassign(db, from, to) {
    db.prepare('UPDATE response_thread SET user_id = ? WHERE user_id = ?').run(to, from)
  },
  remove(db, owner) {
    hideResponses(db, owner)
  },
}

function parsed(text: string): Item {
  return JSON.parse(text)
}
