import type { Scope } from '../../personas/memory/memory.ts'
import { lockScope, makeScope } from './memories-scope.ts'
import { hideScope } from './removal.ts'
import type { Transaction } from './sql.ts'

/** All memories of a scope leave at once, and are removed afterwards; the record of evictions stays. Resolves with how many they are. */
export async function hideMemories(tx: Transaction, scope: Scope): Promise<number> {
  const row = await lockScope(tx, scope)
  if (!row || row.memories === 0) return 0
  await hideScope(tx, scope)
  const { scope_id } = await makeScope(tx, scope)
  await tx.run('UPDATE memory_eviction SET scope_id = $1 WHERE scope_id = $2', [scope_id, row.scope_id])
  return row.memories
}
