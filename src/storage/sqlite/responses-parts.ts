import { run, type StoreDatabase, sql, together, word } from '../port/port.ts'
import { hiddenOwner } from '../shared/hidden-owner.ts'
import { mayRun, processMark } from '../shared/process-mark.ts'
import type { ResponseParts } from '../stores/responses.ts'
import type { Database } from './connection.ts'
import { syncLater, withoutSync } from './late-sync.ts'
import { removeHidden } from './removal.ts'

/** Responses as SQLite keeps them. */
export function createResponseParts(db: Database, driver: StoreDatabase): ResponseParts {
  return {
    // One by one: a large text within JSON is read several times.
    writeItems: (number, items) =>
      together(
        ...items.map(({ position, id, item }) =>
          run(
            sql`INSERT INTO response_item (number, position, id, item) VALUES (${number}, ${position}, ${id}, ${item})`,
          ),
        ),
      ),
    hasId: (id) => sql`response_item.id = ${id}`,
    // It leaves with a hidden thread of its own.
    leave: ({ number, bytes }) =>
      together(
        run(
          sql`INSERT INTO response_thread (user_id, used_at, responses, bytes) VALUES (${hiddenOwner}, 0, 1, ${bytes})`,
        ),
        run(sql`UPDATE response SET thread_id = last_insert_rowid() WHERE number = ${number}`),
      ),
    async writeSoon(work) {
      const removed = await withoutSync(db, () => driver.writeSoon(work))
      syncLater(db)
      // Answers before the rows of old responses are removed.
      if (removed) void removeHidden(db)
    },
    write: (work) => driver.write(work),
    mark: processMark,
    hold() {},
    letGo() {},
    *renew() {},
    runs: word('true'),
    isLeft: ({ process, created_at }, before) => process !== processMark() && (!mayRun(process) || created_at < before),
  }
}
