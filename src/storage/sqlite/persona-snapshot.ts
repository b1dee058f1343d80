import type { PersonaSnapshot, Scope } from '../../personas/personas.ts'
import type { Work } from '../port/port.ts'
import { openSnapshotBy } from '../stores/persona-snapshot.ts'
import type { Database } from './connection.ts'
import { runOn } from './driver.ts'
import { translated } from './errors.ts'
import { createMemoryIndex } from './memory-index.ts'
import { openReader } from './reader.ts'

/**
 * Opens a snapshot on a connection of its own: a transaction that reads sees the database as it is now, and the
 * write-ahead log keeps that state for as long as it is open, while others write. The connection is in `readers`
 * until it is closed.
 */
export async function openSnapshot(
  path: string,
  scope: Scope,
  readers: Set<Database>,
): Promise<PersonaSnapshot | undefined> {
  const reader = openReader(path)
  readers.add(reader)
  const close = () => {
    readers.delete(reader)
    reader.close()
  }
  try {
    // The first statement after it fixes the state.
    reader.exec('BEGIN')
    const snapshot = await snapshotIn(reader, scope, close)
    if (!snapshot) close()
    return snapshot
  } catch (reason) {
    close()
    throw reason
  }
}

/** The state that a connection shows, for as long as nothing is written: a snapshot without a transaction of its own. */
export function snapshotIn(db: Database, scope: Scope, close: () => void): Promise<PersonaSnapshot | undefined> {
  const orTranslated = <R>(step: () => R): R => {
    try {
      return step()
    } catch (reason) {
      throw translated(reason)
    }
  }
  return openSnapshotBy(
    {
      read: <R>(work: Work<R>) => orTranslated(() => runOn(db, work)),
      index: createMemoryIndex(db),
      close,
    },
    scope,
  )
}
