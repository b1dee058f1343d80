import type { NewResponse, Reader, ResponseBounds, ResponseObject, ResponseStore } from '../../chat/chat.ts'
import { nothing, rows, run, type StoreDatabase, sql, together, type Word, type Work } from '../port/port.ts'
import { hiddenOwner } from '../shared/hidden-owner.ts'
import type { OwnedRows } from './owned-rows.ts'
import { appendItems, conversationsOf, type WrittenItems, writtenItems } from './response-conversations.ts'
import { readsOf } from './response-reads.ts'
import { type ResponseRow, type ResponseTable, type Written, writtenOf } from './response-rows.ts'
import { trimResponses } from './response-trim.ts'
import {
  extentOf,
  findResponse,
  finishResponse,
  insertResponse,
  leave,
  openThread,
  removeResponse,
  turnOf,
} from './response-writes.ts'

/** An unfinished response, and the mark of the process that works on it. */
export interface Unfinished extends Pick<ResponseRow, 'created_at'> {
  readonly process: string
  /** Whether that process runs, as far as the database knows. */
  readonly runs: boolean | 0 | 1
}

/** What each database does its own way: items with their ids, flushes, and marks of processes. */
export interface ResponseParts extends ResponseTable {
  /** Runs a transaction that waits for no disk. With true as its result hidden rows are removed, later. */
  writeSoon(work: () => Work<boolean>): Promise<void>
  /** Runs a transaction that is on the disk when this resolves, and holds up nothing meanwhile. */
  write<R>(work: () => Work<R>): Promise<R>
  /** The mark of this process on responses that it works on. */
  mark(): string
  /** Tells others that this process works on a response, from now on until `letGo`. */
  hold(id: string): void
  letGo(id: string): void
  /** The same, within the transaction that adds the response. */
  renew(): Work<unknown>
  /** SQL for `runs`, by the column `process`. */
  readonly runs: Word
  /** Whether the process of an unfinished response has ended; one that cannot be seen, of a response from before that time. */
  isLeft(unfinished: Unfinished, before: number): boolean
}

/** Responses, which clients continue. */
export function createResponseStore(db: StoreDatabase, parts: ResponseParts): ResponseStore {
  return {
    async add(response, bounds) {
      const { id } = response.response
      const written = await writtenOf(response.response, response.input)
      const appended = await writtenItems(response.appended)
      if (response.unfinished) parts.hold(id)
      try {
        await parts.writeSoon(() => add(parts, response, written, bounds, appended))
      } catch (reason) {
        parts.letGo(id)
        throw reason
      }
    },
    async finish(owner, response, appended) {
      const written = await writtenOf(response, [])
      const items = await writtenItems(appended)
      try {
        return await parts.write(() => finish(parts, { owner }, response.id, written, items))
      } finally {
        // Where it failed, the work has ended all the same: the response counts as left.
        parts.letGo(response.id)
      }
    },
    ...readsOf(db, parts),
    ...conversationsOf(db, parts),
    async remove(reader, id) {
      const removed = await db.remove(() => remove(parts, reader, id))
      parts.letGo(id)
      return removed > 0
    },
    removeAll: (owner) => db.remove(() => removeAll(owner)),
    extent: async (owner) => db.read(extentOf(owner)),
    async expire(since) {
      // Those that are hidden already leave by themselves.
      await db.remove(() => run(sql`${leave} WHERE used_at < ${since} AND user_id <> ${hiddenOwner}`))
    },
    orphans: async (before) => db.read(orphans(parts, before)),
  }
}

/** Responses when users come and go. */
export const responseOwnership: OwnedRows = {
  *reassign(from, to) {
    yield* run(sql`UPDATE response_thread SET user_id = ${to} WHERE user_id = ${from}`)
  },
  *remove(owner) {
    yield* run(sql`${leave} WHERE user_id = ${owner}`)
  },
}

/** Whether others made room for it. */
function* add(
  parts: ResponseParts,
  response: NewResponse,
  written: Written,
  bounds: ResponseBounds,
  appended: WrittenItems | undefined,
): Work<boolean> {
  const { owner, key, previous, unfinished } = response
  const [, , before] = yield* together(
    turnOf(owner),
    unfinished ? parts.renew() : nothing(),
    previous === undefined ? nothing() : findResponse({ owner, key }, previous),
  )
  const thread = before?.thread_id ?? (yield* openThread(owner))
  if (appended) yield* appendItems(parts, { owner, key }, appended, response.created_at)
  const extent = yield* insertResponse(parts, response, thread, written, unfinished ? parts.mark() : null)
  return yield* trimResponses(parts, owner, thread, extent, bounds)
}

function* finish(
  parts: ResponseParts,
  reader: Reader,
  id: string,
  written: Written,
  appended: WrittenItems | undefined,
): Work<boolean> {
  const [, row] = yield* together(turnOf(reader.owner), findResponse(reader, id, true))
  if (!row || row.process === null) return false
  yield* finishResponse(parts, row, written)
  if (appended) yield* appendItems(parts, reader, appended, row.created_at)
  return true
}

function* remove(parts: ResponseParts, reader: Reader, id: string): Work<number> {
  const [, row] = yield* together(turnOf(reader.owner), findResponse(reader, id))
  if (!row) return 0
  yield* removeResponse(parts, row)
  return 1
}

function* removeAll(owner: string): Work<number> {
  const [, { responses }] = yield* together(turnOf(owner), extentOf(owner), run(sql`${leave} WHERE user_id = ${owner}`))
  return responses
}

function* orphans(parts: ResponseParts, before: number) {
  const unfinished = yield* rows<Unfinished & { owner: string; document: string }>(
    sql`SELECT user_id AS owner, document, process, created_at, ${parts.runs} AS runs
        FROM response JOIN response_thread USING (thread_id) WHERE process IS NOT NULL AND user_id <> ${hiddenOwner}`,
  )
  return unfinished
    .filter((each) => parts.isLeft(each, before))
    .map(({ owner, document }) => ({ owner, response: JSON.parse(document) as ResponseObject }))
}
