import type { PersonaSnapshot, Scope } from '../../personas/personas.ts'
import type { Work } from '../port/port.ts'
import { openSnapshotBy } from '../stores/persona-snapshot.ts'
import { runOn } from './driver.ts'
import { translated } from './errors.ts'
import { holdTransaction } from './held.ts'
import { memoryIndexOf } from './memory-index.ts'
import { checkSealsBy } from './seals.ts'
import type { Database, Transaction } from './sql.ts'
import type { VectorColumn } from './vectors-table.ts'

/**
 * Opens a snapshot: a transaction of its own that sees the database as it is now, while others write. Undefined when that user
 * has no such persona.
 */
export async function openSnapshot(
  db: Database,
  column: VectorColumn,
  scope: Scope,
  sealSecrets: readonly string[] | undefined,
): Promise<PersonaSnapshot | undefined> {
  let snapshot: PersonaSnapshot | undefined
  const held: { end?: () => Promise<void> } = {}
  const transaction = await holdTransaction(
    db,
    async (tx) => {
      snapshot = await snapshotIn(tx, column, scope, { sealSecrets, close: async () => held.end?.() })
    },
    { level: 'repeatable read', readOnly: true },
  )
  held.end = () => transaction.end()
  if (!snapshot) await transaction.end()
  return snapshot
}

interface SnapshotOptions {
  /** Those of the seals that `seals` compares; without them it says that none are kept. */
  readonly sealSecrets?: readonly string[] | undefined
  readonly close?: () => Promise<void>
}

/** The state that a transaction shows, also of rows that it wrote: a snapshot without a transaction of its own. */
export function snapshotIn(
  tx: Transaction,
  column: VectorColumn,
  scope: Scope,
  { sealSecrets, close = async () => {} }: SnapshotOptions = {},
): Promise<PersonaSnapshot | undefined> {
  const read = <R>(work: Work<R>) =>
    runOn(tx, work).catch((reason) => {
      throw translated(reason)
    })
  return openSnapshotBy(
    {
      read,
      index: memoryIndexOf(column),
      seals: async () => sealSecrets && read(checkSealsBy(sealSecrets, column, scope)),
      close,
    },
    scope,
  )
}
