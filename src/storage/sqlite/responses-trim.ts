import type { ResponseBounds } from '../../chat/responses/store.ts'
import type { Database } from './connection.ts'
import { hiddenOwner } from '../shared/hidden-owner.ts'
import { hideResponse } from './removal.ts'

interface ThreadRow extends ResponseBounds {
  readonly thread_id: number
}

/**
 * Holds an owner to the bounds: hides the least recently continued threads but one, and then that one's oldest responses
 * but the newest. Expects a transaction; true where something was hidden.
 */
export function createResponseTrim(db: Database) {
  const sums = db.prepare<[string], ResponseBounds>(
    'SELECT ifnull(sum(responses), 0) AS responses, ifnull(sum(bytes), 0) AS bytes FROM response_thread WHERE user_id = ?',
  )
  const oldest = db.prepare<[string, number], ThreadRow>(
    `SELECT thread_id, responses, bytes FROM response_thread WHERE user_id = ? AND thread_id <> ?
      ORDER BY used_at, thread_id LIMIT 1`,
  )
  const hide = db.prepare<[number]>(`UPDATE response_thread SET user_id = '${hiddenOwner}' WHERE thread_id = ?`)
  const first = db.prepare<[object], { number: number; thread_id: number; bytes: number }>(
    `SELECT number, thread_id, bytes FROM response WHERE thread_id = @thread
        AND number < (SELECT max(number) FROM response WHERE thread_id = @thread) ORDER BY number LIMIT 1`,
  )

  return (owner: string, thread: number, bounds: ResponseBounds): boolean => {
    let { responses, bytes } = sums.get(owner)!
    const isOver = () => responses > bounds.responses || bytes > bounds.bytes
    const wasOver = isOver()
    for (let row = isOver() && oldest.get(owner, thread); row; row = isOver() && oldest.get(owner, thread)) {
      hide.run(row.thread_id)
      responses -= row.responses
      bytes -= row.bytes
    }
    for (let row = isOver() && first.get({ thread }); row; row = isOver() && first.get({ thread })) {
      hideResponse(db, row)
      responses--
      bytes -= row.bytes
    }
    return wasOver
  }
}
