import { AppError } from '../../errors.ts'
import { createJob, endedEvents, goesOn, type Job, type Piece } from './job.ts'
import { wrongField } from './refusals.ts'
import { interrupted, type OpenedRequest, type Responses } from './responses.ts'
import type { Reader, ResponseObject } from './store.ts'

export interface NewJob {
  readonly opened: OpenedRequest
  readonly reader: Reader
  /** The response before its answer: `queued`. */
  readonly queued: ResponseObject
  /** The events of its answer; a failure is an event too. */
  run(signal: AbortSignal): AsyncIterable<Piece>
}

export interface Started {
  /** Ends it as failed, unless it has ended. */
  stop(reason: AppError): void
  /** Resolves when it has ended. */
  readonly ended: Promise<void>
}

export type Background = ReturnType<typeof createBackground>

/** Running at the same time; each holds its conversation in memory. */
const mostPerUser = 8
const mostInAll = 32

/** A response that is ended or removed by another process is left so soon: milliseconds between two looks, while any runs. */
const lookMs = 250

interface Running {
  readonly job: Job
  readonly reader: Reader
  isKept?: true
}

/** Background answers of this process: at most 8 of one user and 32 in all. */
export function createBackground(responses: Responses) {
  const running = new Map<string, Running>()
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<unknown> | undefined

  return {
    /** Keeps and starts one. Throws `rate_limited` for too many. */
    async start({ opened, reader, queued, run }: NewJob): Promise<Started> {
      refuseTooMany(reader)
      const job = createJob({
        queued,
        run,
        // A job stays listed until its end is written, so that it is not reported as running forever.
        save: async (response) => {
          const isWritten = await responses.finish(reader.owner, response, opened)
          const end = isWritten ? undefined : await endElsewhere(reader, response)
          running.delete(queued.id)
          return end
        },
      })
      const entry: Running = { job, reader }
      running.set(queued.id, entry)
      try {
        await responses.begin(opened, queued, reader)
        entry.isKept = true
        timer ??= setInterval(look, lookMs).unref()
      } catch (reason) {
        running.delete(queued.id)
        throw reason
      }
      return { ended: job.start(), stop: (reason) => void job.stop(failed(reason)) }
    },
    runs: (id: string) => running.has(id),
    /** The response as it is now, never in a state before one that a process has shown. Throws `not_found`. */
    async find(reader: Reader, id: string): Promise<ResponseObject> {
      const job = runningFor(reader, id)
      if (!job) return shown(await keptBy(reader, id))
      const { response, finished } = await responses.find(reader, id)
      return finished ? response : shown(job.response())
    },
    /**
     * The events after a sequence number, to the end of the answer; of one that has ended, the whole response as its
     * last event. Throws `not_found`, and `invalid` for one that was not made in the background or is made by another
     * process.
     */
    async follow(reader: Reader, id: string, after: number): Promise<AsyncIterable<string>> {
      const job = runningFor(reader, id)
      if (job) {
        // Its end may be written while it is still listed: the one who has read that gets what everybody gets after the end.
        const { response, finished } = await responses.find(reader, id)
        return finished ? endedEvents(response, after) : job.follow(after)
      }
      const response = await keptBy(reader, id)
      if (response['background'] !== true)
        throw wrongField('stream', 'Only a response that was made with background: true can be streamed again')
      if (goesOn(response))
        throw wrongField('stream', 'Another process makes this response', ['Poll it without stream until it has ended'])
      return endedEvents(response, after)
    },
    /** Cancels it, and resolves with its end. Throws `not_found`, and `invalid` for one not made in the background. */
    async cancel(reader: Reader, id: string): Promise<ResponseObject> {
      const job = runningFor(reader, id)
      if (job) return job.stop(cancelled)
      const response = await keptBy(reader, id)
      if (response['background'] === true) return cancelElsewhere(reader, response)
      throw wrongField('background', 'Only a response that was made with background: true can be cancelled')
    },
    /** Removes a response, running or kept. Throws `not_found`. */
    async remove(reader: Reader, id: string) {
      await runningFor(reader, id)?.stop(cancelled)
      await responses.remove(reader, id)
    },
    async cancelAll(owner: string) {
      const own = [...running.values()].filter(({ reader }) => reader.owner === owner)
      await Promise.all(own.map(({ job }) => job.stop(cancelled)))
    },
    /** Ends all running ones as failed. */
    async close() {
      clearInterval(timer)
      await looking
      await Promise.all([...running.values()].map(({ job }) => job.stop(interrupted)))
    },
  }

  function runningFor(reader: Reader, id: string): Job | undefined {
    const found = running.get(id)
    if (!found || found.reader.owner !== reader.owner) return undefined
    return reader.key === undefined || reader.key === found.reader.key ? found.job : undefined
  }

  /** Leaves the running responses that another process has ended or removed. */
  function look(): void {
    looking ??= Promise.all([...running].map(([id, entry]) => leaveEnded(id, entry).catch(() => undefined))).finally(
      () => {
        looking = undefined
      },
    )
    if (running.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  async function leaveEnded(id: string, { job, reader, isKept }: Running): Promise<void> {
    if (!isKept) return
    const { response } = job
    const end = await endElsewhere(reader, response())
    if (goesOn(end)) return
    await job.stop(() => end)
    running.delete(id)
  }

  /** The response as it is kept, which continues here alone or has ended elsewhere; a removed one is cancelled. */
  async function endElsewhere(reader: Reader, response: ResponseObject): Promise<ResponseObject> {
    try {
      return (await responses.find(reader, response.id)).response
    } catch (reason) {
      if (reason instanceof AppError && reason.code === 'not_found') return cancelled(response)
      throw reason
    }
  }

  /** Another process works on it: its end there is not kept any more. */
  async function cancelElsewhere(reader: Reader, response: ResponseObject): Promise<ResponseObject> {
    if (!goesOn(response)) return response
    await responses.finish(reader.owner, cancelled(response))
    return (await responses.find(reader, response.id)).response
  }

  async function keptBy(reader: Reader, id: string): Promise<ResponseObject> {
    const { response, finished } = await responses.find(reader, id)
    if (finished) return response
    // Its process may have been killed since.
    await responses.failOrphans()
    return (await responses.find(reader, id)).response
  }

  function refuseTooMany({ owner }: Reader): void {
    const own = [...running.values()].filter(({ reader }) => reader.owner === owner).length
    if (own < mostPerUser && running.size < mostInAll) return
    const most = own < mostPerUser ? `${mostInAll} responses of all users` : `${mostPerUser} of your responses`
    throw new AppError('rate_limited', `At most ${most} may run in the background at the same time`, {
      details: ['Try again when one of them has ended'],
      retryAfter: 5,
    })
  }
}

/** As it is reported: each is begun at once, and what its process knows of it another one does not see. */
function shown(response: ResponseObject): ResponseObject {
  return response.status === 'queued' ? { ...response, status: 'in_progress' } : response
}

function cancelled(response: ResponseObject): ResponseObject {
  return { ...response, status: 'cancelled' }
}

function failed({ message }: AppError): (response: ResponseObject) => ResponseObject {
  return (response) => ({ ...response, status: 'failed', error: { code: 'server_error', message } })
}
