import { AppError } from '../../errors.ts'
import type { EmbeddingSpace, Scope } from '../../personas/memory/memory.ts'
import {
  type ArchivedMemory,
  type Passthrough,
  type PersonaSnapshot,
  snapshotBatch,
} from '../../personas/package/archive.ts'
import { entryOf, type Row } from '../shared/memory-rows.ts'
import { rangeOf } from '../shared/memory-scope.ts'
import { cachedState, logPages, pagesOf, readState } from './adaptations.ts'
import { translated, translating } from './errors.ts'
import { holdTransaction } from './held.ts'
import { findScope } from './memories-scope.ts'
import { revisionOf } from './persona-read.ts'
import { findPersona } from './personas.ts'
import type { Database, Transaction } from './sql.ts'

/**
 * Opens a snapshot: a transaction of its own that sees the database as it is now, while others write. Undefined when that user
 * has no such persona.
 */
export async function openSnapshot(db: Database, scope: Scope): Promise<PersonaSnapshot | undefined> {
  let head: SnapshotHead | undefined
  let tx: Transaction | undefined
  const held = await holdTransaction(
    db,
    async (begun) => {
      tx = begun
      head = await readHead(begun, scope)
    },
    { level: 'repeatable read', readOnly: true },
  )
  if (!head) {
    await held.end()
    return undefined
  }
  let isClosed = false
  const read = async function* <T>(pages: AsyncGenerator<readonly T[]>): AsyncGenerator<readonly T[]> {
    try {
      for await (const page of pages) {
        if (isClosed) throw new AppError('internal', 'The snapshot was closed while it was read')
        yield page
      }
    } catch (reason) {
      throw translated(reason)
    }
  }
  return {
    ...head,
    log: () => read(logPages(tx!, scope)),
    memories: () => read(memoryPages(tx!, scope)),
    ...translating({
      end: () => readState(tx!, scope),
      seals: async () => ({ since: null, problems: [] }),
      async close() {
        isClosed = true
        await held.end()
      },
    }),
  }
}

type SnapshotHead = Pick<PersonaSnapshot, 'revision' | 'persona' | 'learned' | 'passthrough' | 'spaces'>

async function readHead(tx: Transaction, scope: Scope): Promise<SnapshotHead | undefined> {
  const revision = await revisionOf(tx, scope)
  const persona = await findPersona(tx, scope.personaId)
  if (revision === undefined || persona?.user_id !== scope.userId) return undefined
  const learned = (await cachedState(tx, scope)) ?? (await readState(tx, scope)).learned
  const carried = await tx.row<{ fields: string }>('SELECT fields FROM persona_carried WHERE persona_id = $1', [
    scope.personaId,
  ])
  return {
    revision,
    persona,
    learned,
    passthrough: carried ? (JSON.parse(carried.fields) as Passthrough) : {},
    spaces: await readSpaces(tx, scope),
  }
}

async function readSpaces(tx: Transaction, scope: Scope): Promise<readonly EmbeddingSpace[]> {
  const row = await findScope(tx, scope)
  if (!row) return []
  const { low, high } = rangeOf(row.scope_id)
  return tx.rows<EmbeddingSpace>(
    `SELECT key, model, dimension FROM embedding_space WHERE space_id IN
       (SELECT DISTINCT space_id FROM memory_sketch WHERE memory_id BETWEEN $1 AND $2) ORDER BY key`,
    [low, high],
  )
}
