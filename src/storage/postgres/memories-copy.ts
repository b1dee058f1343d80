import type { Scope } from '../../personas/personas.ts'
import { rangeOf } from '../shared/memory-scope.ts'
import { findScope, makeScope } from '../stores/memory-scope.ts'
import { runOn } from './driver.ts'
import type { Transaction } from './sql.ts'

/**
 * Copies the memories of a scope into a new one, in the database: their numbers within the scope stay, and with them the index.
 * Rows that are written meanwhile may be missing: the caller compares the scope's revision.
 */
export async function copyMemories(tx: Transaction, from: Scope, to: Scope): Promise<void> {
  const source = await runOn(tx, findScope(from))
  if (!source) return
  const target = await runOn(tx, makeScope(to))
  const { low, high } = rangeOf(source.scope_id)
  const values = [low, high, rangeOf(target.scope_id).low - low]
  const columns = async (table: string) => {
    const rows = await tx.rows<{ attname: string }>(
      `SELECT attname FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
      [table],
    )
    return rows.map(({ attname }) => attname)
  }
  /** `of` is the table that a row's foreign key names: one that came meanwhile has no copy there. */
  const copy = async (table: string, of?: string) => {
    const names = await columns(table)
    const values_ = names.map((name) =>
      name === 'memory_id' ? 'r.memory_id + $3::bigint' : name === 'scope_id' ? `${target.scope_id}` : `r.${name}`,
    )
    await tx.run(
      `INSERT INTO ${table} (${names.join(', ')}) SELECT ${values_.join(', ')} FROM ${table} r
        WHERE r.memory_id BETWEEN $1 AND $2
        ${of ? `AND EXISTS (SELECT 1 FROM ${of} o WHERE o.memory_id = r.memory_id + $3::bigint)` : ''}`,
      values,
    )
  }
  await copy('memory')
  for (const table of ['memory_terms', 'memory_vector', 'memory_carried']) await copy(table, 'memory')
  await copy('memory_sketch', 'memory_vector')
  await tx.run(
    `INSERT INTO memory_posting (scope_id, term, block, own, around)
       SELECT $2, term, block, own, around FROM memory_posting WHERE scope_id = $1`,
    [source.scope_id, target.scope_id],
  )
  await tx.run(
    `UPDATE memory_scope t SET last_number = s.last_number, memories = s.memories, length = s.length
       FROM memory_scope s WHERE s.scope_id = $1 AND t.scope_id = $2`,
    [source.scope_id, target.scope_id],
  )
}
