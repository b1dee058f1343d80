import { AppError } from '../../errors.ts'
import { counted } from '../../formats/formats.ts'
import { heavyTurn, inTurns, yieldToEventLoop } from '../../process/process.ts'
import { memorySettingsOf, type Persona, type Personas, scopeOf } from '../persona.ts'
import { builtinModel, type Embedder, type Embedders } from './embedding.ts'
import { withLaterNews } from './later-news.ts'
import { liftLinked } from './links.ts'
import type {
  ChangedBackups,
  EditedMemory,
  Eviction,
  Forgotten,
  ListOptions,
  MemoryChange,
  MemoryEntry,
  MemoryFilter,
  MemoryInput,
  MemoryStore,
  Parts,
  RetentionPolicy,
  Unexpired,
  Vector,
  WipeFilter,
} from './memory.ts'
import { metadata } from './memory.ts'
import { asksOfThen, endEarlier, endMemory, holdsAt, presentOf, saidBy } from './present.ts'
import { type Ranked, rankingSteps } from './ranking.ts'
import { readQuery } from './ranking-query.ts'
import { createReembedding } from './reembedding.ts'
import { candidatesFor, withLinked } from './timely-search.ts'

export interface MemoryView extends Omit<MemoryEntry, 'vector'> {
  /** The name of the embedding model that the persona uses. */
  readonly embedding_model: string
  /** `pending` until the model has answered; until then the memory is found by its words. */
  readonly embedding_status: 'ready' | 'pending'
  /** Only on request; empty while pending. */
  readonly embedding?: readonly number[]
}

export interface SearchHit {
  readonly entry: MemoryEntry
  readonly score: number
  readonly parts: Parts
  /** Whether the score reaches the persona's floor, `memory_settings.min_score`. */
  readonly relevant: boolean
  /** The id of an older memory about the same thing, which this one supersedes. */
  readonly supersedes?: string
}

export interface SearchOutcome {
  readonly hits: readonly SearchHit[]
  /** `lexical` when no vector took part: the runner is away, or nothing is embedded yet. */
  readonly mode: 'hybrid' | 'lexical'
  readonly embedding_model: string
  /** Whether memories that may match were left out: there are too many long ones for the time of one search. */
  readonly cut: boolean
}

export interface SearchOptions {
  readonly query: string
  readonly limit: number
  /** By default 0. */
  readonly minScore?: number | undefined
  /** Only memories that meet these conditions are searched. */
  readonly filter?: MemoryFilter | undefined
  /** The time whose memories are searched: those that were said up to then and held then. Milliseconds since 1970 UTC. */
  readonly asOf?: number | undefined
  /** Whether memories that a later one has ended are found as well, and not what ended them. */
  readonly withEnded?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

/** The memories of personas, which callers have looked up as their user's own. */
export type Memories = ReturnType<typeof createMemories>

export interface MemoriesParts {
  readonly store: MemoryStore
  readonly personas: Pick<Personas, 'get'>
  readonly embedders: Embedders
  /** Runs a removal, and takes what goes out of the persona's backups, see `Backups.forget`; without it there are none. */
  readonly forgetting?:
    | (<T>(
        persona: Persona,
        what: Forgotten,
        remove: () => Promise<T>,
      ) => Promise<{ readonly result: T; readonly backups: ChangedBackups }>)
    | undefined
  /** Learns the ids of memories that a new one has ended. */
  readonly onEnded?: ((persona: Persona, ids: readonly string[]) => Promise<void>) | undefined
  readonly clock: () => number
  /** The clock by which memories expire, see `openSettledClock`; without it the usual one. */
  readonly settledClock?: (() => number) | undefined
  /** Milliseconds; without it the usual 3,000. */
  readonly embeddingTimeout?: number | undefined
  /** Milliseconds before missing vectors are tried again; without it the usual 2,000. */
  readonly firstPause?: number | undefined
  /** Milliseconds of a clock that is never set, for the time of a search; without it that of the process. */
  readonly stopwatch?: (() => number) | undefined
}

/** Candidates for ranking. More would change little below the first fifty places. */
const candidates = 120

/** Fewer candidates are ranked in a millisecond, unless they are long. */
const fewCandidates = 200

/** Milliseconds in which a search reads its candidates, the waits for its turns included; most take a few. */
const searchMs = 2_000

/** Milliseconds that a new memory waits for its vector; a model that has to be loaded first gets longer in the background. */
const usualEmbeddingTimeout = 3_000

/** Keeps, searches and evicts the memories of personas; makes missing vectors in the background until `close`. */
export function createMemories(parts: MemoriesParts) {
  const { store, personas, embedders, onEnded, clock, embeddingTimeout = usualEmbeddingTimeout, firstPause } = parts
  const settled = parts.settledClock ?? clock
  const forgetting: NonNullable<MemoriesParts['forgetting']> =
    parts.forgetting ??
    (async (_persona, _what, remove) => ({ result: await remove(), backups: { rewritten: 0, removed: 0 } }))
  const stopwatch = parts.stopwatch ?? (() => performance.now())
  const reembedding = createReembedding({ store, embedders, clock, firstPause })
  /** By persona. */
  const trimming = new Map<string, Promise<void>>()
  let isClosing = false

  return {
    async add(
      persona: Persona,
      input: MemoryInput,
    ): Promise<{ readonly memory: MemoryView; readonly evicted: readonly Eviction[] }> {
      const { entries, evicted } = await keep(persona, [input])
      const [entry] = entries
      return { memory: viewOf(entry!, persona, entry!.vector, true), evicted }
    },
    /**
     * Adds memories in slices, so that others are served meanwhile; a failure removes the added ones, and nothing is
     * evicted before all are stored. `updated` counts those that were there already; `evicted` is the number that made
     * room.
     */
    async addAll(
      persona: Persona,
      inputs: readonly MemoryInput[],
    ): Promise<{ readonly added: number; readonly updated: number; readonly evicted: number }> {
      const scope = scopeOf(persona)
      const policy = policyOf(persona, clock(), settled())
      const unlimited = { ...policy, maxMemories: Number.MAX_SAFE_INTEGER, cleanup: false }
      const added: string[] = []
      try {
        for (const slice of slicesOf(inputs)) added.push(...(await keep(persona, slice, unlimited)).added)
        await refuseFull(persona, policy, added.length)
      } catch (reason) {
        for (const id of added) {
          await heavyTurn({ user: persona.user_id })
          await store.remove(scope, id)
        }
        throw reason
      }
      const evicted = await store.clean(scope, policy)
      return { added: added.length, updated: inputs.length - added.length, evicted: evicted.length }
    },
    /** One memory, with its embedding. Throws `not_found` for an id that the persona has no memory of. */
    async get(persona: Persona, id: string): Promise<MemoryView> {
      const entry = await store.get(scopeOf(persona), id, unexpiredOf(persona, clock(), settled()))
      if (!entry) throw noMemory(id)
      reembedding.check(persona)
      return viewOf(entry, persona, entry.vector, true)
    },
    /**
     * Edits a memory: absent fields stay, labels are merged, and null removes one. Throws `not_found` as `get`, and
     * `invalid` for labels that do not go together, the text of another memory, and a pin without room.
     */
    async edit(
      persona: Persona,
      { id, content }: Pick<MemoryEntry, 'id' | 'content'>,
      change: MemoryChange,
    ): Promise<MemoryView> {
      const text = change.content === content ? undefined : change.content
      const work = { user: persona.user_id }
      await heavyTurn(work)
      const embedder = embedders.embedder(persona.embedding_model)
      const vectors = text === undefined ? undefined : await vectorsOf(embedder, [text], embeddingTimeout)
      await heavyTurn(work)
      const edited = await store.edit(
        scopeOf(persona),
        id,
        (before) => editedBy(before, change),
        policyOf(persona, clock(), settled()),
        vectors?.[0],
      )
      if (!edited) throw noMemory(id)
      if (text !== undefined && !vectors) reembedding.later(persona)
      return viewOf(edited, persona, edited.vector, true)
    },
    /** Removes a memory for good, from the persona's backups too. Throws `not_found` as `get`. */
    async remove(persona: Persona, id: string): Promise<ChangedBackups> {
      const removal = () => store.remove(scopeOf(persona), id)
      const { result, backups } = await forgetting(persona, { ids: [id] }, removal)
      if (!result) throw noMemory(id)
      return backups
    },
    /**
     * Removes memories for good, from the backups too; those that are gone already are no error, nor is a persona that
     * is.
     */
    async forget(owner: string, id: string, ids: readonly string[]) {
      const persona = await personas.get(owner, id).catch((reason: unknown) => {
        if (reason instanceof AppError && reason.code === 'not_found') return undefined
        throw reason
      })
      if (!persona || ids.length === 0) return
      await forgetting(persona, { ids }, async () => {
        for (const one of ids) await store.remove(scopeOf(persona), one)
      })
    },
    async list(
      persona: Persona,
      options: ListOptions,
    ): Promise<{ readonly memories: readonly MemoryView[]; readonly total: number }> {
      const listed = { ...options, ...unexpiredOf(persona, clock(), settled()), embeddings: true }
      const { entries, total } = await store.list(scopeOf(persona), listed)
      reembedding.check(persona)
      const embeddings = options.embeddings === true
      return { memories: entries.map((entry) => viewOf(entry, persona, entry.vector, embeddings)), total }
    },
    categories: (persona: Persona) => store.categories(scopeOf(persona), unexpiredOf(persona, clock(), settled())),
    evictions: (persona: Persona, limit: number) => store.evictions(scopeOf(persona), limit),
    /** Removes memories for good, and from the persona's backups all that meet the filter there, too. */
    async wipe(
      persona: Persona,
      filter: WipeFilter,
    ): Promise<{ readonly deleted: number; readonly backups: ChangedBackups }> {
      const { result: deleted, backups } = await forgetting(persona, { filter }, () =>
        store.wipe(scopeOf(persona), filter),
      )
      return { deleted, backups }
    },
    search,
    /** Stores memories; resolves with them in their order, and with the ids of those that were not there before. */
    store: (persona: Persona, memories: readonly MemoryInput[]) => keep(persona, memories),
    /** Ends a memory by a later one, as a model found it; one that is gone or has ended stays as it is. */
    async end(persona: Persona, id: string, by: Pick<MemoryEntry, 'id' | 'timestamp'>) {
      await endMemory(store, scopeOf(persona), id, by, policyOf(persona, clock(), settled()))
      await onEnded?.(persona, [id])
    },
    /** Embeds memories without a vector of the persona's model, in the background. */
    reembed: (persona: Persona) => reembedding.start(persona),
    /** Removes memories that the settings no longer allow: a few slices before it resolves, the rest behind it. */
    async clean(persona: Persona) {
      const more = await store.trim(scopeOf(persona), policyOf(persona, clock(), settled()))
      if (more && !trimming.has(persona.id)) trimming.set(persona.id, trimBehind(persona))
    },
    /** Removes for good the memories of removed users and personas. */
    clear: () => store.clear(),
    /**
     * Finishes removals of earlier processes and removes expired memories of all users: for a service, at intervals.
     */
    async maintain(signal?: AbortSignal) {
      await store.clear()
      let after = 0
      for (let page = await store.scopes(after); page.length > 0; page = await store.scopes(after))
        for (const { number, scope } of page) {
          if (signal?.aborted) return
          after = number
          const persona = await personas.get(scope.userId, scope.personaId).catch(() => undefined)
          if (persona) await store.clean(scope, policyOf(persona, clock(), settled()))
          await yieldToEventLoop()
        }
    },
    /** Ends background work; the next start resumes it. */
    async close() {
      isClosing = true
      await Promise.all([reembedding.close(), ...trimming.values()])
    },
  }

  /** Goes on behind the answer, by the persona's settings at that time; a later write does the rest. */
  async function trimBehind({ id, user_id: owner }: Persona): Promise<void> {
    try {
      for (let more = true; more && !isClosing; ) {
        const persona = await personas.get(owner, id)
        more = await store.trim(scopeOf(persona), policyOf(persona, clock(), settled()))
      }
    } catch {
      // A persona that was removed, or a database that cannot be written now: upkeep tries again.
    } finally {
      trimming.delete(id)
    }
  }

  /** Throws `invalid` when so many added memories leave too many that may not be evicted. */
  async function refuseFull(persona: Persona, { cleanup, maxMemories }: RetentionPolicy, added: number): Promise<void> {
    if (added === 0) return
    const { total } = await store.list(scopeOf(persona), { limit: 1, offset: 0, ...(cleanup && { pinned: true }) })
    if (total <= maxMemories) return
    const rule = cleanup ? ', and pinned ones are never removed' : ''
    throw new AppError(
      'invalid',
      `The persona's memory is full: it may hold ${counted(maxMemories, 'memory', 'memories')}${rule}`,
      {
        details: ['Add fewer, wipe some, or raise memory_settings.max_memories'],
      },
    )
  }

  /** Stores even when the runner is away: the vectors can follow. */
  async function keep(
    persona: Persona,
    memories: readonly MemoryInput[],
    policy: RetentionPolicy = policyOf(persona, clock(), settled()),
  ) {
    // Embedding and storing take some ten milliseconds each: without turns of their own, parallel requests would add up.
    const work = { user: persona.user_id }
    await heavyTurn(work)
    const vectors = await vectorsOf(
      embedders.embedder(persona.embedding_model),
      memories.map(({ content }) => content),
      embeddingTimeout,
    )
    await heavyTurn(work)
    const { now } = policy
    const outcome = await store.add(
      scopeOf(persona),
      memories.map((memory, at) => ({
        content: memory.content,
        timestamp: memory.timestamp ?? now,
        importance_score: memory.importance_score,
        metadata: memory.metadata,
        ...(vectors && { vector: vectors[at]! }),
      })),
      policy,
    )
    if (!vectors) reembedding.later(persona)
    const ended: string[] = []
    for (const entry of outcome.entries) ended.push(...(await endEarlier(store, scopeOf(persona), entry, policy)))
    if (ended.length > 0) await onEnded?.(persona, ended)
    return outcome
  }

  async function search(
    persona: Persona,
    { query, limit, minScore, filter: conditions, asOf, withEnded = false, signal }: SearchOptions,
  ): Promise<SearchOutcome> {
    const embedder = embedders.embedder(persona.embedding_model)
    const now = asOf ?? clock()
    const filter = asOf === undefined ? conditions : saidBy(asOf, conditions)
    // Times that were set apart from the words go before the words.
    const isBounded = conditions?.after !== undefined || conditions?.before !== undefined
    const asked = readQuery(query, embedders.rarity, isBounded ? undefined : now)
    const vector = await queryVector(embedder, query, signal)
    const work = { user: persona.user_id, isOver: () => signal?.aborted === true }
    const end = stopwatch() + searchMs
    const scope = scopeOf(persona)
    const rest = { ...(vector && { vector }), ...(filter && { filter }), ...unexpiredOf(persona, clock(), settled()) }
    const first = await candidatesFor(
      store,
      scope,
      asked,
      { candidates: Math.max(candidates, limit * 2), ...rest },
      work,
    )
    const { found, linked } = await withLinked(store, scope, asked, first, rest, work)
    // To read the candidates, to rank them and to write the answer are stages of their own.
    if (found.candidates.length > fewCandidates) await heavyTurn(work)
    const knowsLanguage = embedder.languages?.includes(asked.language) ?? true
    const vectors = vector && { trust: embedder.trust, knowsLanguage }
    const floor = memorySettingsOf(persona).min_score
    const isOver = () => stopwatch() > end
    const { ranked, isCut } = await inTurns(rankingSteps(found, { query: asked, vectors, now, isOver }), work)
    const lifted = liftLinked(ranked, linked)
    const present =
      asOf !== undefined
        ? lifted.filter(({ candidate }) => holdsAt(candidate.entry.metadata, asOf))
        : withEnded || asksOfThen(asked, now)
          ? lifted
          : await withLaterNews(store, scope, asked, await presentOf(store, scope, lifted), floor)
    const hits = present
      .filter(({ score }) => score >= (minScore ?? 0))
      .slice(0, limit)
      .map((ranked) => hitOf(ranked, floor))
    reembedding.check(persona)
    const used = vector !== undefined && found.candidates.some(({ cosine }) => cosine !== undefined)
    const cut = isCut || found.isCut === true
    return { hits, mode: used ? 'hybrid' : 'lexical', embedding_model: modelOf(persona), cut }
  }
}

/** Memories, and characters of them, that are stored in one transaction: some ten milliseconds' work. */
const sliceMemories = 32
const sliceCharacters = 20_000

/** Memories in slices; one of the greatest length is a slice of its own. */
function slicesOf(memories: readonly MemoryInput[]): readonly (readonly MemoryInput[])[] {
  const slices: MemoryInput[][] = []
  let characters = Number.POSITIVE_INFINITY
  for (const memory of memories) {
    characters += memory.content.length
    if (characters > sliceCharacters || slices.at(-1)!.length === sliceMemories) {
      slices.push([])
      characters = memory.content.length
    }
    slices.at(-1)!.push(memory)
  }
  return slices
}

/** A memory after a change. Throws `invalid` for labels that break a rule together with those that stay. */
function editedBy(before: MemoryEntry, change: MemoryChange): EditedMemory {
  const merged = Object.entries({ ...before.metadata, ...change.metadata })
  const removed = (name: string) => change.metadata?.[name] === null
  const labels = Object.fromEntries(merged.filter(([name]) => !removed(name)))
  // An import may have brought labels that break a rule; they stay until an edit speaks of labels.
  const checked = change.metadata ? metadata.safeParse(labels) : { success: true as const, data: before.metadata }
  if (!checked.success)
    throw new AppError('invalid', 'Invalid request', {
      details: checked.error.issues.map(
        ({ path, message }) => `${['metadata', ...path].map(String).join('.')}: ${message}`,
      ),
    })
  return {
    content: change.content ?? before.content,
    timestamp: change.timestamp ?? before.timestamp,
    importance_score: change.importance_score ?? before.importance_score,
    metadata: checked.data,
  }
}

function noMemory(id: string): AppError {
  return new AppError('not_found', `Memory "${id}" not found`, {
    details: ['`aichat persona memory list` shows the ids of a persona'],
  })
}

/** The filter for memories that have not expired. */
function unexpiredOf(persona: Persona, now: number, settled: number): Unexpired {
  const { cleanup, maxAge } = policyOf(persona, now, settled)
  return cleanup ? { since: now - maxAge } : {}
}

/** The retention policy of a persona's settings. An age counts up to the settled time, which may lag behind. */
function policyOf(persona: Persona, now: number, settled: number): RetentionPolicy {
  const { max_memories, retention_days, auto_cleanup } = memorySettingsOf(persona)
  return { maxMemories: max_memories, maxAge: retention_days * dayMs + (now - settled), cleanup: auto_cleanup, now }
}

const dayMs = 86_400_000

function hitOf({ candidate, score, parts, supersedes }: Ranked, floor: number): SearchHit {
  return {
    entry: candidate.entry,
    score,
    parts,
    relevant: score >= floor,
    ...(supersedes !== undefined && { supersedes }),
  }
}

function modelOf(persona: Persona): string {
  return persona.embedding_model ?? builtinModel
}

function viewOf(
  { vector: _vector, ...entry }: MemoryEntry,
  persona: Persona,
  vector: Vector | undefined,
  full: boolean,
): MemoryView {
  const model = modelOf(persona)
  const ready = vector !== undefined && vector.space.model === model
  return {
    ...entry,
    embedding_model: model,
    embedding_status: ready ? 'ready' : 'pending',
    ...(full && { embedding: ready ? [...vector.values] : [] }),
  }
}

/** A vector for each text; undefined when the runner does not answer within `timeout` milliseconds. */
async function vectorsOf(
  embedder: Embedder,
  texts: readonly string[],
  timeout: number,
): Promise<readonly Vector[] | undefined> {
  const signal = AbortSignal.timeout(timeout)
  try {
    const { space, vectors } = await embedder.embed(texts, 'document', signal)
    return vectors.map((values) => ({ space, values }))
  } catch (reason) {
    if (reason instanceof AppError || signal.aborted) return undefined
    throw reason
  }
}

/** The query's vector; undefined when the runner does not answer. */
async function queryVector(embedder: Embedder, query: string, signal?: AbortSignal): Promise<Vector | undefined> {
  try {
    const { space, vectors } = await embedder.embed([query], 'query', signal)
    return { space, values: vectors[0]! }
  } catch (reason) {
    if (reason instanceof AppError && !signal?.aborted) return undefined
    throw reason
  }
}
