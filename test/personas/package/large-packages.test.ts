// Some with --all only: many processes.

import { randomUUID } from 'node:crypto'
import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import * as assert from 'uvu/assert'
import type { Persona } from '../../../src/personas/persona.ts'
import { holder, isHeld } from '../../../src/process/holders.ts'
import { slice } from '../../../src/storage/shared/persona-slices.ts'
import { sweepStages } from '../../../src/storage/sqlite/persona-stage.ts'
import { until } from '../../helpers/eventually.ts'
import { put, resigned } from '../../helpers/personas/package-forge.ts'
import { memoryOf, newFolder, openShop, type Shop } from '../../helpers/personas/persona-shop.ts'
import { suite } from '../../helpers/suite.ts'

const large = suite('large personas')

/** Nine times the memories written at once (`slice` in persona-slices.ts), so that there is a middle. */
const many = 9 * slice.memories

const memories = (from: number, count: number) => Array.from({ length: count }, (_, at) => memoryOf(from + at, 24))

/** A large persona and its package, made once; each test has a copy of the whole folder. */
const original = await openShop(newFolder(), { withoutChildren: true })
const persona = await original.stock('u1', 0)
await original.addMemories(persona, memories(0, many))
const exported = await original.packages.export(persona, { format: 'container', embeddings: true })
original.release()
large.after(() => rmSync(original.folder, { recursive: true, force: true }))

type Use = (shop: Shop, persona: Persona, path: string) => Promise<void>

async function withLarge(use: Use, withoutChildren = false): Promise<void> {
  const folder = newFolder()
  cpSync(original.folder, folder, { recursive: true })
  using shop = await openShop(folder, { withoutChildren })
  await use(shop, persona, join(folder, relative(original.folder, exported.path)))
}

const stages = (shop: Shop) =>
  shop.db.prepare(`SELECT count(*) FROM persona WHERE user_id LIKE '~arriving/%'`).pluck().get() as number
const personasOf = (shop: Shop, owner: string) =>
  shop.db.prepare('SELECT id FROM persona WHERE user_id = ?').pluck().all(owner)
const countOf = async (shop: Shop, persona: Persona | undefined) =>
  shop.db.prepare('SELECT memories FROM memory_scope WHERE persona_id = ?').pluck().get(persona!.id)

/** The same, with the work of children in this process, which is sooner done. */
const withLargeHere = (use: Use) => withLarge(use, true)

/** Does something in the middle of it: when some slices are written and others are not. */
async function midway<T>(shop: Shop, work: Promise<T>, interrupt: () => unknown): Promise<T> {
  let over = false
  const settled = work.finally(() => {
    over = true
  })
  settled.catch(() => undefined)
  const staged = shop.db
    .prepare<[], number>(`SELECT coalesce(max(memories), 0) FROM memory_scope WHERE user_id LIKE '~arriving/%'`)
    .pluck()
  while (staged.get()! < 2 * slice.memories) {
    assert.not(over, 'it was over before it had begun')
    // Leaves the core to the process that writes.
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  await interrupt()
  return settled
}

const into = (persona: Persona, mode: 'merge' | 'replace') => ({ mode, dry_run: false, persona: persona.id }) as const
const asNew = { mode: 'create', dry_run: false } as const

large.whole('are written in slices: other requests are served, and nothing is visible, before all of it is there', () =>
  withLarge(async (shop, persona, path) => {
    const other = await shop.stock('u1', 0)
    let turns = 0
    let over = false
    const { persona_id } = await midway(shop, shop.packages.import('u2', path, asNew), async () => {
      assert.equal(personasOf(shop, 'u2'), [])
      await shop.addMemories(other, [memoryOf(1, 24)])
      assert.equal((await shop.packages.verifyStored(other)).problems, [])
      const turn = () => {
        turns++
        if (!over) setImmediate(turn)
      }
      turn()
    })
    over = true
    assert.ok(turns > 5, `${turns} turns`)
    const copy = (await shop.find(persona_id))!
    const [there, here] = [await shop.packages.verifyStored(persona), await shop.packages.verifyStored(copy)]
    assert.equal([here.problems, here.content_hash, here.memories], [[], there.content_hash, many])
    assert.is(stages(shop), 0)
  }),
)

large.whole('are imported, restored and merged by a child process, which ends afterwards', () =>
  withLarge(async (shop, persona, path) => {
    await shop.backups.create(persona)
    const actions: readonly (() => Promise<unknown>)[] = [
      () => shop.packages.import('u2', path, asNew),
      () => shop.packages.import('u1', path, into(persona, 'replace')),
      () => shop.backups.restore(persona),
      () => shop.packages.import('u1', path, into(persona, 'merge')),
    ]
    for (const action of actions) {
      const holders = new Set<string>()
      await midway(shop, action(), () => {
        const owners = shop.db.prepare<[], string>("SELECT user_id FROM persona WHERE user_id LIKE '~arriving/%'")
        for (const owner of owners.pluck().all()) holders.add(owner.slice('~arriving/'.length))
      })
      assert.is(holders.size, 1)
      assert.not(holders.has(holder()))
      await until(() => ![...holders].some(isHeld))
    }
  }),
)

large.whole('a long log is imported, replaced and restored in slices', () =>
  withLargeHere(async (shop, persona, path) => {
    const document = JSON.parse(
      readFileSync((await shop.packages.export(persona, { format: 'json', embeddings: false })).path, 'utf8'),
    )
    const record = { adaptation_type: 'tone', trigger_event: 'x', timestamp: 5, changes: [] }
    document.adaptation_log = Array.from({ length: 300 }, (_, at) => ({ ...record, id: `r${at}` }))
    document.state.behavioral_weights = {}
    document.state.learned_preferences = {}
    const long = put(join(shop.folder, 'long.json'), resigned(document))
    const { persona_id, imported } = await shop.packages.import('u2', long, asNew)
    assert.is(imported.adaptations, 300)
    const copy = (await shop.find(persona_id))!
    const result = await shop.packages.verifyStored(copy)
    assert.equal([result.problems, result.adaptations], [[], 300])
    const { backup_id } = await shop.backups.create(copy)
    await shop.packages.import('u2', path, into(copy, 'replace'))
    assert.is((await shop.packages.verifyStored(copy)).adaptations, 3)
    await shop.backups.restore(copy, backup_id)
    const back = await shop.packages.verifyStored(copy)
    assert.equal([back.problems, back.adaptations, back.content_hash], [[], 300, result.content_hash])
    assert.is(shop.db.prepare('SELECT count(*) FROM adaptation').pluck().get(), 303)
    assert.is(shop.db.prepare('SELECT count(*) FROM adaptation_log').pluck().get(), 2)
  }),
)

large('a change while something is replaced stands in the backup of it', () =>
  withLargeHere(async (shop, persona, path) => {
    const replacing = shop.packages.import('u1', path, into(persona, 'replace'))
    const { backup_id } = await midway(shop, replacing, () => shop.addMemories(persona, memories(many, 1)))
    assert.is(await countOf(shop, persona), many)
    const [row] = await shop.backups.list(persona)
    assert.equal([row!.backup_id, row!.memories], [backup_id, many + 1])
    assert.is(readdirSync(join(shop.folder, 'backups')).length, 1)
    await shop.backups.restore(persona)
    assert.is(await countOf(shop, persona), many + 1)
    assert.equal([(await shop.packages.verifyStored(persona)).problems, stages(shop)], [[], 0])
    assert.is(shop.db.prepare('SELECT count(*) FROM memory').pluck().get(), many + 1)
  }),
)

large.whole('a change during a merge is there afterwards, beside the merged memories', () =>
  withLargeHere(async (shop, _persona, path) => {
    const own = await shop.stock('u1', 0)
    await shop.addMemories(own, memories(many - 100, 200))
    const plain = await shop.packages.import('u1', path, { ...into(own, 'merge'), dry_run: true })
    assert.equal([plain.imported.memories, plain.duplicates], [many - 100, 100])
    assert.is(await countOf(shop, own), 200)
    const records = async () => (await shop.adaptation.log(own, { limit: 100, offset: 0 })).total
    const before = await records()
    const merging = shop.packages.import('u1', path, into(own, 'merge'))
    const merged = await midway(shop, merging, () => shop.addMemories(own, memories(5000, 1)))
    assert.equal([merged.imported.memories, merged.duplicates], [many - 100, 100])
    assert.is(await countOf(shop, own), many + 101)
    assert.is(await records(), before + 1)
    const again = await shop.packages.import('u1', path, into(own, 'merge'))
    assert.equal([again.imported.memories, again.duplicates], [0, many])
    assert.equal([(await shop.packages.verifyStored(own)).problems, stages(shop)], [[], 0])
  }),
)

large.whole('an aborted request leaves nothing behind', () =>
  withLarge(async (shop, persona, path) => {
    const whole = shop.dump()
    const files = readdirSync(join(shop.folder, 'scratch'))
    const left = new AbortController()
    const importing = midway(shop, shop.packages.import('u2', path, asNew, left.signal), () => left.abort())
    assert.is(await importing.catch((reason) => reason.name), 'AbortError')
    for (const work of [
      (signal: AbortSignal) => shop.packages.export(persona, { format: 'json', embeddings: true }, signal),
      (signal: AbortSignal) => shop.backups.create(persona, signal),
      (signal: AbortSignal) => shop.packages.verifyStored(persona, signal),
    ]) {
      const gone = new AbortController()
      const begun = work(gone.signal)
      setImmediate(() => gone.abort())
      assert.is(await begun.then(String, (reason) => reason.name), 'AbortError')
    }
    assert.equal(shop.dump(), whole)
    assert.equal(readdirSync(join(shop.folder, 'scratch')), files)
    assert.equal(readdirSync(join(shop.folder, 'backups')), [])
  }),
)

large('staged memories of a killed process are removed, those of a running one are not', () =>
  withLargeHere(async (shop, persona) => {
    const whole = shop.dump()
    const leave = (owner: string) => {
      const id = randomUUID()
      shop.db
        .prepare(
          `INSERT INTO persona (id, user_id, name, model, parameters, created_at, updated_at) VALUES (?, ?, '', '', '{}', ?, 0)`,
        )
        .run(id, `~arriving/${owner}`, Date.now())
      shop.db.prepare('UPDATE memory_scope SET persona_id = ? WHERE persona_id = ?').run(id, persona.id)
      return id
    }
    const back = (id: string) =>
      shop.db.prepare('UPDATE memory_scope SET persona_id = ? WHERE persona_id = ?').run(persona.id, id)
    // Its parent lives; nothing has a number beyond the highest that Linux gives.
    const alive = leave(`pid${process.ppid}-0`)
    await sweepStages(shop.db)
    back(alive)
    shop.db.prepare('DELETE FROM persona WHERE id = ?').run(alive)
    assert.equal(shop.dump(), whole)
    leave('pid4194305-0')
    await sweepStages(shop.db)
    assert.is(stages(shop), 0)
    assert.is(shop.db.prepare('SELECT count(*) FROM memory_text').pluck().get(), 0)
    assert.is(shop.db.prepare('SELECT count(*) FROM memory').pluck().get(), 0)
  }),
)

large.run()
