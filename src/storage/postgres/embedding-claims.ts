import type { EmbeddingClaim, Scope } from '../../personas/memory/memory.ts'
import { claimStatement, claimValues, keptStatement } from '../shared/embedding-claims.ts'
import type { Database } from './sql.ts'

/** See `MemoryStore.claimEmbedding`. */
export async function claimEmbedding(db: Database, scope: Scope, claim: EmbeddingClaim): Promise<boolean> {
  const values = claimValues(scope, claim)
  const numbered = (number: number, type: string) => `$${number}::${type}`
  // A statement has all its parameters: those that are not looked at have a type as well.
  const kept = `${keptStatement(numbered)} AND ($3::text, $4::text, $7::bigint, $8::bigint) IS NOT NULL`
  if (claim.heldFor === 0 && (await db.row(kept, values))) return true
  return (await db.run(claimStatement(numbered), values)) > 0
}
