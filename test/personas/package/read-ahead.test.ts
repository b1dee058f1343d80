// Some with --all only: many processes.
import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import * as assert from 'uvu/assert'
import { fileKindOf } from '../../../src/formats/file-kind.ts'
import { NotAsDeclared, openDeclared } from '../../../src/personas/package/read-ahead.ts'
import type { Persona } from '../../../src/personas/persona.ts'
import { put, signed } from '../../helpers/personas/package-forge.ts'
import { memoryOf, newFolder, openShop, type Shop } from '../../helpers/personas/persona-shop.ts'
import { rejects } from '../../helpers/rejection.ts'
import { isWholeRun, suite } from '../../helpers/suite.ts'

const early = suite('large packages that are verified while they are imported')

/** With labels of this length, packages larger than those that are kept in memory. */
const [many, dimension, labels] = [140, 48, 62_000]
const asNew = { mode: 'create', dry_run: false } as const

/** A large persona and its packages, made once; each test has a copy of the whole folder. */
const original = await openShop(newFolder(), { withoutChildren: true })
const persona = await original.stock('u1', 0)
await original.addMemories(
  persona,
  Array.from({ length: many }, (_, at) => ({ ...memoryOf(at, dimension), metadata: { filler: 'x'.repeat(labels) } })),
)
const forms = ['container', 'json'] as const
const made = await Promise.all(
  forms.map(async (format) => (await original.packages.export(persona, { format, embeddings: true })).path),
)
original.release()
early.after(() => rmSync(original.folder, { recursive: true, force: true }))

interface Large {
  readonly shop: Shop
  readonly persona: Persona
  readonly container: string
  readonly document: string
}

async function withLarge(use: (large: Large) => Promise<void>, withoutChildren = true): Promise<void> {
  const folder = newFolder()
  cpSync(original.folder, folder, { recursive: true })
  using shop = await openShop(folder, { withoutChildren })
  const [container, document] = made.map((path) => join(folder, relative(original.folder, path))) as [string, string]
  await use({ shop, persona, container, document })
}

const open = (path: string) => openDeclared({ path, kind: fileKindOf(path) })

early.whole('are the same persona in either form, and hold each vector', () =>
  withLarge(async ({ shop, persona, container, document }) => {
    const { content_hash } = await shop.packages.verifyStored(persona)
    for (const path of [container, document]) {
      const declared = await open(path)
      declared!.source.close()
      const { persona_id, imported, duplicates } = await shop.packages.import('u2', path, asNew)
      assert.equal([imported.memories, imported.adaptations, duplicates], [many, 3, 0])
      const copy = await shop.packages.verifyStored((await shop.find(persona_id))!)
      assert.equal([copy.problems, copy.content_hash], [[], content_hash])
    }
  }, false),
)

early.whole('are merged, replaced and counted like those that are verified first', () =>
  withLarge(async ({ shop, persona, container, document }) => {
    const into = (mode: 'merge' | 'replace', dry_run = false) => ({ mode, dry_run, persona: persona.id }) as const
    const counted = await shop.packages.import('u1', document, into('merge', true))
    assert.equal([counted.imported.memories, counted.duplicates], [0, many])
    await shop.packages.import('u1', container, into('merge'))
    const { backup_id } = await shop.packages.import('u1', document, into('replace'))
    assert.ok(backup_id)
    const { problems, memories } = await shop.packages.verifyStored((await shop.find(persona.id))!)
    assert.equal([problems, memories], [[], many])
  }),
)

early('leave nothing where their last record was changed, and every problem is named', () =>
  withLarge(async ({ shop, container, document }) => {
    const before = shop.dump()
    const text = readFileSync(document, 'utf8')
    const zip = readFileSync(container)
    const last = Buffer.from(memoryOf(many - 1, dimension).vector!.values.buffer)
    const place = zip.indexOf(last)
    assert.ok(place > 0, 'vectors are not stored as they are')
    zip[place + last.length - 4]! ^= 1
    const cases = [
      [
        put(document, text.replace(`Memory ${many - 1}:`, 'Memory X:')),
        new RegExp(`memories\\[${many - 1}\\] was changed`),
      ],
      [put(container, zip), /vectors\.f32/],
    ] as const
    for (const [path, problem] of isWholeRun ? cases : cases.slice(0, 1)) {
      assert.instance(await readAll(path).catch((reason: unknown) => reason), NotAsDeclared)
      await rejects(shop.packages.import('u2', path, asNew), 'invalid', problem)
      assert.equal(shop.dump(), before, 'something was stored')
    }

    async function readAll(path: string): Promise<void> {
      const { source } = (await open(path))!
      try {
        for (const _memory of source.memories());
      } finally {
        source.close()
      }
    }
  }),
)

early.whole('are imported whole where they say something false of themselves, and nothing of it is believed', () =>
  withLarge(async ({ shop, document }) => {
    const whole = JSON.parse(readFileSync(document, 'utf8'))
    for (const memories of isWholeRun ? [3, many + 100] : [3]) {
      whole.export_metadata.counts.memories = memories
      const { imported } = await shop.packages.import('u2', put(document, signed(whole)), asNew)
      assert.is(imported.memories, many)
    }
    assert.is(shop.db.prepare(`SELECT count(*) FROM persona WHERE user_id LIKE '~%'`).pluck().get(), 0)
  }),
)

early('are verified first where they say nothing of themselves', () =>
  withLarge(async ({ document }) => {
    const whole = readFileSync(document, 'utf8')
    for (const name of ['counts', 'content_hash', 'record_digests'])
      assert.is(await open(put(document, whole.replace(`"${name}":`, `"other_${name}":`))), undefined, name)
  }),
)

early.run()
