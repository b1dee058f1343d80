import type { Item, ResponseStore } from '../../chat/responses/store.ts'
import { firstOutput, inTurns, writtenOf } from '../shared/response-rows.ts'
import type { Context } from './context.ts'
import type { OwnedRows } from './owned-rows.ts'
import {
  extentOf,
  findResponse,
  finishResponse,
  inputPage,
  insertResponse,
  itemsOf,
  itemWith,
  openThread,
  removeResponse,
  unfinishedLeft,
} from './responses-rows.ts'
import { trimResponses } from './responses-trim.ts'
import type { Sql, Transaction } from './sql.ts'

/** Responses in PostgreSQL. */
export function createResponseStore({ db, lease }: Context): ResponseStore {
  /** The responses that this process works on. */
  const unfinished = new Set<string>()
  const letGo = (id: string) => {
    if (unfinished.delete(id)) lease.release()
  }

  return {
    async add(response, bounds) {
      const { owner, key, previous } = response
      const { id } = response.response
      const written = await writtenOf(response.response, response.input)
      if (response.unfinished && !unfinished.has(id)) {
        unfinished.add(id)
        lease.hold()
      }
      try {
        await db.transaction(async (tx) => {
          // Nobody waits for the disk: a power cut may take the last response back.
          await tx.script('SET LOCAL synchronous_commit = off')
          await lockOwner(tx, owner)
          if (response.unfinished) await lease.renew(tx)
          const before = previous === undefined ? undefined : await findResponse(tx, { owner, key }, previous)
          const thread = before?.thread_id ?? (await openThread(tx, owner))
          await insertResponse(tx, response, thread, written, response.unfinished ? lease.mark : null)
          await trimResponses(tx, owner, thread, bounds)
        })
      } catch (reason) {
        letGo(id)
        throw reason
      }
    },
    async finish(owner, response, events) {
      const written = await writtenOf(response, [])
      const isDone = await db.transaction(async (tx) => {
        await lockOwner(tx, owner)
        const row = await findResponse(tx, { owner }, response.id, 'FOR UPDATE OF response')
        if (!row || row.process === null) return false
        await finishResponse(tx, row, written, events)
        return true
      })
      letGo(response.id)
      return isDone
    },
    async find(reader, id, since) {
      const row = await findResponse(db, reader, id)
      if (!row || row.created_at < since) return undefined
      const output = (await itemsOf(db, row.number, firstOutput)).map(parsed)
      return {
        response: { ...JSON.parse(row.document), output },
        finished: row.process === null,
        created_at: row.created_at,
      }
    },
    async input(reader, id, since, page) {
      const row = await findResponse(db, reader, id)
      if (!row || row.created_at < since) return undefined
      const found = await inputPage(db, row.number, page)
      return found && { items: found.slice(0, page.limit).map(parsed), more: found.length > page.limit }
    },
    async chain(reader, id, since, bounds) {
      const numbers: number[] = []
      const extent = { items: 0, bytes: 0 }
      let first = id
      for (let next: string | null = id; next !== null; ) {
        const row = await findResponse(db, reader, next)
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
      return { items: await parsedItems(db, numbers.toReversed()), first }
    },
    async items(reader, ids, since, bounds) {
      const found = new Map<string, Item>()
      const pace = inTurns()
      let left = bounds.bytes
      for (const id of ids) {
        if (found.has(id)) continue
        const text = await itemWith(db, reader, id, since)
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
      const row = await findResponse(db, reader, id)
      if (!row || row.created_at < since) return undefined
      return (await db.row<{ events: Buffer }>('SELECT events FROM response_events WHERE number = $1', [row.number]))
        ?.events
    },
    async remove(reader, id) {
      const removed = await db.transaction(async (tx) => {
        await lockOwner(tx, reader.owner)
        const row = await findResponse(tx, reader, id)
        if (row) await removeResponse(tx, row)
        return row !== undefined
      })
      letGo(id)
      return removed
    },
    removeAll: (owner) =>
      db.transaction(
        async (tx) => {
          await lockOwner(tx, owner)
          const { responses } = await extentOf(tx, owner)
          await tx.run('DELETE FROM response_thread WHERE user_id = $1', [owner])
          return responses
        },
        { statementTimeout: 0 },
      ),
    extent: (owner) => extentOf(db, owner),
    async expire(since) {
      await db.transaction((tx) => tx.run('DELETE FROM response_thread WHERE used_at < $1', [since]), {
        statementTimeout: 0,
      })
    },
    // Leases show the processes of all machines, so that none has to be given up by its age.
    orphans: () => unfinishedLeft(db),
  }
}

/** Responses when users come and go. */
export const responseOwnership: OwnedRows = {
  async reassign(tx, from, to) {
    await tx.run('UPDATE response_thread SET user_id = $2 WHERE user_id = $1', [from, to])
  },
  async remove(tx, owner) {
    await tx.run('DELETE FROM response_thread WHERE user_id = $1', [owner])
  },
}

/** Of one owner's responses, one transaction at a time: the bounds are over all of them. */
async function lockOwner(tx: Transaction, owner: string): Promise<void> {
  await tx.row('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`responses ${owner}`])
}

async function parsedItems(sql: Sql, numbers: readonly number[]): Promise<readonly Item[]> {
  const items: Item[] = []
  const pace = inTurns()
  for (const number of numbers)
    for (const text of await itemsOf(sql, number)) {
      items.push(parsed(text))
      await pace(text)
    }
  return items
}

function parsed(text: string): Item {
  return JSON.parse(text)
}
