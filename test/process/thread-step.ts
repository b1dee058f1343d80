import { AppError } from '../../src/errors.ts'
import { serveThread } from '../../src/process/thread.ts'

/** What a test has a thread do. */
export interface SampleWork {
  /** Items that it hands over. */
  readonly items: number
  readonly fails: boolean
  /** Counts the items that were handed over. */
  readonly handed: Int32Array<SharedArrayBuffer>
}

await serveThread<SampleWork, { readonly at: number; readonly bytes: Uint8Array }>(
  async ({ items, fails, handed }, emit) => {
    for (let at = 0; at < items; at++) {
      const bytes = Uint8Array.of(at % 256)
      Atomics.store(handed, 0, at + 1)
      emit({ at, bytes }, [bytes.buffer])
    }
    if (fails) throw new AppError('too_large', 'The package is too large', { details: ['split it'] })
  },
)
