import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { finished } from 'node:stream/promises'

/** Writes chunks into a stream at its pace, and ends it; resolves when it has taken all of them. Destroys it where they fail. */
export async function writeInto(
  stream: Writable,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  const done = finished(stream)
  done.catch(() => {})
  try {
    for await (const chunk of chunks) {
      if (stream.destroyed) break
      if (!stream.write(chunk)) await Promise.race([once(stream, 'drain'), done])
    }
    stream.end()
  } catch (reason) {
    stream.destroy(reason as Error)
  }
  await done
}
