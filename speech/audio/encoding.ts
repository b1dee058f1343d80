import { setImmediate } from 'node:timers/promises'
import type { Tags } from './tags.ts'

/** Mono 16-bit little-endian samples, and what a file of them says. */
export interface Recording {
  readonly sampleRate: number
  readonly tags: Tags
  /** Bytes of all samples, where they are known before the first. */
  readonly dataBytes?: number | undefined
}

/** Makes one file of samples piece by piece: what comes out can be sent at once. The loop may end early. */
export type Encode = (samples: AsyncIterable<Buffer>, recording: Recording) => AsyncGenerator<Buffer>

/** Samples that an encoder takes in one go: a tenth of a second of speech, so that the first bytes come soon. */
const sliceBytes = 4_800

/** Samples in blocks of so many bytes, with a turn of the event loop between; the last is shorter, or empty. */
export async function* inBlocks(samples: AsyncIterable<Buffer>, blockBytes: number): AsyncGenerator<Buffer> {
  const most = Math.max(blockBytes, sliceBytes - (sliceBytes % blockBytes))
  let rest: Buffer = Buffer.alloc(0)
  for await (const piece of samples) {
    rest = rest.length === 0 ? piece : Buffer.concat([rest, piece])
    while (rest.length >= blockBytes) {
      const size = Math.min(most, rest.length - (rest.length % blockBytes))
      yield rest.subarray(0, size)
      rest = rest.subarray(size)
      await setImmediate()
    }
  }
  yield rest
}
