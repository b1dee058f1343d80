import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import * as assert from 'uvu/assert'
import type { Storage } from '../../../src/storage/open-storage.ts'
import { backup, makeScope } from '../../helpers/storage/samples.ts'
import type { Rule } from './rule.ts'

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
  {
    store: 'backupFiles',
    topic: 'concurrency',
    says: 'a package takes the place of another one together with its row, once of several at once, and with no other checksum',
    async holds(place) {
      const [one, two] = [await place.open(), await place.open()]
      const scope = await makeScope(one, 'p')
      await writePackage(one, 'b', Buffer.from('old'))
      await one.backups.add(scope, backup('b', 'p', { checksum: 'old', bytes: 3 }))
      await one.backupFiles.publish('b')
      const exchange = async (storage: Storage, text: string, expected: string) => {
        writeFileSync(await storage.backupFiles.pending(text), text)
        const row = backup('b', 'p', { checksum: text, content_hash: text, bytes: text.length, memories: 1 })
        return storage.backupFiles.exchange(text, row, expected)
      }
      const done = await Promise.all([exchange(one, 'new one', 'old'), exchange(two, 'new two', 'old')])
      assert.equal([...done].sort(), [false, true])
      const text = done[0] ? 'new one' : 'new two'
      assert.is(String(await readPackage(two, 'b')), text)
      const [row] = await two.backups.list(scope)
      assert.equal([row?.checksum, row?.content_hash, row?.bytes, row?.memories], [text, text, 7, 1])
      assert.not(await exchange(one, 'another', 'old'))
      assert.is(String(await readPackage(one, 'b')), text)
      for (const pending of ['new one', 'new two', 'another'])
        assert.is(await readPackage(one, pending), undefined, pending)
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
