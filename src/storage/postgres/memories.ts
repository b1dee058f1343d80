import {
  type Eviction,
  keptEvictions,
  type MemoryStore,
  type RetentionPolicy,
  type Scope,
  type WipeFilter,
} from '../../personas/memory/memory.ts'
import type { Context } from './context.ts'
import { claimEmbedding } from './embedding-claims.ts'
import { vacuum } from './housekeeping.ts'
import {
  evictionsOf,
  getMemory,
  listMemories,
  loreMemories,
  loreVersion,
  memoryCategories,
  pendingMemories,
} from './memories-read.ts'
import { findScope, scopesAfter } from './memories-scope.ts'
import { searchMemories } from './memories-search.ts'
import {
  addMemories,
  cleanSlice,
  editMemory,
  hideMemories,
  putEmbedded,
  removeMemory,
  wipeSlice,
} from './memories-write.ts'
import { checkQuota } from './quota.ts'
import { goesOn, removeHidden } from './removal.ts'
import { withVectors } from './vectors-column.ts'

/** Memories in PostgreSQL: the table, the full-text index and the vectors change together or not at all, within the quota. */
export function createMemoryStore({ db, limits }: Context): MemoryStore {
  return {
    async add(scope, memories, policy) {
      const { entries, added, evicted, more } = await withVectors(db, (column) =>
        db.transaction(async (tx) => {
          const stored = await addMemories(tx, column, scope, memories, policy)
          await checkQuota(tx, limits, scope.userId)
          return stored
        }),
      )
      const all = [...evicted, ...(more ? await cleaned(scope, policy) : [])]
      return { entries, added, evicted: all.slice(0, keptEvictions) }
    },
    get: (scope, id, unexpired) => withVectors(db, (column) => getMemory(db, column, scope, id, unexpired)),
    edit: (scope, id, change, policy, vector) =>
      withVectors(db, (column) =>
        db.transaction(async (tx) => {
          const edited = await editMemory(tx, column, scope, id, change, policy, vector)
          if (edited?.hasGrown) await checkQuota(tx, limits, scope.userId)
          return edited?.entry
        }),
      ),
    remove: (scope, id) => db.transaction((tx) => removeMemory(tx, scope, id)),
    list: (scope, options) => withVectors(db, (column) => listMemories(db, column, scope, options)),
    categories: (scope, unexpired) => memoryCategories(db, scope, unexpired),
    async wipe(scope, filter) {
      const isEverything = filter.category === undefined && filter.before === undefined
      const wiped = isEverything ? await db.transaction((tx) => hideMemories(tx, scope)) : await wiping(scope, filter)
      if (isEverything && wiped > 0) await removeHidden(db)
      if (wiped > 0) vacuum(db, withTextOfMemories)
      return wiped
    },
    async trim(scope, policy) {
      let more = true
      for (const end = performance.now() + trimMs; more && performance.now() < end && goesOn(db); )
        more = (await db.transaction((tx) => cleanSlice(tx, scope, policy))).more
      return more
    },
    async clean(scope, policy) {
      const evicted = await cleaned(scope, policy)
      return evicted.slice(0, keptEvictions)
    },
    scopes: (after) => scopesAfter(db, after),
    clear: () => removeHidden(db),
    search: (scope, query) => withVectors(db, (column) => searchMemories(db, column, scope, query)),
    pending: (scope, spaceKey, from, limit) => pendingMemories(db, scope, spaceKey, from, limit),
    loreVersion: (scope) => loreVersion(db, scope),
    lore: (scope, unexpired, from, limit) => loreMemories(db, scope, unexpired, from, limit),
    putVectors: (scope, embedded) =>
      withVectors(db, (column) => db.transaction((tx) => putEmbedded(tx, column, scope, embedded))),
    claimEmbedding: (scope, claim) => claimEmbedding(db, scope, claim),
    evictions: (scope, limit) => evictionsOf(db, scope, limit),
  }

  async function cleaned(scope: Scope, policy: RetentionPolicy): Promise<Eviction[]> {
    const all: Eviction[] = []
    for (let more = true; more && goesOn(db); ) {
      const slice = await db.transaction((tx) => cleanSlice(tx, scope, policy))
      // A scope of hundreds of thousands has as many records, of which the newest are kept.
      if (all.length < keptEvictions) all.push(...slice.evicted)
      more = slice.more
    }
    return all
  }

  async function wiping(scope: Scope, filter: WipeFilter): Promise<number> {
    const from = await findScope(db, scope)
    let wiped = 0
    for (let more = from !== undefined; more && goesOn(db); ) {
      const slice = await db.transaction((tx) => wipeSlice(tx, scope, filter, from!.last_number))
      wiped += slice.wiped
      more = slice.more
    }
    return wiped
  }
}

/** Milliseconds that the caller of a trim waits; it ends with the slice that is under way. */
const trimMs = 200

/** The tables with text or vectors of memories. */
const withTextOfMemories = ['memory', 'memory_terms', 'memory_posting', 'memory_vector', 'memory_sketch']
