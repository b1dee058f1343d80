import { AppError } from '../../errors.ts'
import { type Persona, scopeOf } from '../persona.ts'
import type { Embedders } from './embedding.ts'
import type { MemoryEntry, MemoryStore, PendingPage, Vector } from './memory.ts'

export interface ReembeddingParts {
  readonly store: MemoryStore
  readonly embedders: Embedders
  readonly clock: () => number
}

export interface Reembedding {
  /** Embeds what has no vector of the persona's model, in the background. */
  start(persona: Persona): void
  /** The same after a pause: the runner has just failed. */
  later(persona: Persona): void
  /** Starts it if something may be pending; cheap to call at every search. */
  check(persona: Persona): void
  /** Ends the work; resolves when nothing is written any more. */
  close(): Promise<void>
}

/** Texts sent to the embedder at once: enough to keep it busy, few enough that each write is short. */
const batch = 32
/** Milliseconds after a failure: doubled each time up to a minute. */
const firstPause = 2_000
const longestPause = 60_000
/** Milliseconds that closing waits for a batch. */
const patience = 2_000
/** How long a scope that was found complete is believed to be. */
const believed = 30_000

interface Job {
  running: Promise<void> | undefined
  timer: NodeJS.Timeout | undefined
  pause: number
  completeAt: number
  /** For which model that holds. */
  model: string | undefined
}

/**
 * Brings vectors up to date: for memories stored while the runner was away, and for all of them after the persona's model
 * has changed. Search goes on with what is there. A job lives in this process only; what it did not finish, the next look
 * at the persona finds again, since the database says what is missing.
 */
export function createReembedding({ store, embedders, clock }: ReembeddingParts): Reembedding {
  const jobs = new Map<string, Job>()
  const stop = new AbortController()
  let closed = false

  return {
    start,
    later(persona) {
      const job = jobOf(persona)
      job.completeAt = Number.NEGATIVE_INFINITY
      if (!job.running && !job.timer) wait(persona, job)
    },
    check(persona) {
      const job = jobOf(persona)
      const complete = job.model === persona.embedding_model && clock() - job.completeAt < believed
      if (!complete && !job.timer) start(persona)
    },
    async close() {
      closed = true
      for (const { timer } of jobs.values()) clearTimeout(timer)
      // A batch under way may still be written; a runner that takes its time is not waited for.
      const timer = setTimeout(() => stop.abort(), patience)
      await Promise.all([...jobs.values()].map(({ running }) => running))
      clearTimeout(timer)
    },
  }

  function jobOf(persona: Persona): Job {
    const known = jobs.get(persona.id)
    if (known) return known
    const job: Job = {
      running: undefined,
      timer: undefined,
      pause: firstPause,
      completeAt: Number.NEGATIVE_INFINITY,
      model: undefined,
    }
    jobs.set(persona.id, job)
    return job
  }

  function start(persona: Persona): void {
    const job = jobOf(persona)
    if (job.running || closed) return
    clearTimeout(job.timer)
    job.timer = undefined
    job.running = work(persona)
      .then((complete) => {
        job.pause = firstPause
        if (complete) Object.assign(job, { completeAt: clock(), model: persona.embedding_model })
      })
      .catch((reason) => {
        // The runner is away: later. Anything else would fail again at once, and the next look tells whether it still does.
        if (reason instanceof AppError && reason.code !== 'not_found') wait(persona, job)
        else job.completeAt = clock()
      })
      .finally(() => {
        job.running = undefined
      })
  }

  function wait(persona: Persona, job: Job): void {
    if (closed) return
    job.timer = setTimeout(() => {
      job.timer = undefined
      start(persona)
    }, job.pause)
    job.timer.unref()
    job.pause = Math.min(job.pause * 2, longestPause)
  }

  /** True when nothing is left to do; false when it was stopped. */
  async function work(persona: Persona): Promise<boolean> {
    const scope = scopeOf(persona)
    const embedder = embedders.embedder(persona.embedding_model)
    let spaceKey = embedder.space()?.key
    for (let from: number | undefined = 0; !closed; ) {
      // Before the model has made a vector its space is not known, and whatever is there counts as missing: one will tell.
      const isKnown = spaceKey !== undefined
      const page: PendingPage = await store.pending(scope, spaceKey, from, isKnown ? batch : 1)
      const entries = page.entries
      // Others get their turn between batches, and where many have their vector already.
      await new Promise((resolve) => setImmediate(resolve))
      if (closed) return false
      if (entries.length > 0) spaceKey = await embedBatch(entries)
      // What was asked for without a space is asked for again with it.
      from = isKnown || entries.length === 0 ? page.next : 0
      if (from === undefined) return true
    }
    return false

    async function embedBatch(entries: readonly MemoryEntry[]): Promise<string> {
      const texts = entries.map(({ content }) => content)
      const { space, vectors } = await embedder.embed(texts, 'document', stop.signal)
      const made = entries.map((entry, at): [string, Vector] => [entry.id, { space, values: vectors[at]! }])
      await store.putVectors(scope, new Map(made))
      return space.key
    }
  }
}
