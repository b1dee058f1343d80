// Some with --all only: many processes.

import { randomUUID } from 'node:crypto'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import type { Forgotten } from '../../../src/personas/memory/memory.ts'
import type { PersonaArchive } from '../../../src/personas/package/archive.ts'
import { createBackups } from '../../../src/personas/package/backup.ts'
import type { BackupRow } from '../../../src/personas/package/outcomes.ts'
import { verifyPlain } from '../../../src/personas/package/verify-file.ts'
import { createPackageWriter, performTask } from '../../../src/personas/package/write-package.ts'
import { memoryFields } from '../../../src/personas/package/zip-reader.ts'
import { type Persona, scopeOf } from '../../../src/personas/persona.ts'
import { listFolder } from '../../../src/storage/files/atomic.ts'
import { openStorage } from '../../../src/storage/open-storage.ts'
import { closing } from '../../helpers/disposal.ts'
import { until } from '../../helpers/eventually.ts'
import { temporaryFolder } from '../../helpers/folders.ts'
import { memoryOf, openShop, type Shop } from '../../helpers/personas/persona-shop.ts'
import { rejects } from '../../helpers/rejection.ts'
import { memoryStoreOf, storageIn } from '../../helpers/storage/test-storage.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('what is forgotten')

const pathOf = (shop: Shop, id: string) => join(shop.folder, 'backups', `${id}.dna.zip`)
const filesOf = (shop: Shop) => [...listFolder(join(shop.folder, 'backups'))].sort()
const contentsOf = (shop: Shop, { backup_id }: BackupRow) =>
  [...memoryFields(pathOf(shop, backup_id))].map(({ content }) => content)
const idOf = (shop: Shop, at: number) =>
  shop.db.prepare('SELECT id FROM memory WHERE content = ?').pluck().get(memoryOf(at, 48).content) as string

async function withPersona(memories: number, use: (shop: Shop, persona: Persona) => Promise<void>): Promise<void> {
  using shop = await openShop()
  await use(shop, await shop.stock('u1', memories))
}

/** Forgets as a command does; resolves with what became of the backups. */
async function forget(shop: Shop, persona: Persona, what: Forgotten, between = async () => {}) {
  const store = memoryStoreOf(shop.db)
  const remove = async () => {
    await between()
    if ('filter' in what) await store.wipe(scopeOf(persona), what.filter)
    else for (const id of what.ids) await store.remove(scopeOf(persona), id)
  }
  return (await shop.backups.forget(persona, what, remove)).backups
}

/** The package of each backup is valid, and the one that the list tells. */
async function expectListed(shop: Shop, persona: Persona): Promise<void> {
  for (const row of await shop.backups.list(persona)) {
    const path = pathOf(shop, row.backup_id)
    const found = await verifyPlain({ path, kind: 'zip' })
    assert.equal(found.problems, [])
    assert.equal(
      [found.actual, found.content_hash, found.memories, readFileSync(path).length],
      [row.checksum, row.content_hash, row.memories, row.bytes],
    )
  }
}

for (const [size, memories] of [
  ['small', 6],
  ['large, in a process of its own', 204],
] as const)
  (size === 'small' ? test : test.whole)(
    `leaves the backups of a persona, ${size}: by id, by category, by time and all`,
    () =>
      withPersona(memories, async (shop, persona) => {
        const row = await shop.backups.create(persona)
        const older = await shop.backups.create(persona)
        assert.equal(await forget(shop, persona, { ids: [idOf(shop, 3)] }), { rewritten: 2, removed: 0 })
        assert.not(contentsOf(shop, row).includes(memoryOf(3, 48).content))
        assert.is(contentsOf(shop, older).length, memories - 1)
        await forget(shop, persona, { filter: { category: 'odd' } })
        assert.is(contentsOf(shop, row).length, memories / 2)
        await forget(shop, persona, { filter: { before: memoryOf(4, 48).timestamp } })
        assert.is(contentsOf(shop, row).length, memories / 2 - 2)
        await expectListed(shop, persona)
        await shop.backups.restore(persona, row.backup_id)
        assert.equal((await shop.packages.verifyStored(persona)).problems, [])
        assert.is(shop.db.prepare('SELECT count(*) FROM memory').pluck().get(), memories / 2 - 2)
        await forget(shop, persona, { filter: {} })
        assert.equal(contentsOf(shop, row), [])
        await expectListed(shop, persona)
        const files = (await shop.backups.list(persona)).map(({ backup_id }) => `${backup_id}.dna.zip`)
        assert.equal(filesOf(shop), files.sort())
      }),
  )

test('goes in its earlier wording too, and in the same words under another id, but for words that are kept', () =>
  withPersona(0, async (shop, persona) => {
    const store = memoryStoreOf(shop.db)
    const scope = scopeOf(persona)
    const add = async (content: string, conversation: string) => {
      await shop.addMemories(persona, [{ ...memoryOf(1, 48), content, metadata: { conversation } }])
      return (await store.list(scope, { limit: 1, offset: 0, conversation })).entries[0]!.id
    }
    const edited = await add('Ada was born in May', 'a')
    const gone = await add('Her door code is 4711', 'b')
    await add('She likes tea', 'c')
    const row = await shop.backups.create(persona)
    // Evicted, and told again in another conversation.
    await store.remove(scope, gone)
    const again = await add('Her door code is 4711', 'd')
    await store.edit(scope, edited, (before) => ({ ...before, content: 'Ada was born in June' }), {
      maxMemories: 100,
      maxAge: 1e15,
      cleanup: false,
      now: shop.clock.now,
    })
    const beside = await add('She likes tea', 'e')
    await forget(shop, persona, { ids: [edited, again, beside] })
    assert.equal(contentsOf(shop, row), ['She likes tea'])
  }))

test('leaves a backup as it was that holds none of it', () =>
  withPersona(4, async (shop, persona) => {
    const row = await shop.backups.create(persona)
    const bytes = readFileSync(pathOf(shop, row.backup_id))
    await shop.addMemories(persona, [memoryOf(50, 48)])
    assert.equal(await forget(shop, persona, { ids: [idOf(shop, 50)] }), { rewritten: 0, removed: 0 })
    assert.ok(readFileSync(pathOf(shop, row.backup_id)).equals(bytes))
  }))

test('takes a backup with it that cannot be read, and so not be restored', () =>
  withPersona(4, async (shop, persona) => {
    const whole = await shop.backups.create(persona)
    const cut = await shop.backups.create(persona)
    const path = pathOf(shop, cut.backup_id)
    writeFileSync(path, readFileSync(path).subarray(0, -40))
    assert.equal(await forget(shop, persona, { ids: [idOf(shop, 1)] }), { rewritten: 1, removed: 1 })
    assert.equal(filesOf(shop), [`${whole.backup_id}.dna.zip`])
    assert.is((await shop.backups.list(persona)).length, 1)
  }))

test('is not in a backup that is made meanwhile', () =>
  withPersona(4, async (shop, persona) => {
    await forget(shop, persona, { ids: [idOf(shop, 2)] }, async () => void (await shop.backups.create(persona)))
    const [row] = await shop.backups.list(persona)
    assert.is(row?.memories, 3)
    await expectListed(shop, persona)
  }))

test.whole('is not in a backup whose row comes after it was forgotten', () =>
  withPersona(204, async (shop, persona) => {
    const id = idOf(shop, 2)
    const making = shop.backups.create(persona)
    const pending = () => filesOf(shop).some((name) => name.endsWith('.dna.zip'))
    // The child has read the persona by then.
    await until(() => pending())
    await forget(shop, persona, { ids: [id] })
    const row = await making
    assert.is(row.memories, 203)
    assert.is((await shop.backups.list(persona))[0]!.checksum, row.checksum)
    await expectListed(shop, persona)
  }),
)

test.whole('leaves one backup together, whoever rewrites it first', () =>
  withPersona(204, async (shop, persona) => {
    const row = await shop.backups.create(persona)
    await Promise.all([1, 2, 3].map((at) => forget(shop, persona, { ids: [idOf(shop, at)] })))
    assert.is(contentsOf(shop, row).length, 201)
    await expectListed(shop, persona)
  }),
)

test.whole('does not come back by a restore that had read the backup before', () =>
  withPersona(4, async (shop, persona) => {
    const { backup_id } = await shop.backups.create(persona)
    await using storage = closing(await openStorage(storageIn(shop.folder)))
    const { packages, memories, backups: store, backupFiles: files } = storage
    const id = idOf(shop, 3)
    let isFirst = true
    const stage: PersonaArchive['stage'] = async (...given) => {
      const staged = await packages.stage(...given)
      if (isFirst) await forget(shop, persona, { ids: [id] })
      isFirst = false
      return staged
    }
    const archive: PersonaArchive = Object.assign(Object.create(packages), { stage })
    const writer = createPackageWriter({ archive, producer: 'test', runInChild: (task) => performTask(packages, task) })
    const newId = () => randomUUID()
    const restoring = await createBackups({ archive, writer, store, files, memories, now: () => shop.clock.now, newId })
    await rejects(restoring.restore(persona, backup_id), 'busy', /changed while it was restored/)
    assert.is((await shop.backups.list(persona)).length, 1)
    assert.is((await restoring.restore(persona, backup_id)).memories, 3)
    assert.is(await memories.get(scopeOf(persona), id), undefined)
  }),
)

test.whole(
  'is gone where a crash kept the row of a rewritten backup from its change: it is restored, and rewritten again',
  () =>
    withPersona(6, async (shop, persona) => {
      const row = await shop.backups.create(persona)
      await forget(shop, persona, { ids: [idOf(shop, 1)] })
      // The file was renamed, and the transaction was lost.
      shop.db.prepare('UPDATE persona_backup SET checksum = ?, memories = 6').run(row.checksum)
      await shop.backups.restore(persona, row.backup_id)
      assert.is(shop.db.prepare('SELECT count(*) FROM memory').pluck().get(), 5)
      await forget(shop, persona, { ids: [idOf(shop, 2)] })
      assert.is((await shop.backups.restore(persona, row.backup_id)).memories, 4)
      await expectListed(shop, persona)
    }),
)

test('stays where a package of another persona was put in the place of the backup: that one is removed', () =>
  withPersona(3, async (shop, persona) => {
    const row = await shop.backups.create(persona)
    const other = await shop.backups.create(await shop.stock('u2', 3))
    copyFileSync(pathOf(shop, other.backup_id), pathOf(shop, row.backup_id))
    const first = shop.db.prepare('SELECT id FROM memory ORDER BY memory_id').pluck().get() as string
    assert.equal(await forget(shop, persona, { ids: [first] }), { rewritten: 0, removed: 1 })
    assert.is((await shop.backups.list(persona)).length, 0)
  }))

test('leaves nothing beside the backups where the disk takes no more', async () => {
  const folder = temporaryFolder()
  using shop = await openShop(folder)
  const persona = await shop.stock('u1', 4)
  const row = await shop.backups.create(persona)
  const id = idOf(shop, 1)
  const names = filesOf(shop)
  const before = readFileSync(pathOf(shop, row.backup_id))
  // The column refuses the change as a full disk does.
  shop.db.exec(`CREATE TRIGGER refuse BEFORE UPDATE ON persona_backup BEGIN SELECT raise(ABORT, 'full'); END`)
  await rejects(forget(shop, persona, { ids: [id] }), 'internal', /.*/)
  assert.equal(filesOf(shop), names)
  assert.ok(readFileSync(pathOf(shop, row.backup_id)).equals(before))
  assert.is(idOf(shop, 1), id)
})

test.run()
