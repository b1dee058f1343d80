import {
  type EmbeddingClaim,
  type Eviction,
  type Found,
  keptEvictions,
  type MemoryStore,
  type RetentionPolicy,
  type Scope,
  type SearchQuery,
  spaceKeptMs,
  type WipeFilter,
} from '../../personas/personas.ts'
import { yieldToEventLoop } from '../../process/process.ts'
import type { MemoryIndex } from '../port/memory-index.ts'
import { row, type StoreDatabase, sql, type Work } from '../port/port.ts'
import type { StoredLimits } from '../shared/limits.ts'
import { evictionsOf, getMemory, listMemories, loreMemories, memoryCategories, pendingMemories } from './memory-read.ts'
import { findScope, scopesAfter } from './memory-scope.ts'
import { addMemories, cleanSlice, editMemory, putEmbedded, removeMemory, wipeSlice } from './memory-write.ts'

/** What a database does for memories in its own way. */
export interface MemoryParts {
  readonly limits: StoredLimits | undefined
  /** Runs work with the index; again where another process has changed the index to another kind meanwhile. */
  withIndex<R>(work: (index: MemoryIndex) => R | Promise<R>): Promise<R>
  search(scope: Scope, query: SearchQuery): Promise<Found>
  /** All memories of a scope leave at once, and are removed afterwards; the record of evictions stays. Resolves with how many they are. */
  hide(scope: Scope): Work<number>
  /** Removes hidden memories and personas, those of other processes too. */
  removeHidden(): Promise<void>
  /** Has what was removed leave the disk. */
  release(): Promise<void>
  /** The same after a wipe, which may have hidden memories. */
  wiped(hasHidden: boolean): Promise<void>
  /** Leaves the database to others between two slices, the last of which took these milliseconds. */
  rest(ms: number): Promise<void>
  /** Whether work in slices that can be done later may go on, and whether any may. */
  goesOn(): boolean
  isOpen(): boolean
}

/** Memories: the table, the full-text index and the vectors change together or not at all, within the quota. */
export function createMemoryStore(db: StoreDatabase, parts: MemoryParts): MemoryStore {
  const { limits, withIndex } = parts
  const reading = <R>(work: (index: MemoryIndex) => Work<R>) => withIndex((index) => db.read(work(index)))
  const writing = <R>(work: (index: MemoryIndex) => Work<R>) => withIndex((index) => db.write(() => work(index)))
  return {
    async add(scope, memories, policy) {
      const stored = await writing((index) => addMemories(index, scope, memories, policy, limits))
      const { entries, added, evicted, more } = stored
      if (more) await yieldToEventLoop()
      const all = [...evicted, ...(more ? await cleaned(scope, policy) : [])]
      if (all.length > 0) await parts.release()
      return { entries, added, evicted: all.slice(0, keptEvictions) }
    },
    get: async (scope, id, unexpired) => (await reading((index) => getMemory(index, scope, id, unexpired)))?.entry,
    edit: (scope, id, change, policy, vector) =>
      writing((index) => editMemory(index, scope, id, { change, vector }, policy, limits)),
    async remove(scope, id) {
      const removed = await writing((index) => removeMemory(index, scope, id))
      if (removed) await parts.release()
      return removed
    },
    list: (scope, options) => reading((index) => listMemories(index, scope, options)),
    categories: async (scope, unexpired) => db.read(memoryCategories(scope, unexpired)),
    async wipe(scope, filter) {
      const isEverything = filter.category === undefined && filter.before === undefined
      const wiped = isEverything ? await db.write(() => parts.hide(scope)) : await wiping(scope, filter)
      if (wiped > 0) await parts.wiped(isEverything)
      return wiped
    },
    async trim(scope, policy) {
      let more = true
      const started = performance.now()
      for (let begun = started; more && begun - started < trimMs && parts.goesOn(); begun = performance.now()) {
        more = (await writing((index) => cleanSlice(index, scope, policy))).more
        if (more) await parts.rest(performance.now() - begun)
      }
      if (!more) await parts.release()
      return more
    },
    async clean(scope, policy) {
      const evicted = await cleaned(scope, policy)
      if (evicted.length > 0) await parts.release()
      return evicted.slice(0, keptEvictions)
    },
    scopes: async (after) => db.read(scopesAfter(after)),
    clear: parts.removeHidden,
    search: parts.search,
    pending: async (scope, spaceKey, from, limit) => db.read(pendingMemories(scope, spaceKey, from, limit)),
    lore: async (scope, unexpired, from, limit) => db.read(loreMemories(scope, unexpired, from, limit)),
    putVectors: (scope, embedded) => writing((index) => putEmbedded(index, scope, embedded)),
    claimEmbedding: (scope, claim) => claimEmbedding(db, scope, claim),
    evictions: async (scope, limit) => db.read(evictionsOf(scope, limit)),
  }

  async function cleaned(scope: Scope, policy: RetentionPolicy): Promise<Eviction[]> {
    const all: Eviction[] = []
    for (let more = true; more && parts.goesOn(); ) {
      const slice = await writing((index) => cleanSlice(index, scope, policy))
      // A scope of hundreds of thousands has as many records, of which the newest are kept.
      if (all.length < keptEvictions) all.push(...slice.evicted)
      more = slice.more
      if (slice.evicted.length > 0) await yieldToEventLoop()
    }
    return all
  }

  async function wiping(scope: Scope, filter: WipeFilter): Promise<number> {
    const from = await db.read(findScope(scope))
    let wiped = 0
    for (let more = from !== undefined; more && parts.isOpen(); ) {
      const slice = await writing((index) => wipeSlice(index, scope, filter, from!.last_number))
      wiped += slice.wiped
      more = slice.more
      if (more) await yieldToEventLoop()
    }
    return wiped
  }
}

/** Milliseconds that the caller of a trim waits; it ends with the slice that is under way. */
const trimMs = 200

/** See `MemoryStore.claimEmbedding`. The statement writes a row where the claim is granted. */
async function claimEmbedding(
  db: StoreDatabase,
  { personaId, userId }: Scope,
  { holder, model, space, heldFor, now }: EmbeddingClaim,
): Promise<boolean> {
  // Where an idle space is claimed for long enough a search need not write.
  const kept = row(
    sql`SELECT 1 AS kept FROM memory_scope JOIN embedding_lease ON embedding_lease.scope_id = memory_scope.scope_id
        WHERE persona_id = ${personaId} AND user_id = ${userId} AND space = ${space} AND held_until <= ${now}
          AND kept_until > ${now + spaceKeptMs / 2}`,
  )
  if (heldFor === 0 && (await db.read(kept))) return true
  const granted = await db.run(
    sql`INSERT INTO embedding_lease (scope_id, holder, model, space, held_until, kept_until)
        SELECT scope_id, CAST(${holder} AS text), CAST(${model} AS text), CAST(${space} AS text),
            CAST(${now + heldFor} AS bigint), CAST(${now + spaceKeptMs} AS bigint)
          FROM memory_scope WHERE persona_id = ${personaId} AND user_id = ${userId}
        ON CONFLICT (scope_id) DO UPDATE SET holder = excluded.holder, model = excluded.model,
            held_until = excluded.held_until,
            space = coalesce(excluded.space,
              CASE WHEN embedding_lease.model = excluded.model THEN embedding_lease.space END),
            kept_until = CASE WHEN excluded.space IS NULL THEN embedding_lease.kept_until ELSE excluded.kept_until END
          WHERE (embedding_lease.holder = excluded.holder OR embedding_lease.held_until <= ${now})
            AND (embedding_lease.holder = excluded.holder OR embedding_lease.model <> excluded.model
              OR embedding_lease.space IS NULL OR excluded.space IS NULL OR embedding_lease.space = excluded.space
              OR embedding_lease.kept_until <= ${now})`,
  )
  return granted > 0
}
