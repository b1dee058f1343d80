import type { LedgerStore } from '../../usage/ledger/ledger.ts'
import { dayNumber } from '../shared/ledger-rows.ts'
import type { Context } from './context.ts'
import { problemsIn } from './ledger-check.ts'
import { createLedgerNames } from './ledger-names.ts'
import { readRows, summedUp } from './ledger-reports.ts'
import { addSums, insertRows, namesIn } from './ledger-write.ts'
import { beginSettlement, budgetProblems } from './limits-settle.ts'

/** Rows removed at once: some ten milliseconds. */
const slice = 5000

/** The ledger in PostgreSQL. */
export function createLedgerStore({ db }: Context): LedgerStore {
  const names = createLedgerNames(db)
  return {
    async append(rows) {
      if (rows.length === 0) return 0
      const idOf = await names.idsOf(namesIn(rows))
      return db.transaction(async (tx) => {
        const settlement = await beginSettlement(tx, rows)
        const added = await insertRows(tx, settlement.rows, idOf)
        if (added.length > 0) await Promise.all([addSums(tx, added, idOf), settlement.settle(added)])
        return added.length
      })
    },
    sums: (query) => summedUp(db, query, names),
    rows: async (query) => readRows(db, query, names),
    check: async () => [...(await problemsIn(db, names)), ...(await budgetProblems(db))],
    async prune(before) {
      const day = dayNumber(before)
      await db.run('UPDATE ledger_begin SET day = $1 WHERE day < $1', [day])
      let removed = 0
      for (let changes = slice; changes === slice; removed += changes)
        changes = await db.run(
          `DELETE FROM ledger WHERE ctid = ANY(ARRAY(
             SELECT ctid FROM ledger WHERE day < $1 ORDER BY day, at, id LIMIT ${slice} FOR UPDATE SKIP LOCKED))`,
          [day],
        )
      return removed
    },
  }
}
