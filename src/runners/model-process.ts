import { availableParallelism } from 'node:os'
import { AppError, toAppError } from '../errors.ts'
import { createRevivedChild, createWorkQueue } from '../process/process.ts'
import type { GenerationEnd, GenerationRequest, ModelMethods } from './model-messages.ts'

export interface ModelProcessOptions {
  readonly kind: 'chat' | 'embedding'
  readonly name: string
  readonly folder: string
  /** Threads of one computation; all cores but one by default. */
  readonly threads?: number
  /** Calls that may wait behind the one that is answered. */
  readonly waiting?: number
  /** Milliseconds without a call after which the process ends and its memory is free again. */
  readonly idleMs?: number
  /** How long loading the model may take, in milliseconds. */
  readonly openMs?: number
  /** How long a cancelled call may go on before the process is killed, in milliseconds. */
  readonly graceMs?: number
}

/** A model in a process of its own. A crash or hang costs the call in flight; the next call starts a new process. */
export type ModelProcess = ReturnType<typeof createModelProcess>

/** The process ended in the middle of a call. The code is the one of a connection that breaks: the same call may succeed. */
class ModelLost extends Error {
  override readonly name = 'ModelLost'
  readonly code = 'ECONNRESET'
}

/** Too many calls wait for a model; the same call can succeed later. */
export class QueueFull extends Error {
  override readonly name = 'QueueFull'

  constructor(waiting: number) {
    super(`${waiting} calls are waiting for the model already`)
  }
}

/** Starts the process at its first call, ends it after `idleMs` without one, and starts another one after a crash. */
export function createModelProcess(options: ModelProcessOptions) {
  const { kind, name, folder, waiting = 8, idleMs = 300_000, openMs = 120_000, graceMs = 2_000 } = options
  const threads = options.threads ?? Math.max(1, availableParallelism() - 1)
  const child = createRevivedChild<ModelMethods>({
    name: `The model ${name}`,
    module: { beside: import.meta.url, name: './model-child' },
    open: { kind, name, folder, threads },
    openMs,
    graceMs,
    lost: (reason) => new ModelLost(`the process of the model ${name} ended: ${reason}`),
    failed: withReason,
  })
  /** One call at a time; those that wait survive a crash of the process. */
  const queue = createWorkQueue({ running: 1, waiting, full: (count) => new QueueFull(count) })
  let closed = false
  let idle: NodeJS.Timeout | undefined

  return {
    /** The process that is running now. */
    get pid(): number | undefined {
      return child.pid
    },
    /**
     * The answer piece by piece, then how it ended. Leaving early, or aborting, cancels it within one token.
     * Throws `ModelLost` when the process ends, `QueueFull` when too many calls wait, and the AppErrors of the model.
     */
    async *generate(
      request: GenerationRequest,
      signal?: AbortSignal,
    ): AsyncGenerator<string, GenerationEnd, undefined> {
      const leave = await enter(signal)
      try {
        return yield* (await child.start(signal)).stream('generate', request, signal)
      } finally {
        leave()
      }
    },
    async embed(texts: readonly string[], signal?: AbortSignal): Promise<readonly Float32Array[]> {
      const leave = await enter(signal)
      try {
        return await (await child.start(signal)).request('embed', texts, signal)
      } finally {
        leave()
      }
    },
    close() {
      closed = true
      clearTimeout(idle)
      return child.close()
    },
  }

  /** Waits for the process to be free; while calls are answered it does not idle. */
  async function enter(signal: AbortSignal | undefined): Promise<() => void> {
    const leave = await queue.enter(signal)
    clearTimeout(idle)
    return () => {
      clearTimeout(idle)
      if (!closed) idle = setTimeout(() => void child.stop(), idleMs).unref()
      leave()
    }
  }
}

/** Names the reason of an internal error in its details: native code fails for reasons that its user can act on. */
function withReason(thrown: Error): AppError {
  const error = toAppError(thrown)
  const { code, message, details, cause } = error
  if (code !== 'internal' || !(cause instanceof Error)) return error
  return new AppError(code, message, { details: [...details, String(cause).slice(0, 300)], cause })
}
