// Some with --all only: many processes.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { AppError } from '../../../src/errors.ts'
import type { Persona } from '../../../src/personas/persona.ts'
import { memoryOf, openShop, type Shop } from '../../helpers/personas/persona-shop.ts'
import { suite } from '../../helpers/suite.ts'

const backups = suite('backups')

async function withPersona(use: (shop: Shop, persona: Persona) => Promise<void>): Promise<void> {
  using shop = await openShop()
  await use(shop, await shop.stock('u1', 6))
}

function pathOf(shop: Shop, id: string): string {
  return join(shop.folder, 'backups', `${id}.dna.zip`)
}

const contentOf = async (shop: Shop, persona: Persona) =>
  (await shop.packages.verifyStored((await shop.find(persona.id))!)).content_hash

backups('restore a persona as it was, ids included, and back up the replaced one', () =>
  withPersona(async (shop, persona) => {
    const rows = () => shop.db.prepare('SELECT id, content, timestamp FROM memory ORDER BY memory_id').all()
    const [before, row] = [rows(), await shop.backups.create(persona)]
    const content = await contentOf(shop, persona)
    assert.is(row.content_hash, content)
    await shop.addMemories(persona, [memoryOf(50, 48)])
    const changed = await contentOf(shop, persona)
    const restored = await shop.backups.restore(persona, row.backup_id)
    assert.equal([restored.restored, restored.memories], [row.backup_id, 6])
    assert.equal(rows(), before)
    assert.is(await contentOf(shop, persona), content)
    assert.equal((await shop.packages.verifyStored(persona)).problems, [])
    const [newest] = await shop.backups.list(persona)
    assert.equal([newest?.backup_id, newest?.reason, newest?.memories], [restored.backup_id, 'before_restore', 7])
    await shop.backups.restore(persona)
    assert.is(await contentOf(shop, persona), changed)
  }),
)

backups('have ids of any beginning: none is mistaken for the leftover of a process', async () => {
  using shop = await openShop()
  const persona = await shop.stock('u1', 2)
  const { backup_id } = await shop.backups.create(persona)
  const odd = '07296485-4352-4a93-b3c0-8a8a5a9bb16e'
  shop.db.prepare('UPDATE persona_backup SET id = ?').run(odd)
  renameSync(pathOf(shop, backup_id), pathOf(shop, odd))
  await shop.backups.create(persona)
  assert.ok(existsSync(pathOf(shop, odd)))
  assert.is((await shop.backups.restore(persona, odd)).restored, odd)
})

backups('are refused when they are damaged, with the broken record named, and nothing changes', () =>
  withPersona(async (shop, persona) => {
    const { backup_id } = await shop.backups.create(persona)
    const path = pathOf(shop, backup_id)
    const bytes = readFileSync(path)
    const whole = shop.dump()
    const vectors = bytes.indexOf('vectors.f32') + 'vectors.f32'.length
    const damages: readonly (readonly [damage: () => void, message: RegExp])[] = [
      [
        () =>
          writeFileSync(
            path,
            Buffer.concat([bytes.subarray(0, vectors + 200), Buffer.of(1), bytes.subarray(vectors + 201)]),
          ),
        /memories\[1\] was changed/,
      ],
      [() => writeFileSync(path, bytes.subarray(0, -40)), /breaks off/],
      [() => writeFileSync(path, ''), /breaks off/],
      [() => rmSync(path), /is gone/],
    ]
    for (const [damage, message] of damages) {
      damage()
      const error = await rejects(shop.backups.restore(persona, backup_id), message)
      assert.is(error.exit, 65)
      assert.equal(shop.dump(), whole)
      assert.is(readdirSync(join(shop.folder, 'backups')).filter((name) => !name.startsWith(backup_id)).length, 0)
    }
  }),
)

backups('are refused when a valid package of another persona lies in their place', () =>
  withPersona(async (shop, persona) => {
    const [first, second] = [await shop.backups.create(persona), await shop.backups.create(await shop.stock('u2', 1))]
    writeFileSync(pathOf(shop, first.backup_id), readFileSync(pathOf(shop, second.backup_id)))
    await rejects(shop.backups.restore(persona, first.backup_id), /not the one that was noted/)
  }),
)

backups('belong to their persona', () =>
  withPersona(async (shop, persona) => {
    const other = await shop.stock('u2', 1)
    const { backup_id } = await shop.backups.create(other)
    assert.is((await rejects(shop.backups.restore(persona, backup_id), /has no backup/)).exit, 67)
    assert.is((await rejects(shop.backups.restore(persona), /has no backup/)).exit, 67)
    assert.equal(await shop.backups.list({ ...other, user_id: 'u1' }), [])
  }),
)

backups.whole('are kept up to a number, and files without a row are swept after a while', () =>
  withPersona(async (shop, persona) => {
    const stray = join(shop.folder, 'backups', 'stray.dna.zip')
    const first = await shop.backups.create(persona)
    for (const [path, age] of [
      [stray, 7200],
      [`${stray}.new`, 0],
    ] as const) {
      writeFileSync(path, 'x')
      utimesSync(path, Date.now() / 1000 - age, Date.now() / 1000 - age)
    }
    for (let count = 0; count < 20; count++) await shop.backups.create(persona)
    assert.is((await shop.backups.list(persona)).length, 20)
    assert.not(existsSync(pathOf(shop, first.backup_id)))
    assert.not(existsSync(stray))
    assert.ok(existsSync(`${stray}.new`))
  }),
)

async function rejects(promise: Promise<unknown>, message: RegExp): Promise<AppError> {
  try {
    await promise
  } catch (reason) {
    assert.instance(reason, AppError)
    const error = reason as AppError
    assert.match([error.message, ...error.details].join('\n'), message)
    return error
  }
  return assert.unreachable('it was accepted') as never
}

backups.run()
