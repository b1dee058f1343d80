import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import type { Storage } from '../../../src/storage/storage.ts'
import type { Rule } from './rule.ts'
import { backup, makeScope } from './samples.ts'

/** Sizes around those of parts, of which a storage may make packages. */
const sizes = [0, 1, 1024 * 1024, 2.5 * 1024 * 1024]

export const backupFileRules: readonly Rule[] = [
  {
    store: 'backupFiles',
    topic: 'concurrency',
    says: 'a package of any size is read over another connection as it was written, pending and published',
    async holds(place) {
      const [one, two] = [await place.open(), await place.open()]
      for (const [at, size] of sizes.entries()) {
        const bytes = randomBytes(size)
        assert.is(await writePackage(one, `b${at}`, bytes), size)
        assert.ok((await readPackage(two, `b${at}`))?.equals(bytes), `${size} pending`)
        await one.backupFiles.publish(`b${at}`)
        await two.backupFiles.sweep()
        // A sweep keeps young packages: their rows may be about to be written.
        assert.ok((await readPackage(two, `b${at}`))?.equals(bytes), `${size} published`)
      }
    },
  },
  {
    store: 'backupFiles',
    topic: 'scopes',
    says: 'a package that was discarded or removed is gone, and no other one',
    async holds(place) {
      const storage = await place.open()
      const { backupFiles } = storage
      for (const id of ['kept', 'discarded', 'removed']) await writePackage(storage, id, Buffer.from(id))
      await backupFiles.discard('discarded')
      for (const id of ['kept', 'removed']) await backupFiles.publish(id)
      await makeScope(storage, 'p')
      await storage.backups.add({ personaId: 'p', userId: 'ada' }, backup('kept', 'p'))
      await backupFiles.remove('removed')
      await backupFiles.remove('unknown')
      assert.is(String(await readPackage(storage, 'kept')), 'kept')
      for (const id of ['discarded', 'removed', 'unknown']) assert.is(await readPackage(storage, id), undefined)
    },
  },
]

/** Writes a package, which is pending then; resolves with the size that the storage tells. */
export async function writePackage(
  { backupFiles }: Pick<Storage, 'backupFiles'>,
  id: string,
  bytes: Buffer,
): Promise<number> {
  writeFileSync(await backupFiles.pending(id), bytes)
  return backupFiles.keep(id)
}

/** The bytes of a package; undefined where there is none. */
export async function readPackage(
  { backupFiles }: Pick<Storage, 'backupFiles'>,
  id: string,
): Promise<Buffer | undefined> {
  const file = await backupFiles.open(id)
  try {
    return file && readFileSync(file.path)
  } finally {
    file?.close()
  }
}
