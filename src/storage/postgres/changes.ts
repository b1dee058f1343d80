import type { ChangeKind, Changes } from '../shared/changes.ts'
import type { Database, Transaction, TransactionOptions } from './sql.ts'

/** The changes of all processes, and how the stores of this one make theirs known. */
export interface OwnChanges extends Changes {
  /**
   * Runs a transaction that may change what is cached, counts the change in it, and tells all processes with its commit. This
   * process drops what it cached when it ends, however it ends.
   */
  writing<R>(kind: ChangeKind, work: (tx: Transaction) => Promise<R>, options?: TransactionOptions): Promise<R>
  close(): void
}

/** The channel of notifications; the payload is a kind. */
export const channel = 'aichat'

/** See `OwnChanges`. */
export function createChanges(db: Database): OwnChanges {
  return {
    mark: () => undefined,
    writing: (kind, work, options) =>
      db.transaction(async (tx) => {
        const result = await work(tx)
        await Promise.all([
          tx.run('UPDATE change SET number = number + 1 WHERE kind = $1', [kind]),
          tx.row('SELECT pg_notify($1, $2)', [channel, kind]),
        ])
        return result
      }, options),
    close() {},
  }
}
