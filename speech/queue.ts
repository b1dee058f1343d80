import { AppError } from '../src/errors.ts'
import { createWorkQueue } from '../src/process/process.ts'
import { newSpeechCount, type SpeechCount } from './speech-counts.ts'

/** Counts the requests inside, those in line, those refused, and how long each waited for its turn. */
export type QueueCount = Pick<SpeechCount, 'inside' | 'waiting' | 'refused' | 'waits'>

export type RequestQueue = ReturnType<typeof createRequestQueue>

/** A bounded queue in front of an engine: requests are let in up to a number, and take turns chunk by chunk. */
export function createRequestQueue(limit: number, counts: QueueCount = newSpeechCount()) {
  const turns = createWorkQueue({ running: 1 })
  let inside = 0
  /** How long a turn lasts, in seconds: a running mean, for an honest Retry-After. */
  let meanTurn = 1

  return {
    /** Lets a request in; call the result when it is over. Throws `busy` with the seconds to wait when the queue is full. */
    enter(): () => void {
      if (inside >= limit) {
        counts.refused++
        const retryAfter = Math.max(1, Math.min(30, Math.ceil(meanTurn * limit)))
        throw new AppError('busy', 'Too many speech requests are waiting', {
          details: [`${inside} are being answered; try again in ${retryAfter} s`],
          retryAfter,
        })
      }
      inside += 1
      counts.inside++
      return once(() => {
        inside -= 1
        counts.inside--
      })
    },
    /** Resolves when the engine is free for this caller; call the result when done. First come, first served. */
    async take(signal?: AbortSignal): Promise<() => void> {
      const asked = performance.now()
      counts.waiting++
      const leave = await turns.enter(signal).finally(() => counts.waiting--)
      const started = performance.now()
      counts.waits.add((started - asked) / 1000)
      return once(() => {
        meanTurn += 0.2 * ((performance.now() - started) / 1000 - meanTurn)
        leave()
      })
    },
  }
}

function once(work: () => void): () => void {
  let done = false
  return () => {
    if (done) return
    done = true
    work()
  }
}
