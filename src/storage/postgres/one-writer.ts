import type { ChangeKind } from '../shared/changes.ts'

/**
 * Serialises the writers of one kind until the transaction ends: locks the counter that `changes.writing` raises. For the
 * beginning of a transaction, so that a check of other rows holds until the commit, and all writers take their locks in one
 * order; later statements see the writes of the previous writer.
 */
export function oneWriter(kind: ChangeKind): string {
  return `SELECT 1 FROM change WHERE kind = '${kind}' FOR UPDATE`
}
