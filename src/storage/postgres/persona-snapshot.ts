import type { PersonaSnapshot, Scope } from '../../personas/personas.ts'
import type { Work } from '../port/port.ts'
import { openSnapshotBy } from '../stores/persona-snapshot.ts'
import { runOn } from './driver.ts'
import { translated } from './errors.ts'
import { holdTransaction } from './held.ts'
import { memoryIndexOf } from './memory-index.ts'
import type { Database, Transaction } from './sql.ts'
import type { VectorColumn } from './vectors-table.ts'

/** Opens a snapshot: a transaction that sees the database as it is now. Undefined without such a persona. */
export async function openSnapshot(
  db: Database,
  column: VectorColumn,
  scope: Scope,
): Promise<PersonaSnapshot | undefined> {
  let snapshot: PersonaSnapshot | undefined
  const held: { end?: () => Promise<void> } = {}
  const transaction = await holdTransaction(
    db,
    async (tx) => {
      snapshot = await snapshotIn(tx, column, scope, async () => held.end?.())
    },
    { level: 'repeatable read', readOnly: true },
  )
  held.end = () => transaction.end()
  if (!snapshot) await transaction.end()
  return snapshot
}

/** The state that a transaction shows, also of rows that it wrote: a snapshot without a transaction of its own. */
export function snapshotIn(
  tx: Transaction,
  column: VectorColumn,
  scope: Scope,
  close: () => Promise<void> = async () => {},
): Promise<PersonaSnapshot | undefined> {
  const read = <R>(work: Work<R>) =>
    runOn(tx, work).catch((reason) => {
      throw translated(reason)
    })
  return openSnapshotBy(
    {
      read,
      index: memoryIndexOf(column),
      close,
    },
    scope,
  )
}
