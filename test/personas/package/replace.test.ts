import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { PersonaWrite } from '../../../src/personas/package/archive.ts'
import { replacePersona } from '../../../src/personas/package/replace.ts'
import { openForImport } from '../../../src/personas/package/verify-file.ts'
import { createPackageWriter } from '../../../src/personas/package/write-package.ts'
import type { Persona } from '../../../src/personas/persona.ts'
import { closing } from '../../helpers/disposal.ts'
import { memoryOf, openShop, type Shop } from '../../helpers/personas/persona-shop.ts'
import { rejects } from '../../helpers/rejection.ts'
import { whole } from '../../helpers/storage/samples.ts'
import { openStorageIn } from '../../helpers/storage/test-storage.ts'
import { suite } from '../../helpers/suite.ts'

const replacements = suite('a replaced persona')

/** Replaces a persona, which is changed right after each of the first so many backups was written. */
async function replaced(shop: Shop, persona: Persona, count: number, changes: number) {
  await using storage = closing(await openStorageIn(shop.folder))
  const writer = createPackageWriter({ archive: storage.packages, producer: 'test', runInChild: async () => undefined })
  let backups = 0
  const write: PersonaWrite = { ...whole(persona.id, 'u1', count, { how: 'replace' }), persona }
  return await replacePersona(
    {
      archive: storage.packages,
      files: storage.backupFiles,
      now: () => shop.clock.now,
      newId: () => `backup-${backups}`,
      writer: {
        async write(scope, request, signal) {
          const written = await writer.write(scope, request, signal)
          if (backups++ < changes) await shop.addMemories(persona, [memoryOf(100 + backups, 48)])
          return written
        },
      },
    },
    persona,
    'before_import',
    write,
    undefined,
  )
}

for (const [name, count] of [
  ['few', 3],
  ['many', 120],
] as const) {
  replacements(`by ${name} memories is backed up with a change that came between backup and write`, async () => {
    using shop = await openShop()
    const persona = await shop.stock('u1', 6)
    const { row, memories } = await replaced(shop, persona, count, 2)
    assert.equal([memories, row.backup_id, row.memories], [count, 'backup-2', 8])
    assert.equal(readdirSync(join(shop.folder, 'backups')), ['backup-2.dna.zip'])
    const { result, source } = await openForImport({
      path: join(shop.folder, 'backups', 'backup-2.dna.zip'),
      kind: 'zip',
    })
    assert.equal([result.valid, result.content_hash, [...source!.memories()].length], [true, row.content_hash, 8])
    source!.close()
    assert.equal((await shop.packages.verifyStored(persona)).problems, [])
    assert.equal(await shop.backups.list(persona), [row])
  })

  replacements(`by ${name} memories stays as it is when it is changed all the time, and nothing is left`, async () => {
    using shop = await openShop()
    const persona = await shop.stock('u1', 6)
    await rejects(replaced(shop, persona, count, 9), 'busy', /changed all the time/)
    assert.is((await shop.packages.verifyStored(persona)).memories, 9)
    assert.equal(readdirSync(join(shop.folder, 'backups')), [])
    assert.equal(await shop.backups.list(persona), [])
    assert.is(shop.db.prepare('SELECT count(*) FROM persona').pluck().get(), 1)
  })
}

replacements.run()
