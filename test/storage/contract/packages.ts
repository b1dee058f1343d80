import * as assert from 'uvu/assert'
import { emptyLog } from '../../../src/personas/adaptation/log.ts'
import { nothingLearned } from '../../../src/personas/adaptation/state.ts'
import { snapshotBatch } from '../../../src/personas/package/archive.ts'
import { rejects } from '../../helpers/rejection.ts'
import {
  backup,
  contents,
  incoming,
  keepAll,
  makeScope,
  memory,
  persona,
  publish,
  record,
  revisionOf,
  snapshotContents,
  vector,
  whole,
} from '../../helpers/storage/samples.ts'
import type { Rule } from './rule.ts'

/** As many memories as no store writes in a single slice. */
const many = 120

const scope = { personaId: 'p', userId: 'ada' }

export const packageRules: readonly Rule[] = [
  {
    store: 'packages',
    topic: 'scopes',
    says: 'a whole persona is read by its owner alone, and none is replaced under another owner',
    async holds(place) {
      const storage = await place.open()
      const { packages } = storage
      assert.equal(await publish(storage, whole('p', 'ada', 3)), { kind: 'done', memories: 3 })
      const eve = { personaId: 'p', userId: 'eve' }
      assert.is(await packages.snapshot(eve), undefined)
      assert.is((await packages.extent(eve)).memories, 0)
      assert.is((await packages.extent(scope)).memories, 3)
      await rejects(publish(storage, whole('p', 'eve', 1, { how: 'replace' })), 'not_found', /persona/)
      await rejects(publish(storage, whole('p', 'eve', many, { how: 'replace' })), 'not_found', /persona/)
      await rejects(publish(storage, whole('p', 'eve', 1)), 'not_found', /persona/)
      assert.equal([...(await contents(storage, scope))].sort(), ['memory 0', 'memory 1', 'memory 2'])
    },
  },
  {
    store: 'packages',
    topic: 'order',
    says: 'memories are read in the order in which they were stored, few or many',
    async holds(place) {
      const storage = await place.open()
      for (const count of [3, many]) {
        await publish(storage, whole(`p${count}`, 'ada', count))
        assert.equal(
          await snapshotContents(storage, { personaId: `p${count}`, userId: 'ada' }),
          [...incoming(count)].map(({ content }) => content),
        )
      }
    },
  },
  {
    store: 'packages',
    topic: 'limits',
    says: 'more memories than their owner may store are refused, few or many, and nothing is left of them',
    limits: { memories: 2, bytes: 1e9 },
    async holds(place) {
      const storage = await place.open()
      for (const count of [3, many]) {
        await rejects(publish(storage, whole('p', 'ada', count)), 'too_large', /stored_memories_per_user/)
        assert.is(await storage.personas.find('p'), undefined)
      }
      assert.equal(await publish(storage, whole('p', 'ada', 2)), { kind: 'done', memories: 2 })
    },
  },
  {
    store: 'packages',
    topic: 'limits',
    says: 'a dry run says how many memories would be new, or too many, and writes nothing',
    async holds(place) {
      const storage = await place.open()
      await makeScope(storage, 'p')
      await storage.memories.add(scope, [memory('memory 0')], keepAll)
      const before = await revisionOf(storage, scope)
      for (const count of [3, many]) {
        const dry = whole('p', 'ada', count, { how: 'merge' })
        assert.equal(await storage.packages.dryRun(dry), { kind: 'done', memories: count - 1 })
        const limited = { ...dry, maxMemories: count - 1 }
        assert.equal(await storage.packages.dryRun(limited), { kind: 'too_many', memories: count })
      }
      assert.equal(await contents(storage, scope), ['memory 0'])
      assert.is(await revisionOf(storage, scope), before)
    },
  },
  {
    store: 'packages',
    topic: 'limits',
    says: 'two imports at once, over two connections, do not exceed together what each may store',
    limits: { memories: many + 5, bytes: 1e9 },
    async holds(place) {
      for (const [round, count] of [4, many].entries()) {
        const [one, two] = [await place.open(), await place.open()]
        const spare = round === 0 ? many - 2 : 0
        if (spare > 0) await publish(one, whole('spare', 'ada', spare))
        const outcomes = await Promise.allSettled([
          publish(one, whole(`a${round}`, 'ada', count)),
          publish(two, whole(`b${round}`, 'ada', count)),
        ])
        assert.equal(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
        for (const { id } of await one.personas.list('ada')) await one.personas.remove(id, 'ada')
      }
    },
  },
  {
    store: 'packages',
    topic: 'snapshots',
    says: 'a snapshot shows one state, whatever another connection writes, replaces or removes meanwhile',
    sessions: 2,
    async holds(place) {
      const [one, two] = [await place.open(), await place.open()]
      await publish(one, whole('p', 'ada', many))
      const first = record(scope, 'r', emptyLog)
      await one.adaptations.append(scope, first, nothingLearned())
      const snapshot = (await one.packages.snapshot(scope))!
      try {
        const read: string[] = []
        const writes: (() => Promise<unknown>)[] = [
          () => two.memories.add(scope, [memory('meanwhile')], keepAll),
          () => publish(two, whole('p', 'ada', 2, { how: 'replace' })),
          () => two.personas.remove('p', 'ada'),
        ]
        await writes.shift()!()
        for await (const batch of snapshot.memories()) {
          read.push(...batch.map(({ entry }) => entry.content))
          await writes.shift()?.()
        }
        assert.equal(writes, [], 'the memories came in fewer batches than there are writes')
        assert.equal(
          read,
          [...incoming(many)].map(({ content }) => content),
        )
        const log = []
        for await (const batch of snapshot.log()) log.push(...batch)
        assert.equal([log, (await snapshot.end()).head.hash], [[first], first.hash])
      } finally {
        await snapshot.close()
      }
      assert.is(await two.packages.snapshot(scope), undefined)
    },
  },
  {
    store: 'packages',
    topic: 'snapshots',
    says: 'a snapshot that is left early, or whose reader throws, keeps no removed rows once it is closed',
    sessions: 2,
    async holds(place) {
      const [one, two] = [await place.open(), await place.open()]
      await publish(one, whole('p', 'ada', many))
      for (const leave of [
        (): void => {
          throw new Error('left')
        },
        () => undefined,
      ]) {
        const snapshot = (await one.packages.snapshot(scope))!
        try {
          for await (const _batch of snapshot.memories()) {
            await two.memories.add(scope, [memory('meanwhile')], keepAll)
            assert.not(await place.isIdle(), 'the snapshot is no transaction')
            leave()
            break
          }
        } catch (reason) {
          assert.is((reason as Error).message, 'left')
        } finally {
          await snapshot.close()
        }
        assert.ok(await place.isIdle())
        await snapshot.close()
      }
      assert.is((await two.packages.extent(scope)).memories, many + 1)
    },
  },
  {
    store: 'packages',
    topic: 'snapshots',
    says: 'a batch is bounded in rows and bytes, unless it is one row, and the batches hold all rows',
    async holds(place) {
      const storage = await place.open()
      const long = 'x'.repeat(20_000)
      for (const [id, memories] of [
        ['short', [...incoming(350)]],
        ['long', [...incoming(40, long)]],
        ['labelled', [...incoming(8)].map((each) => ({ ...each, metadata: { more: 'y'.repeat(60_000) } }))],
      ] as const) {
        await publish(storage, whole(id, 'ada', memories.length, { memories: () => memories }))
        const snapshot = (await storage.packages.snapshot({ personaId: id, userId: 'ada' }))!
        try {
          let count = 0
          for await (const batch of snapshot.memories()) {
            count += batch.length
            assert.ok(batch.length <= snapshotBatch.rows, `${batch.length} rows`)
            const bytes = batch.reduce((sum, { entry }) => sum + entry.content.length + sizeOf(entry.metadata), 0)
            assert.ok(batch.length === 1 || bytes <= snapshotBatch.bytes, `${bytes} bytes`)
          }
          assert.is(count, memories.length)
        } finally {
          await snapshot.close()
        }
      }
    },
  },
  {
    store: 'packages',
    topic: 'revisions',
    says: 'every write of a persona, its memories, its state or the whole of it gives another revision; vectors and backups do not',
    async holds(place) {
      const [one, two] = [await place.open(), await place.open()]
      await makeScope(one, 'p')
      await makeScope(one, 'q')
      const other = await revisionOf(one, { personaId: 'q', userId: 'ada' })
      const first = record(scope, 'r', emptyLog)
      const seen = new Set([await revisionOf(one, scope)])
      const writes: readonly (() => Promise<unknown>)[] = [
        () => one.memories.add(scope, [memory('tea')], keepAll),
        () => two.memories.add(scope, [memory('tea', { importance_score: 0.9 })], keepAll),
        () => one.personas.save(persona('p', 'ada', { name: 'new' })),
        () => two.personas.update('p', 'ada', (before) => ({ ...before, name: 'newer' })),
        () => one.adaptations.append(scope, first, nothingLearned()),
        () => two.memories.wipe(scope, {}),
        () => publish(one, whole('p', 'ada', 3, { how: 'merge' })),
        () => publish(two, whole('p', 'ada', many, { how: 'merge' })),
        () => publish(one, whole('p', 'ada', 3, { how: 'replace' })),
        () => publish(two, whole('p', 'ada', many, { how: 'replace' })),
        () => one.memories.wipe(scope, { before: Number.MAX_SAFE_INTEGER }),
      ]
      for (const [at, write] of writes.entries()) {
        await write()
        const [here, there] = [await revisionOf(one, scope), await revisionOf(two, scope)]
        assert.is(here, there)
        assert.not(seen.has(here), `write ${at}`)
        seen.add(here)
      }
      const { entries } = await one.memories.add(scope, [memory('cocoa')], keepAll)
      const last = await revisionOf(one, scope)
      await one.memories.putVectors(scope, [{ id: entries[0]!.id, content: entries[0]!.content, vector: vector(1) }])
      await one.backups.add(scope, backup('b', 'p'))
      assert.is(await revisionOf(two, scope), last)
      assert.is(await revisionOf(one, { personaId: 'q', userId: 'ada' }), other)
    },
  },
  {
    store: 'packages',
    topic: 'revisions',
    says: 'a write under another revision than the expected one changes nothing, backup included; a replacement goes on under the new one',
    sessions: 2,
    async holds(place) {
      const [one, two] = [await place.open(), await place.open()]
      await makeScope(one, 'p')
      for (const [round, count] of [3, many].entries()) {
        const expected = (await revisionOf(one, scope))!
        const staged = await one.packages.stage(whole('p', 'ada', count, { how: 'replace' }))
        try {
          await two.memories.add(scope, [memory(`meanwhile ${round}`)], keepAll)
          const before = await contents(two, scope)
          const row = backup(`b${round}`, 'p')
          assert.equal(await staged.publish({ expected, backup: row }), { kind: 'changed' })
          assert.equal(await staged.publish({ backup: row }), { kind: 'changed' })
          assert.equal(await contents(two, scope), before)
          assert.not(await two.backups.isKnown(row.backup_id))
          const now = (await revisionOf(two, scope))!
          assert.equal(await staged.publish({ expected: now, backup: row }), { kind: 'done', memories: count })
          assert.ok(await two.backups.isKnown(row.backup_id))
          assert.is((await contents(two, scope)).length, count)
        } finally {
          await staged.discard()
        }
      }
      assert.is((await one.packages.extent(scope)).memories, many)
    },
  },
  {
    store: 'packages',
    topic: 'revisions',
    says: 'a merge of many keeps a memory that another connection stored meanwhile, and readers see none of it before its end',
    sessions: 2,
    async holds(place) {
      const [one, two] = [await place.open(), await place.open()]
      await makeScope(one, 'p')
      await one.memories.add(scope, [memory('before')], keepAll)
      const merge = whole('p', 'ada', many, { how: 'merge' })
      const expected = (await revisionOf(one, scope))!
      const staged = await one.packages.stage(merge)
      assert.is((await two.packages.extent(scope)).memories, 1)
      await two.memories.add(scope, [memory('meanwhile')], keepAll)
      assert.equal(await staged.publish({ expected }), { kind: 'changed' })
      // It holds the memories of the earlier revision: under the new one it would lose the newer memory.
      const now = (await revisionOf(one, scope))!
      assert.equal(await staged.publish({ expected: now }), { kind: 'changed' })
      await staged.discard()
      assert.equal([...(await contents(two, scope))].sort(), ['before', 'meanwhile'])
      assert.equal(await publish(one, merge), { kind: 'done', memories: many })
      const stored = await contents(two, scope)
      assert.is(stored.length, many + 2)
      assert.ok(stored.includes('meanwhile'))
    },
  },
  {
    store: 'packages',
    topic: 'revisions',
    says: 'of two merges at once, over two connections, the second one is refused, and tried again it holds to the most memories of the persona',
    sessions: 2,
    async holds(place) {
      const [one, two] = [await place.open(), await place.open()]
      for (const [round, count] of [4, many].entries()) {
        const place = { personaId: `p${round}`, userId: 'ada' }
        await makeScope(one, place.personaId)
        const expected = (await revisionOf(one, place))!
        const most = { how: 'merge', maxMemories: count + 1 } as const
        const [first, second] = [
          whole(place.personaId, 'ada', count, { ...most, memories: () => incoming(count, 'first') }),
          whole(place.personaId, 'ada', count, { ...most, memories: () => incoming(count, 'second') }),
        ]
        const staged = await Promise.all([one.packages.stage(first), two.packages.stage(second)])
        const outcomes = await Promise.all(staged.map((each) => each.publish({ expected })))
        assert.equal(outcomes.map(({ kind }) => kind).sort(), ['changed', 'done'])
        await Promise.all(staged.map((each) => each.discard()))
        const again = outcomes[0]!.kind === 'changed' ? first : second
        assert.equal(await publish(two, again), { kind: 'too_many', memories: 2 * count })
        assert.is((await one.packages.extent(place)).memories, count)
      }
    },
  },
  {
    store: 'packages',
    topic: 'concurrency',
    says: 'of two new personas of one id, over two connections, one is written whole',
    sessions: 2,
    async holds(place) {
      const [one, two] = [await place.open(), await place.open()]
      const outcomes = await Promise.allSettled([
        publish(one, whole('p', 'ada', many)),
        publish(two, whole('p', 'ada', many + 1)),
      ])
      const written = outcomes.flatMap((outcome) =>
        outcome.status === 'fulfilled' && outcome.value.kind === 'done' ? [outcome.value.memories] : [],
      )
      assert.is(written.length, 1)
      assert.is((await one.packages.extent(scope)).memories, written[0])
    },
  },
]

function sizeOf(value: unknown): number {
  return JSON.stringify(value).length
}
