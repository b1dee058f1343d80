import type { EmbeddingClaim, Scope } from '../../personas/memory/memory.ts'
import { claimStatement, claimValues, keptStatement } from '../shared/embedding-claims.ts'
import type { Database } from './connection.ts'
import type { Migration } from './migration.ts'

/** Which process embeds a scope's memories, and in which space its vectors are kept. */
export const embeddingClaimMigrations: readonly Migration[] = [
  {
    name: 'embedding-claims-1',
    up: (db) =>
      db.exec(`
        CREATE TABLE embedding_lease (
          scope_id INTEGER PRIMARY KEY REFERENCES memory_scope (scope_id) ON DELETE CASCADE,
          holder TEXT NOT NULL,
          held_until INTEGER NOT NULL,
          model TEXT NOT NULL,
          space TEXT,
          kept_until INTEGER NOT NULL
        ) STRICT;
      `),
  },
]

/** See `MemoryStore.claimEmbedding`. */
export function claimEmbedding(db: Database, scope: Scope, claim: EmbeddingClaim): boolean {
  const values = Object.fromEntries(claimValues(scope, claim).map((value, at) => [`v${at + 1}`, value]))
  const named = (number: number) => `@v${number}`
  if (claim.heldFor === 0 && db.prepare<[object]>(keptStatement(named)).get(values)) return true
  return db.prepare<[object]>(claimStatement(named)).run(values).changes > 0
}
