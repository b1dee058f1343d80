import type { ResponseBounds } from '../../chat/responses/store.ts'
import { extentOf, removeResponse } from './responses-rows.ts'
import type { Transaction } from './sql.ts'

interface ThreadRow extends ResponseBounds {
  readonly thread_id: number
}

/**
 * Holds an owner to the bounds: removes the least recently continued threads but one, and then that one's oldest responses
 * but the newest.
 */
export async function trimResponses(
  tx: Transaction,
  owner: string,
  thread: number,
  bounds: ResponseBounds,
): Promise<void> {
  let { responses, bytes } = await extentOf(tx, owner)
  const isOver = () => responses > bounds.responses || bytes > bounds.bytes
  while (isOver()) {
    const row = await tx.row<ThreadRow>(
      `SELECT thread_id, responses, bytes FROM response_thread WHERE user_id = $1 AND thread_id <> $2
        ORDER BY used_at, thread_id LIMIT 1 FOR UPDATE`,
      [owner, thread],
    )
    if (!row) break
    await tx.run('DELETE FROM response_thread WHERE thread_id = $1', [row.thread_id])
    responses -= row.responses
    bytes -= row.bytes
  }
  while (isOver()) {
    const row = await tx.row<{ number: number; thread_id: number; bytes: number }>(
      `SELECT number, thread_id, bytes FROM response WHERE thread_id = $1
          AND number < (SELECT max(number) FROM response WHERE thread_id = $1) ORDER BY number LIMIT 1`,
      [thread],
    )
    if (!row) break
    await removeResponse(tx, row)
    responses--
    bytes -= row.bytes
  }
}
