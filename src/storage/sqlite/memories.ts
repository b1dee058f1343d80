import {
  type Candidate,
  type Eviction,
  keptEvictions,
  type MemoryStore,
  mostSearched,
  type RetentionPolicy,
  type Scope,
  type WipeFilter,
} from '../../personas/memory/memory.ts'
import { pauseFor, yieldToEventLoop } from '../shared/event-loop.ts'
import type { ScopeRow } from '../shared/memory-scope.ts'
import type { Database } from './connection.ts'
import { claimEmbedding } from './embedding-claims.ts'
import { goesOn, releasePages } from './housekeeping.ts'
import { type Chosen, createMemoryReader } from './memories-read.ts'
import { findScope, scopesAfter } from './memories-scope.ts'
import { createMemoryWriter } from './memories-write.ts'
import type { Quota } from './quota.ts'
import { hideMemories, removeHidden } from './removal.ts'

/** Memories in SQLite: the table, the full-text index and the vectors change together or not at all, within the quota. */
export function createMemoryStore(db: Database, quota?: Quota): MemoryStore {
  const reader = createMemoryReader(db)
  const writer = createMemoryWriter(db)
  const inOneView = <T>(work: () => T): T => db.transaction(work)()
  const inOneWrite = <T>(work: () => T): T => db.transaction(work).immediate()
  return {
    async add(scope, memories, policy) {
      const { entries, added, evicted, more } = inOneWrite(() => {
        const stored = writer.add(scope, memories, policy)
        quota?.check(scope.userId)
        return stored
      })
      if (more) await yieldToEventLoop()
      const all = [...evicted, ...(more ? await cleaned(scope, policy) : [])]
      if (all.length > 0) await releasePages(db)
      return { entries, added, evicted: all.slice(0, keptEvictions) }
    },
    get: async (scope, id, unexpired) => inOneView(() => reader.get(scope, id, unexpired)),
    edit: async (scope, id, edit, policy, vector) =>
      inOneWrite(() => {
        const edited = writer.edit(scope, id, edit, policy, vector)
        if (edited?.hasGrown) quota?.check(scope.userId)
        return edited?.entry
      }),
    async remove(scope, id) {
      const removed = inOneWrite(() => writer.remove(scope, id))
      if (removed) await releasePages(db)
      return removed
    },
    list: async (scope, options) => inOneView(() => reader.list(scope, options)),
    categories: async (scope, unexpired) => inOneView(() => reader.categories(scope, unexpired)),
    async wipe(scope, filter) {
      const wiped = isEverything(filter)
        ? inOneWrite(() => hideMemories(db, scope))
        : await wiping(scope, filter, findScope(db, scope))
      if (wiped > 0) await removeHidden(db)
      return wiped
    },
    async trim(scope, policy) {
      let more = true
      const started = performance.now()
      for (let begun = started; more && begun - started < trimMs && goesOn(db); begun = performance.now()) {
        more = inOneWrite(() => writer.clean(scope, policy)).more
        if (more) await pauseFor(performance.now() - begun)
      }
      if (!more) await releasePages(db)
      return more
    },
    async clean(scope, policy) {
      const evicted = await cleaned(scope, policy)
      if (evicted.length > 0) await releasePages(db)
      return evicted.slice(0, keptEvictions)
    },
    scopes: async (after) => scopesAfter(db, after),
    clear: () => removeHidden(db),
    async search(scope, query) {
      const chosen = inOneView(() => reader.choose(scope, query))
      if (!chosen) return { memories: 0, meanLength: 0, frequencies: query.terms.map(() => 0), candidates: [] }
      const candidates: Candidate[] = []
      const { slices, isCut } = slicesOf(chosen.sizes)
      for (const [at, numbers] of slices.entries()) {
        if (at > 0) await yieldToEventLoop()
        candidates.push(...reader.candidates(scope, chosen, numbers, query))
      }
      return { ...chosen.figures, candidates, ...(isCut && { isCut }) }
    },
    pending: async (scope, spaceKey, from, limit) => inOneView(() => reader.pending(scope, spaceKey, from, limit)),
    loreVersion: async (scope) => reader.loreVersion(scope),
    lore: async (scope, unexpired, from, limit) => inOneView(() => reader.lore(scope, unexpired, from, limit)),
    putVectors: async (scope, embedded) => inOneWrite(() => writer.putVectors(scope, embedded)),
    claimEmbedding: async (scope, claim) => claimEmbedding(db, scope, claim),
    evictions: async (scope, limit) => reader.evictions(scope, limit),
  }

  async function cleaned(scope: Scope, policy: RetentionPolicy): Promise<Eviction[]> {
    const all: Eviction[] = []
    for (let more = true; more && goesOn(db); ) {
      const slice = inOneWrite(() => writer.clean(scope, policy))
      // A scope of hundreds of thousands has as many records, of which the newest are kept.
      if (all.length < keptEvictions) all.push(...slice.evicted)
      more = slice.more
      if (slice.evicted.length > 0) await yieldToEventLoop()
    }
    return all
  }

  async function wiping(scope: Scope, filter: WipeFilter, from: ScopeRow | undefined): Promise<number> {
    let wiped = 0
    for (let more = from !== undefined; more && db.open; ) {
      const slice = inOneWrite(() => writer.wipe(scope, filter, from!.last_number))
      wiped += slice.wiped
      more = slice.more
      if (more) await yieldToEventLoop()
    }
    return wiped
  }
}

/** Bytes of memories that are read in one turn of the event loop: some ten milliseconds' work. */
const bytesAtOnce = 1_000_000

/** The numbers of memories that are read together, as many as one search reads. */
function slicesOf(sizes: Chosen['sizes']): {
  readonly slices: readonly (readonly number[])[]
  readonly isCut: boolean
} {
  const slices: number[][] = []
  let left = 0
  let all = 0
  for (const [number, bytes] of sizes) {
    if (all >= mostSearched) return { slices, isCut: true }
    all += bytes
    if (slices.length === 0 || bytes > left) {
      slices.push([])
      left = bytesAtOnce
    }
    slices.at(-1)!.push(number)
    left -= bytes
  }
  return { slices, isCut: false }
}

/** Milliseconds that the caller of a trim waits; it ends with the slice that is under way. */
const trimMs = 200

function isEverything({ category, before }: WipeFilter): boolean {
  return category === undefined && before === undefined
}
