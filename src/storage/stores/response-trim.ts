import type { ResponseBounds } from '../../chat/chat.ts'
import { forUpdate, row, run, sql, type Work } from '../port/port.ts'
import type { ResponseTable } from './response-rows.ts'
import { leave, removeResponse } from './response-writes.ts'

interface ThreadRow extends ResponseBounds {
  readonly thread_id: number
}

/** Removes an owner's least recently continued threads, then the last one's oldest responses. Whether it did. */
export function* trimResponses(
  table: ResponseTable,
  owner: string,
  thread: number,
  extent: ResponseBounds,
  bounds: ResponseBounds,
): Work<boolean> {
  let { responses, bytes } = extent
  const isOver = () => responses > bounds.responses || bytes > bounds.bytes
  const wasOver = isOver()
  while (isOver()) {
    const oldest = yield* row<ThreadRow>(
      sql`SELECT thread_id, responses, bytes FROM response_thread WHERE user_id = ${owner} AND thread_id <> ${thread}
          ORDER BY used_at, thread_id LIMIT 1 ${forUpdate}`,
    )
    if (!oldest) break
    yield* run(sql`${leave} WHERE thread_id = ${oldest.thread_id}`)
    responses -= oldest.responses
    bytes -= oldest.bytes
  }
  while (isOver()) {
    const first = yield* row<{ number: number; thread_id: number; bytes: number }>(
      sql`SELECT number, thread_id, bytes FROM response WHERE thread_id = ${thread}
            AND number < (SELECT max(number) FROM response WHERE thread_id = ${thread}) ORDER BY number LIMIT 1`,
    )
    if (!first) break
    yield* removeResponse(table, first)
    responses--
    bytes -= first.bytes
  }
  return wasOver
}
