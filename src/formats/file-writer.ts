import { closeSync, fsyncSync, openSync, readSync, rmSync, writeSync } from 'node:fs'

/** Small pieces are gathered to this many bytes before they are written. */
const chunkSize = 1024 ** 2

/** A new file, written from its beginning in pieces of any size. */
export type FileWriter = ReturnType<typeof createFile>

/** Creates a file that only its owner may read; refuses to touch one that is there. */
export function createFile(path: string) {
  const file = openSync(path, 'wx+', 0o600)
  let pending: Uint8Array[] = []
  let pendingSize = 0
  let size = 0
  let open = true

  function flush(): void {
    const bytes = pending.length === 1 ? pending[0]! : Buffer.concat(pending)
    pending = []
    pendingSize = 0
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
  }

  function closeOnce(): void {
    if (open) closeSync(file)
    open = false
  }

  return {
    /** Bytes given so far. */
    get size(): number {
      return size
    },
    write(piece: string | Uint8Array) {
      // A caller may reuse its buffer as soon as this returns.
      const bytes = Buffer.from(piece as Uint8Array)
      pending.push(bytes)
      pendingSize += bytes.length
      size += bytes.length
      if (pendingSize >= chunkSize) flush()
    },
    /** The whole content, in chunks, to be continued in another file. */
    *readBack(): Generator<Uint8Array> {
      flush()
      const buffer = Buffer.allocUnsafe(chunkSize)
      for (let at = 0; at < size; ) {
        const length = readSync(file, buffer, 0, Math.min(chunkSize, size - at), at)
        if (length === 0) return
        yield buffer.subarray(0, length)
        at += length
      }
    },
    /** With `flush` all is on the disk when this returns; without, written as files that no restart needs. */
    close(options: { readonly flush: boolean } = { flush: true }) {
      flush()
      if (options.flush) fsyncSync(file)
      closeOnce()
    },
    /** Closes and removes the file; nothing happens when it is gone already. */
    discard() {
      closeOnce()
      rmSync(path, { force: true })
    },
  }
}
