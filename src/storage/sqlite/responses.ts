import type { NewResponse, ResponseStore } from '../../chat/responses/store.ts'
import { mayRun, processMark } from '../shared/process-mark.ts'
import { readsOf } from '../shared/response-reads.ts'
import { type Written, writtenOf } from '../shared/response-rows.ts'
import type { Database } from './connection.ts'
import { syncLater, syncLog, withoutSync } from './late-sync.ts'
import type { OwnedRows } from './owned-rows.ts'
import { hideResponses, removeHidden } from './removal.ts'
import { responseStatements } from './responses-rows.ts'
import { createResponseTrim } from './responses-trim.ts'

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
      // Answers before the rows of old responses are removed.
      if (removed) void removeHidden(db)
    },
    async finish(owner, response, events) {
      const written = await writtenOf(response, [])
      const finished = withoutSync(db, () => finish.immediate(owner, response.id, written, events))
      await syncLog(db)
      return finished
    },
    ...readsOf(rows),
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
