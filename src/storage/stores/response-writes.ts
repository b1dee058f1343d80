import type { NewResponse, Reader, ResponseBounds } from '../../chat/chat.ts'
import { greatest, row, run, type Statement, sql, takeTurn, together, type Work, word } from '../port/port.ts'
import { hiddenOwner } from '../shared/hidden-owner.ts'
import type { ResponseRow, ResponseTable, Written } from './response-rows.ts'

/** Removes the threads of the condition behind it. SQLite hides them, and removes their rows afterwards. */
export const leave = word(`UPDATE response_thread SET user_id = '${hiddenOwner}'`, 'DELETE FROM response_thread')

/** Of one owner's responses, one transaction at a time: the bounds are over all of them. */
export function turnOf(owner: string): Work<void> {
  return takeTurn(`responses ${owner}`)
}

/** Whether a reader may read a response: an owner, and the key that limits the responses read; a login reads all. */
export function isReadable({ owner, key }: Reader): Statement {
  return sql`user_id = ${owner} AND ${key === undefined ? sql`true` : sql`key_id = ${key}`}`
}

const lockedResponse = word('', 'FOR UPDATE OF response')

/** The response of that id, where the reader may read it. */
export function findResponse(reader: Reader, id: string, isLocked = false): Work<ResponseRow | undefined> {
  return row(
    sql`SELECT number, thread_id, previous, created_at, process, items, response.bytes, document
        FROM response JOIN response_thread USING (thread_id)
        WHERE id = ${id} AND ${isReadable(reader)} ${isLocked ? sql`${lockedResponse}` : sql``}`,
  )
}

/** How many responses and bytes an owner has. */
export function* extentOf(owner: string): Work<ResponseBounds> {
  const extent = yield* row<ResponseBounds>(
    sql`SELECT coalesce(sum(responses), 0) AS responses, coalesce(sum(bytes), 0) AS bytes
        FROM response_thread WHERE user_id = ${owner}`,
  )
  return extent!
}

/** Makes an empty thread; the result is its number. */
export function* openThread(owner: string): Work<number> {
  const opened = yield* row<{ thread_id: number }>(
    sql`INSERT INTO response_thread (user_id, used_at, responses, bytes) VALUES (${owner}, 0, 0, 0) RETURNING thread_id`,
  )
  return opened!.thread_id
}

/** Writes a new response into a thread, marked by the process that makes it; the result is what its owner has then. */
export function* insertResponse(
  table: ResponseTable,
  { owner, response, key, previous, created_at }: NewResponse,
  thread: number,
  { items, bytes, document }: Written,
  process: string | null,
): Work<ResponseBounds> {
  const made = yield* row<{ number: number }>(
    sql`INSERT INTO response (thread_id, id, key_id, previous, created_at, process, items, bytes, document)
        VALUES (${thread}, ${response.id}, ${key}, ${previous}, ${created_at}, ${process}, ${items.length}, ${bytes},
          ${document}) RETURNING number`,
  )
  const [, , extent] = yield* together(
    table.writeItems(made!.number, items),
    run(
      sql`UPDATE response_thread SET used_at = ${greatest}(used_at, ${created_at}), responses = responses + 1,
            bytes = bytes + ${bytes} WHERE thread_id = ${thread}`,
    ),
    extentOf(owner),
  )
  return extent
}

/** Replaces an unfinished response by its end, and counts the difference in bytes. */
export function* finishResponse(
  table: ResponseTable,
  { number, thread_id, document: before }: ResponseRow,
  { items, bytes, document }: Written,
): Work<void> {
  const gained = bytes - Buffer.byteLength(before)
  yield* together(
    run(
      sql`UPDATE response SET process = NULL, items = items + ${items.length}, bytes = bytes + ${gained},
            document = ${document} WHERE number = ${number}`,
    ),
    table.writeItems(number, items),
    run(sql`UPDATE response_thread SET bytes = bytes + ${gained} WHERE thread_id = ${thread_id}`),
  )
}

/** Removes one response from its thread, and the thread where it was the last. */
export function* removeResponse(
  table: ResponseTable,
  response: Pick<ResponseRow, 'number' | 'thread_id' | 'bytes'>,
): Work<void> {
  const { thread_id, bytes } = response
  yield* together(
    table.leave(response),
    run(
      sql`UPDATE response_thread SET responses = responses - 1, bytes = bytes - ${bytes} WHERE thread_id = ${thread_id}`,
    ),
    run(sql`DELETE FROM response_thread WHERE thread_id = ${thread_id} AND responses = 0`),
  )
}
