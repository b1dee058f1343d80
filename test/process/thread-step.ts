import { AppError } from '../../src/errors.ts'
import { serveThread } from '../../src/process/thread.ts'

/** What a test has a thread do. */
export interface SampleWork {
  /** Items that it hands over. */
  readonly items: number
  readonly fails: boolean
  /** Fills its memory after the items. */
  readonly fillsMemory?: boolean
  /** Counts the items that were handed over. */
  readonly handed: Int32Array<SharedArrayBuffer>
}

await serveThread<SampleWork, { readonly at: number; readonly bytes: Uint8Array }>(
  async ({ items, fails, fillsMemory, handed }, emit) => {
    for (let at = 0; at < items; at++) {
      const bytes = Uint8Array.of(at % 256)
      Atomics.store(handed, 0, at + 1)
      emit({ at, bytes }, [bytes.buffer])
    }
    const kept: number[][] = []
    while (fillsMemory) kept.push(new Array(1000).fill(kept.length))
    if (fails) throw new AppError('too_large', 'The package is too large', { details: ['split it'] })
  },
)
