import { randomUUID } from 'node:crypto'
import { AppError } from '../../errors.ts'
import { yieldToEventLoop } from '../../process/process.ts'
import { type Persona, scopeOf } from '../persona.ts'
import type { Embedders } from './embedding.ts'
import type { MemoryEntry, MemoryStore, PendingPage } from './memory.ts'

export interface ReembeddingParts {
  readonly store: MemoryStore
  readonly embedders: Embedders
  readonly clock: () => number
  /** Milliseconds after a failure; without it the usual 2,000. */
  readonly firstPause?: number | undefined
}

/** Texts per call of the embedder: enough to keep it busy, few enough that each write is short. */
const batch = 32
/** Milliseconds after a failure, with exponential backoff up to a minute. */
const usualFirstPause = 2_000
const longestPause = 60_000
/** Milliseconds that closing waits for a batch. */
const closeTimeout = 2_000
/** Milliseconds for which a batch keeps other processes from embedding the same; renewed while it is under way. */
const heldFor = 30_000
/** Milliseconds for which a scope that was found complete is not checked again. */
const checkInterval = 30_000

interface Job {
  running: Promise<void> | undefined
  timer: NodeJS.Timeout | undefined
  pause: number
  completeAt: number
  /** The model of `completeAt`. */
  model: string | undefined
}

/**
 * Brings vectors up to date: for memories stored while the runner was away, and for all of them after the persona's model
 * has changed. Search goes on meanwhile. A job lives in this process only; the database lists the missing vectors, so the
 * next check of the persona resumes an unfinished one.
 */
export function createReembedding({ store, embedders, clock, firstPause = usualFirstPause }: ReembeddingParts) {
  const jobs = new Map<string, Job>()
  /** Of this process, among those that share the storage. */
  const holder = randomUUID()
  const stop = new AbortController()
  let closed = false

  return {
    start,
    /** The same after a pause, when the runner has just failed. */
    later(persona: Persona) {
      const job = jobOf(persona)
      job.completeAt = Number.NEGATIVE_INFINITY
      if (!job.running && !job.timer) wait(persona, job)
    },
    /** Starts it if vectors may be pending; cheap enough for every search. */
    check(persona: Persona) {
      const job = jobOf(persona)
      const complete = job.model === persona.embedding_model && clock() - job.completeAt < checkInterval
      if (!complete && !job.timer) start(persona)
    },
    /** Ends the work; resolves after the last write. */
    async close() {
      closed = true
      for (const { timer } of jobs.values()) clearTimeout(timer)
      // A batch under way may still be written; a slow runner is aborted.
      const timer = setTimeout(() => stop.abort(), closeTimeout)
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

  /** Embeds memories without a vector of the persona's model, in the background. */
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
        // The runner is away: retry later. Any other failure would repeat at once: the next check tries again.
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

  /** True when all vectors are there or another process sees to them; false when it was stopped. */
  async function work(persona: Persona): Promise<boolean> {
    const scope = scopeOf(persona)
    const embedder = embedders.embedder(persona.embedding_model)
    let spaceKey = embedder.space()?.key
    const claim = (ms: number) =>
      store.claimEmbedding(scope, {
        holder,
        model: embedder.model,
        heldFor: ms,
        now: clock(),
        ...(spaceKey !== undefined && { space: spaceKey }),
      })
    let isHeld = false
    try {
      return await embedAll()
    } finally {
      // Another process may go on at once where this one failed or was stopped.
      if (isHeld) await claim(0).catch(() => {})
    }

    async function embedAll(): Promise<boolean> {
      for (let from: number | undefined = 0; !closed; ) {
        // Before the first vector the model's space is unknown and all memories count as missing: one of them is embedded.
        const isKnown = spaceKey !== undefined
        const page: PendingPage = await store.pending(scope, spaceKey, from, isKnown ? batch : 1)
        const entries = page.entries
        // Yields to the event loop between batches and between pages without any.
        await yieldToEventLoop()
        if (closed) return false
        if (entries.length > 0 && !(await embedBatch(entries))) return true
        // Starts again from 0 once the space is known.
        from = isKnown || entries.length === 0 ? page.next : 0
        if (from === undefined) {
          isHeld ||= spaceKey !== undefined
          return true
        }
      }
      return false
    }

    /** False where another process embeds these memories, or keeps them in a space of its own. */
    async function embedBatch(entries: readonly MemoryEntry[]): Promise<boolean> {
      isHeld = await claim(heldFor)
      if (!isHeld) return false
      const beat = setInterval(() => claim(heldFor).catch(() => {}), heldFor / 3)
      try {
        const texts = entries.map(({ content }) => content)
        const { space, vectors } = await embedder.embed(texts, 'document', stop.signal)
        const isKnown = spaceKey === space.key
        spaceKey = space.key
        if (!isKnown && !(await claim(heldFor))) return false
        const embedded = entries.map(({ id, content }, at) => ({
          id,
          content,
          vector: { space, values: vectors[at]! },
        }))
        await store.putVectors(scope, embedded)
        return true
      } finally {
        clearInterval(beat)
      }
    }
  }
}
