import type { ResponseStore } from '../../chat/responses/store.ts'
import { type ResponseReads, readsOf } from '../shared/response-reads.ts'
import { firstOutput, writtenOf } from '../shared/response-rows.ts'
import type { Context } from './context.ts'
import type { OwnedRows } from './owned-rows.ts'
import {
  eventsOf,
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
import type { Transaction } from './sql.ts'

/** Responses in PostgreSQL. */
export function createResponseStore({ db, lease }: Context): ResponseStore {
  /** The responses that this process works on. */
  const unfinished = new Set<string>()
  const letGo = (id: string) => {
    if (unfinished.delete(id)) lease.release()
  }

  const reads: ResponseReads = {
    find: (reader, id) => findResponse(db, reader, id),
    output: (number) => itemsOf(db, number, firstOutput),
    all: (number) => itemsOf(db, number),
    input: (number, page) => inputPage(db, number, page),
    item: (reader, id, since) => itemWith(db, reader, id, since),
    events: (number) => eventsOf(db, number),
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
          // Waits for no disk: a power cut may take the last response back.
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
      try {
        return await db.transaction(async (tx) => {
          await lockOwner(tx, owner)
          const row = await findResponse(tx, { owner }, response.id, 'FOR UPDATE OF response')
          if (!row || row.process === null) return false
          await finishResponse(tx, row, written, events)
          return true
        })
      } finally {
        // Where it failed, the work has ended all the same: with the lease the response counts as left.
        letGo(response.id)
      }
    },
    ...readsOf(reads),
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
