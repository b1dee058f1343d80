import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, readFile, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { explain } from '../terminal/files.ts'

const partFacts = z.object({
  engine: z.string(),
  /** Hertz. */
  sampleRate: z.int().positive(),
  /** Bytes of the samples. */
  bytes: z.int().min(0),
  /** Chunks of the text: spoken, and all. */
  spoken: z.int(),
  total: z.int(),
  /** Pieces that could not be spoken. */
  skipped: z.array(z.string()).max(10_000),
})

/** What is known of a spoken part beside its samples. */
export type PartFacts = z.output<typeof partFacts>

export type KeptParts = ReturnType<typeof openKeptParts>

/** The name of a part: a digest, which does not reveal the text. */
export function partKey(request: object): string {
  return createHash('sha256').update(JSON.stringify(request)).digest('hex')
}

/**
 * The spoken parts of a long text, in a folder beside its output until that is whole; files that others put into the folder
 * stay. A part is found by what it was asked with, so that the same request is not made twice, and another text or voice
 * finds nothing.
 */
export function openKeptParts(output: string) {
  const folder = `${output}.parts`
  const factsFile = (key: string) => join(folder, `${key}.json`)
  const samplesFile = (key: string) => join(folder, `${key}.samples`)
  return {
    folder,
    /** Undefined for a part that is not there, or not whole. */
    async read(key: string): Promise<PartFacts | undefined> {
      try {
        return partFacts.parse(JSON.parse(await readFile(factsFile(key), 'utf8')))
      } catch {
        return undefined
      }
    },
    /** Keeps a part, whole also after a crash. Throws `cannot_create`. */
    async write(key: string, facts: PartFacts, samples: Uint8Array) {
      const { replaceFile } = await import('../../storage/files/atomic.ts')
      try {
        replaceFile(samplesFile(key), samples)
        replaceFile(factsFile(key), JSON.stringify(facts))
      } catch (cause) {
        throw new AppError('cannot_create', `Cannot write to ${folder}: ${explain(cause)}`, { cause })
      }
    },
    samples: (key: string): AsyncIterable<Buffer> => createReadStream(samplesFile(key)),
    /** Removes all parts, and the folder where nothing else is in it. */
    async remove() {
      const names = await readdir(folder).catch(() => [])
      for (const name of names.filter((each) => /^[0-9a-f]{64}\.(?:json|samples)$/.test(each)))
        await rm(join(folder, name), { force: true })
      await rmdir(folder).catch(() => {})
    },
  }
}
