import { createHash } from 'node:crypto'
import type { ItemPage, NewResponse, Reader, ResponseBounds, ResponseObject } from '../../chat/responses/store.ts'
import { hasEnded } from '../shared/process-mark.ts'
import { firstOutput, mostAlike, type ResponseRow, type Written } from '../shared/response-rows.ts'
import { isRunning } from './process-lease.ts'
import type { Sql, Transaction } from './sql.ts'

/** An owner as $1, and as $2 the key that limits the responses read; a login reads all. */
const readable = 'user_id = $1 AND ($2::text IS NULL OR key_id = $2)'

/** The response of that id, where the reader may read it. `lock` is a locking clause, such as `FOR UPDATE`. */
export function findResponse(
  sql: Sql,
  { owner, key }: Reader,
  id: string,
  lock = '',
): Promise<ResponseRow | undefined> {
  return sql.row<ResponseRow>(
    `SELECT number, thread_id, previous, created_at, process, items, response.bytes, document
       FROM response JOIN response_thread USING (thread_id) WHERE id = $3 AND ${readable} ${lock}`,
    [owner, key ?? null, id],
  )
}

/** The items of a response in order, all or its output alone. */
export async function itemsOf(sql: Sql, number: number, from = 0): Promise<readonly string[]> {
  const rows = await sql.rows<{ item: string }>(
    'SELECT item FROM response_item WHERE number = $1 AND position >= $2 ORDER BY position',
    [number, from],
  )
  return rows.map(({ item }) => item)
}

/** The stored events of a background response; undefined where there are none. */
export async function eventsOf(sql: Sql, number: number): Promise<Buffer | undefined> {
  const row = await sql.row<{ events: Buffer }>('SELECT events FROM response_events WHERE number = $1', [number])
  return row?.events
}

/** The newest item with an id that the reader may read. */
export async function itemWith(
  sql: Sql,
  { owner, key }: Reader,
  id: string,
  since: number,
): Promise<string | undefined> {
  const given = [owner, key ?? null, idDigestOf(id), since]
  const alike = `SELECT number, item FROM response_item WHERE id_digest = $3 ORDER BY number DESC LIMIT ${mostAlike}`
  const found = await sql.row<{ item: string | null; alike: number }>(
    `WITH alike AS MATERIALIZED (${alike})
     SELECT count(*) AS alike, (SELECT item FROM alike JOIN response USING (number) JOIN response_thread USING (thread_id)
       WHERE created_at >= $4 AND ${readable} ORDER BY number DESC LIMIT 1) AS item FROM alike`,
    given,
  )
  if (found!.item !== null) return found!.item
  if (found!.alike < mostAlike) return undefined
  const own = await sql.row<{ item: string }>(
    `WITH own AS MATERIALIZED (SELECT number FROM response JOIN response_thread USING (thread_id)
       WHERE created_at >= $4 AND ${readable})
     SELECT item FROM own JOIN response_item USING (number) WHERE id_digest = $3 ORDER BY number DESC LIMIT 1`,
    given,
  )
  return own?.item
}

/** One item more than the page has, where there are more; undefined where its beginning is none of the input. */
export async function inputPage(
  sql: Sql,
  number: number,
  { limit, order, after }: ItemPage,
): Promise<readonly string[] | undefined> {
  let place = order === 'asc' ? -1 : firstOutput
  if (after !== undefined) {
    const at = await sql.row<{ position: number }>(
      `SELECT position FROM response_item WHERE number = $1 AND id_digest = $2 AND position < ${firstOutput} LIMIT 1`,
      [number, idDigestOf(after)],
    )
    if (!at) return undefined
    place = at.position
  }
  const [beyond, direction] = order === 'asc' ? ['>', 'ASC'] : ['<', 'DESC']
  const rows = await sql.rows<{ item: string }>(
    `SELECT item FROM response_item WHERE number = $1 AND position < ${firstOutput} AND position ${beyond} $2
      ORDER BY position ${direction} LIMIT $3`,
    [number, place, limit + 1],
  )
  return rows.map(({ item }) => item)
}

/** How many responses and bytes an owner has. */
export async function extentOf(sql: Sql, owner: string): Promise<ResponseBounds> {
  const row = await sql.row<ResponseBounds>(
    `SELECT coalesce(sum(responses), 0) AS responses, coalesce(sum(bytes), 0) AS bytes
       FROM response_thread WHERE user_id = $1`,
    [owner],
  )
  return row!
}

/** Makes an empty thread, and resolves with its number. */
export async function openThread(tx: Transaction, owner: string): Promise<number> {
  const row = await tx.row<{ thread_id: number }>(
    'INSERT INTO response_thread (user_id, used_at, responses, bytes) VALUES ($1, 0, 0, 0) RETURNING thread_id',
    [owner],
  )
  return row!.thread_id
}

/** Writes a new response into a thread; `process` marks the process that makes an unfinished one. */
export async function insertResponse(
  tx: Transaction,
  { response, key, previous, created_at }: NewResponse,
  thread: number,
  written: Written,
  process: string | null,
): Promise<void> {
  const { items, bytes, document } = written
  const row = await tx.row<{ number: number }>(
    `INSERT INTO response (thread_id, id, key_id, previous, created_at, process, items, bytes, document)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING number`,
    [thread, response.id, key ?? null, previous ?? null, created_at, process, items.length, bytes, document],
  )
  await Promise.all([
    insertItems(tx, row!.number, written),
    tx.run(
      `UPDATE response_thread SET used_at = greatest(used_at, $2), responses = responses + 1, bytes = bytes + $3
        WHERE thread_id = $1`,
      [thread, created_at, bytes],
    ),
  ])
}

/** Replaces an unfinished response by its end, and counts the difference in bytes. */
export async function finishResponse(
  tx: Transaction,
  { number, thread_id, document: before }: ResponseRow,
  written: Written,
  events: Uint8Array | undefined,
): Promise<void> {
  const gained = written.bytes + (events?.length ?? 0) - Buffer.byteLength(before)
  await Promise.all([
    tx.run(
      'UPDATE response SET process = NULL, items = items + $2, bytes = bytes + $3, document = $4 WHERE number = $1',
      [number, written.items.length, gained, written.document],
    ),
    insertItems(tx, number, written),
    events && tx.run('INSERT INTO response_events (number, events) VALUES ($1, $2)', [number, Buffer.from(events)]),
    tx.run('UPDATE response_thread SET bytes = bytes + $2 WHERE thread_id = $1', [thread_id, gained]),
  ])
}

/** Removes one response from its thread, and the thread where it was the last. */
export async function removeResponse(
  tx: Transaction,
  { number, thread_id, bytes }: Pick<ResponseRow, 'number' | 'thread_id' | 'bytes'>,
) {
  await Promise.all([
    tx.run('DELETE FROM response WHERE number = $1', [number]),
    tx.run('UPDATE response_thread SET responses = responses - 1, bytes = bytes - $2 WHERE thread_id = $1', [
      thread_id,
      bytes,
    ]),
    tx.run('DELETE FROM response_thread WHERE thread_id = $1 AND responses = 0', [thread_id]),
  ])
}

/** Unfinished responses of processes that have ended. */
export async function unfinishedLeft(
  sql: Sql,
): Promise<readonly { readonly owner: string; readonly response: ResponseObject }[]> {
  const rows = await sql.rows<{ owner: string; document: string; process: string; runs: boolean }>(
    `SELECT user_id AS owner, document, process, ${isRunning('process')} AS runs
       FROM response JOIN response_thread USING (thread_id) WHERE process IS NOT NULL`,
  )
  return rows
    .filter(({ process, runs }) => !runs || hasEnded(process))
    .map(({ owner, document }) => ({ owner, response: JSON.parse(document) }))
}

function insertItems(tx: Transaction, number: number, { items }: Written): Promise<number> | undefined {
  if (items.length === 0) return undefined
  return tx.run(
    `INSERT INTO response_item (number, position, id_digest, item)
       SELECT $1, * FROM unnest($2::int[], $3::bytea[], $4::text[])`,
    [
      number,
      items.map(({ position }) => position),
      items.map(({ id }) => (id === null ? null : idDigestOf(id))),
      items.map(({ item }) => item),
    ],
  )
}

/** The form in which the index keeps an id. */
export function idDigestOf(id: string): Buffer {
  return createHash('sha256').update(id).digest()
}
