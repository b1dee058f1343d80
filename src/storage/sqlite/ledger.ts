import type { LedgerRow, LedgerStore } from '../../usage/ledger/ledger.ts'
import { dayNumber, valuesOf } from '../shared/ledger-rows.ts'
import { columnsOfSums, sumsByDay } from '../shared/ledger-sums.ts'
import { withoutWaiting } from './busy.ts'
import type { Database } from './connection.ts'
import { goesOn, pauseFor } from './housekeeping.ts'
import { syncLog, withoutSync } from './late-sync.ts'
import { problemsIn } from './ledger-check.ts'
import { createLedgerNames } from './ledger-names.ts'
import { readRows, summedUp } from './ledger-reports.ts'
import { budgetProblems, settlementOf } from './limits-settle.ts'

/** Rows removed at once: some milliseconds. */
const slice = 1000

/** The ledger in SQLite. */
export function createLedgerStore(db: Database): LedgerStore {
  const names = createLedgerNames(db)
  const insert = db.prepare(`INSERT INTO ledger VALUES (${Array.from({ length: 27 }, () => '?').join(', ')})
     ON CONFLICT (request, attempt) DO NOTHING`)
  const add = db.prepare(
    `INSERT INTO ledger_day VALUES (${Array.from({ length: 5 + columnsOfSums.length }, () => '?').join(', ')})
     ON CONFLICT DO UPDATE SET ${columnsOfSums.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')}`,
  )
  const settlement = settlementOf(db)
  const append = db.transaction((rows: readonly LedgerRow[]) => {
    const added = rows.filter((row) => !settlement.isBooked(row) && insert.run(valuesOf(row, names.idOf)).changes > 0)
    for (const { place, sums } of sumsByDay(added, names.idOf)) add.run(...place, ...sums)
    settlement.settle(added)
    return added.length
  })
  const remove = db.prepare<[number]>(
    `DELETE FROM ledger WHERE rowid IN (SELECT rowid FROM ledger WHERE day < ? ORDER BY day, at LIMIT ${slice})`,
  )
  const begin = db.prepare<[number]>('UPDATE ledger_begin SET day = max(day, ?)')

  return {
    append: async (rows) => {
      if (rows.length === 0) return 0
      try {
        const added = withoutWaiting(db, () => withoutSync(db, () => append.immediate(rows)))
        await syncLog(db)
        return added
      } catch (reason) {
        // Names of a transaction that was rolled back have no number.
        names.forget()
        throw reason
      }
    },
    sums: async (query) => summedUp(db, query, names),
    rows: async (query) => readRows(db, query, names),
    check: async () => [...(await problemsIn(db, names)), ...budgetProblems(db)],
    async prune(before) {
      const day = dayNumber(before)
      begin.run(day)
      let removed = 0
      for (let changes = slice; changes === slice && goesOn(db); ) {
        const begun = performance.now()
        changes = remove.run(day).changes
        removed += changes
        if (changes === slice) await pauseFor(performance.now() - begun)
      }
      return removed
    },
  }
}
