import type { ItemPage, NewResponse, Reader, ResponseBounds } from '../../chat/responses/store.ts'
import { firstOutput, mostAlike, type ResponseRow, type Written } from '../shared/response-rows.ts'
import type { Database } from './connection.ts'
import { hiddenOwner } from '../shared/hidden-owner.ts'
import { hideResponse } from './removal.ts'

/** An owner, and the key that limits the responses read; a login reads all. */
const readable = 'user_id = @owner AND (@key IS NULL OR key_id = @key)'

/** The statements about responses. */
export function responseStatements(db: Database) {
  const find = db.prepare<[object], ResponseRow>(
    `SELECT number, thread_id, previous, created_at, process, items, response.bytes, document
       FROM response JOIN response_thread USING (thread_id) WHERE id = @id AND ${readable}`,
  )
  const open = db.prepare<[string]>(
    'INSERT INTO response_thread (user_id, used_at, responses, bytes) VALUES (?, 0, 0, 0)',
  )
  const use = db.prepare(
    `UPDATE response_thread SET used_at = max(used_at, @at), responses = responses + 1, bytes = bytes + @bytes
      WHERE thread_id = @thread`,
  )
  const grow = db.prepare('UPDATE response_thread SET bytes = bytes + ? WHERE thread_id = ?')
  const insert = db.prepare(
    `INSERT INTO response (thread_id, id, key_id, previous, created_at, process, items, bytes, document)
       VALUES (@thread, @id, @key, @previous, @created_at, @process, @items, @bytes, @document)`,
  )
  const insertItem = db.prepare('INSERT INTO response_item (number, position, id, item) VALUES (?, ?, ?, ?)')
  const end = db.prepare(
    `UPDATE response SET process = NULL, items = items + @items, bytes = bytes + @bytes - length(CAST(document AS BLOB)),
       document = @document WHERE number = @number`,
  )
  const insertEvents = db.prepare('INSERT INTO response_events (number, events) VALUES (?, ?)')
  const output = db
    .prepare<[number], string>(
      `SELECT item FROM response_item WHERE number = ? AND position >= ${firstOutput} ORDER BY position`,
    )
    .pluck()
  const all = db.prepare<[number], string>('SELECT item FROM response_item WHERE number = ? ORDER BY position').pluck()
  const item = db
    .prepare<[object], string>(
      `SELECT item FROM
          (SELECT number, item FROM response_item WHERE id = @id ORDER BY number DESC LIMIT ${mostAlike})
          JOIN response USING (number) JOIN response_thread USING (thread_id)
        WHERE created_at >= @since AND ${readable} ORDER BY number DESC LIMIT 1`,
    )
    .pluck()
  const alike = db
    .prepare<[string], number>(`SELECT count(*) FROM (SELECT 1 FROM response_item WHERE id = ? LIMIT ${mostAlike + 1})`)
    .pluck()
  // CROSS JOIN keeps this order: from the owner's responses to the items.
  const ownItem = db
    .prepare<[object], string>(
      `SELECT item FROM response_thread CROSS JOIN response USING (thread_id) CROSS JOIN response_item USING (number)
        WHERE response_item.id = @id AND created_at >= @since AND ${readable} ORDER BY number DESC LIMIT 1`,
    )
    .pluck()
  const placeOf = db
    .prepare<[number, string], number>(
      `SELECT position FROM response_item WHERE number = ? AND id = ? AND position < ${firstOutput} LIMIT 1`,
    )
    .pluck()
  const page = (order: 'ASC' | 'DESC', beyond: '>' | '<') =>
    db
      .prepare<[object], string>(
        `SELECT item FROM response_item WHERE number = @number AND position < ${firstOutput}
            AND position ${beyond} @place ORDER BY position ${order} LIMIT @limit`,
      )
      .pluck()
  const pages = { asc: page('ASC', '>'), desc: page('DESC', '<') }
  const events = db.prepare<[number], Buffer>('SELECT events FROM response_events WHERE number = ?').pluck()
  const extent = db.prepare<[string], ResponseBounds>(
    `SELECT ifnull(sum(responses), 0) AS responses, ifnull(sum(bytes), 0) AS bytes FROM response_thread WHERE user_id = ?`,
  )
  const hideBefore = db.prepare<[number]>(
    `UPDATE response_thread SET user_id = '${hiddenOwner}' WHERE used_at < ? AND user_id <> '${hiddenOwner}'`,
  )
  const unfinished = db.prepare<[], { owner: string; document: string; process: string; created_at: number }>(
    `SELECT user_id AS owner, document, process, created_at FROM response JOIN response_thread USING (thread_id)
      WHERE process IS NOT NULL AND user_id <> '${hiddenOwner}'`,
  )
  const found = ({ owner, key }: Reader, id: string) => find.get({ owner, key: key ?? null, id })
  const insertItems = (number: number, { items }: Written) => {
    for (const { position, id, item } of items) insertItem.run(number, position, id, item)
  }

  return {
    find: found,
    /** The thread of the response that another one continues. */
    threadOf: (reader: Reader, previous: string | undefined) =>
      previous === undefined ? undefined : found(reader, previous)?.thread_id,
    openThread: (owner: string) => Number(open.run(owner).lastInsertRowid),
    insert(given: NewResponse, thread: number, written: Written, process: string | null): void {
      const { key = null, previous = null, created_at } = given
      const { id } = given.response
      const { document, bytes, items } = written
      const row = { thread, id, key, previous, created_at, process, items: items.length, bytes, document }
      insertItems(Number(insert.run(row).lastInsertRowid), written)
    },
    use: (thread: number, at: number, bytes: number) => void use.run({ thread, at, bytes }),
    finish({ number, thread_id, document: before }: ResponseRow, written: Written, events?: Uint8Array): void {
      const bytes = written.bytes + (events?.length ?? 0)
      end.run({ number, items: written.items.length, bytes, document: written.document })
      insertItems(number, written)
      if (events) insertEvents.run(number, events)
      grow.run(bytes - Buffer.byteLength(before), thread_id)
    },
    output: (number: number) => output.all(number),
    all: (number: number) => all.all(number),
    item({ owner, key }: Reader, id: string, since: number): string | undefined {
      const wanted = { owner, key: key ?? null, id, since }
      return item.get(wanted) ?? (alike.get(id)! > mostAlike ? ownItem.get(wanted) : undefined)
    },
    /** One item more than the page has, where there are more. */
    input(number: number, { limit, order, after }: ItemPage): readonly string[] | undefined {
      const place = after === undefined ? (order === 'asc' ? -1 : firstOutput) : placeOf.get(number, after)
      return place === undefined ? undefined : pages[order].all({ number, place, limit: limit + 1 })
    },
    events: (number: number) => events.get(number),
    extent: (owner: string) => extent.get(owner)!,
    hide(reader: Reader, id: string): boolean {
      const row = found(reader, id)
      if (row) hideResponse(db, row)
      return row !== undefined
    },
    hideBefore: (since: number) => hideBefore.run(since).changes,
    unfinished: () => unfinished.all().map(({ document, ...row }) => ({ ...row, response: JSON.parse(document) })),
  }
}
