import type { ChangeKind } from '../shared/changes.ts'
import type { Transaction } from './sql.ts'

/**
 * Has the writers of one kind wait for each other until the transaction ends: it locks the counter that `changes.writing` raises.
 * First in a transaction, so that a check of other rows holds until the commit, and that all take their locks in one order;
 * statements that are sent behind it see what the writer before has written.
 */
export async function oneWriter(tx: Transaction, kind: ChangeKind): Promise<void> {
  await tx.row('SELECT 1 FROM change WHERE kind = $1 FOR UPDATE', [kind])
}
