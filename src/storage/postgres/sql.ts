/** Statements of one connection, or of one transaction. Parameters are `$1`, `$2`, …; int8 columns come as numbers, bytea as Buffers. */
export interface Sql {
  rows<R extends object>(text: string, values?: readonly unknown[]): Promise<R[]>
  row<R extends object>(text: string, values?: readonly unknown[]): Promise<R | undefined>
  /** Runs a statement that writes; resolves with the number of its rows. */
  run(text: string, values?: readonly unknown[]): Promise<number>
}

/** Statements of one transaction, sent together and run in order. After a failure all fail, but for a savepoint. */
export interface Transaction extends Sql {
  /** Several statements without parameters. */
  script(text: string): Promise<void>
}

export interface TransactionOptions {
  /** `read committed` unless given; under the others the server may ask for another attempt, and the work is run again. */
  readonly level?: 'read committed' | 'repeatable read' | 'serializable'
  readonly readOnly?: boolean
  /** A statement without parameters that goes with the begin: for a lock. */
  readonly first?: string
  /** Statements without parameters that go with the commit. */
  readonly last?: string
  /** Milliseconds that one statement may take; 0 for any time. The connection's own unless given. */
  readonly statementTimeout?: number
  /** Writes nothing of personas, nor of what is theirs. */
  readonly leavesPersonas?: boolean
  /** Whether it stays open between calls, see held.ts: on a connection of its own, and without a place among the short ones. */
  readonly isHeld?: boolean
}

/** A connection of its own, apart from the statements of the stores, which do not delay its queries. */
export interface Listener extends Pick<Sql, 'rows'> {
  close(): void
}

/**
 * A database that several processes share. Its own `rows` and `row` are for reads that wait for no lock: they go together
 * over one connection. All else fails with the driver's errors, see `translated`.
 */
export interface Database extends Sql {
  /**
   * Runs the work in a transaction of its own, and again, up to three times, where the server could not serialise it with
   * others or ended a deadlock, or where another one removed a row that it builds on: it changes nothing but rows.
   */
  transaction<R>(work: (tx: Transaction) => Promise<R>, options?: TransactionOptions): Promise<R>
  /** Counts the transactions of this process that may have written personas or what is theirs. */
  writes(): number
  /** Opens a connection of its own that hears of notifications on a channel; a pooler may deliver none. */
  listen(channel: string, onNotify: () => void): Promise<Listener>
  /** Without password. */
  readonly name: string
  /** Breaks all connections; statements under way fail as unreachable. The next attempt to connect waits its time. */
  drop(reason: Error): void
  close(): Promise<void>
}
