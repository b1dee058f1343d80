import { run, sql, word } from '../port/port.ts'
import { idDigestOf } from '../schema/derived.ts'
import { hasEnded } from '../shared/process-mark.ts'
import type { ResponseParts } from '../stores/responses.ts'
import type { Context } from './context.ts'
import { onPostgres, runOn } from './driver.ts'
import { isRunning } from './process-lease.ts'

/** Responses as PostgreSQL keeps them. */
export function createResponseParts({ db, driver, lease }: Context): ResponseParts {
  /** The responses that this process works on. */
  const unfinished = new Set<string>()
  return {
    *writeItems(number, items) {
      if (items.length === 0) return
      const columns = [
        items.map(({ position }) => position),
        items.map(({ id }) => (id === null ? null : idDigestOf(id))),
        items.map(({ item }) => item),
      ]
      yield* onPostgres((tx) =>
        tx.run(
          `INSERT INTO response_item (number, position, id_digest, item)
             SELECT $1, * FROM unnest($2::int[], $3::bytea[], $4::text[])`,
          [number, ...columns],
        ),
      )
    },
    hasId: (id) => sql`id_digest = ${idDigestOf(id)}`,
    leave: ({ number }) => run(sql`DELETE FROM response WHERE number = ${number}`),
    writeSoon: (work) =>
      db.transaction(
        async (tx) => {
          await tx.script('SET LOCAL synchronous_commit = off')
          await runOn(tx, work())
        },
        { leavesPersonas: true },
      ),
    write: (work) => driver.write(work),
    mark: () => lease.mark,
    hold(id) {
      if (unfinished.has(id)) return
      unfinished.add(id)
      lease.hold()
    },
    letGo(id) {
      if (unfinished.delete(id)) lease.release()
    },
    renew: () => onPostgres((tx) => lease.renew(tx)),
    runs: word('true', isRunning('process')),
    // Leases show the processes of all machines, so that none has to be given up by its age.
    isLeft: ({ process, runs }) => !runs || hasEnded(process),
  }
}
