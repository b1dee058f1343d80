import type { ChangeKind } from '../shared/changes.ts'
import type { Transaction } from './sql.ts'

/**
 * Serialises the writers of one kind until the transaction ends: it locks the counter that `changes.writing` raises.
 * Call it first in a transaction, so that a check of other rows holds until the commit, and all writers take their
 * locks in one order; later statements see the writes of the previous writer.
 */
export async function oneWriter(tx: Transaction, kind: ChangeKind): Promise<void> {
  await tx.row('SELECT 1 FROM change WHERE kind = $1 FOR UPDATE', [kind])
}
