import * as assert from 'uvu/assert'
import { rejects } from '../../rejection.ts'
import type { Rule } from './rule.ts'
import { contents, incoming, keepAll, makeScope, memory, whole } from './samples.ts'

/** As many memories as no store writes in a single slice. */
const many = 120

export const packageRules: readonly Rule[] = [
  {
    store: 'packages',
    topic: 'scopes',
    says: 'a whole persona is read by its owner alone, and none is replaced under another owner',
    async holds(place) {
      const storage = await place.open()
      const { packages } = storage
      const scope = { personaId: 'p', userId: 'ada' }
      assert.equal(await packages.write(whole('p', 'ada', 3)), { memories: 3 })
      const eve = { personaId: 'p', userId: 'eve' }
      assert.is(await packages.read(eve, () => true), undefined)
      assert.is(packages.extent(eve).memories, 0)
      assert.is(packages.extent(scope).memories, 3)
      await rejects(packages.write(whole('p', 'eve', 1, { how: 'replace' })), 'not_found', /persona/)
      await rejects(packages.write(whole('p', 'eve', many, { how: 'replace' })), 'not_found', /persona/)
      await rejects(packages.write(whole('p', 'eve', 1)), 'not_found', /persona/)
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
        const scope = { personaId: `p${count}`, userId: 'ada' }
        await storage.packages.write(whole(scope.personaId, 'ada', count))
        const read = await storage.packages.read(scope, (archived) =>
          [...archived.memories()].map(({ entry }) => entry.content),
        )
        assert.equal(
          read,
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
        await rejects(storage.packages.write(whole('p', 'ada', count)), 'too_large', /stored_memories_per_user/)
        assert.is(await storage.personas.find('p'), undefined)
      }
      assert.equal(await storage.packages.write(whole('p', 'ada', 2)), { memories: 2 })
    },
  },
  {
    store: 'packages',
    topic: 'limits',
    says: 'a dry run says how many memories would be new, and writes nothing',
    async holds(place) {
      const storage = await place.open()
      const scope = await makeScope(storage, 'p')
      await storage.memories.add(scope, [memory('memory 0')], keepAll)
      for (const count of [3, many]) {
        const dry = whole('p', 'ada', count, { how: 'merge', dryRun: true })
        assert.equal(await storage.packages.write(dry), { memories: count - 1 })
      }
      assert.equal(await contents(storage, scope), ['memory 0'])
    },
  },
  {
    store: 'packages',
    topic: 'concurrency',
    says: 'of two new personas of one id, over two connections, one is written whole',
    async holds(place) {
      const [one, two] = [await place.open(), await place.open()]
      const outcomes = await Promise.allSettled([
        one.packages.write(whole('p', 'ada', many)),
        two.packages.write(whole('p', 'ada', many + 1)),
      ])
      const written = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value.memories] : []))
      assert.is(written.length, 1)
      assert.is(one.packages.extent({ personaId: 'p', userId: 'ada' }).memories, written[0])
    },
  },
  {
    store: 'packages',
    topic: 'concurrency',
    says: 'a merge of many keeps the memory that another connection stores meanwhile, and readers see none of it before its end',
    async holds(place) {
      const [one, two] = [await place.open(), await place.open()]
      const scope = await makeScope(one, 'p')
      let isFirst = true
      let seen = -1
      let adding: Promise<unknown> = Promise.resolve()
      const merge = whole('p', 'ada', many, {
        how: 'merge',
        *memories() {
          for (const [at, each] of [...incoming(many)].entries()) {
            if (isFirst && at === many / 2) {
              isFirst = false
              seen = two.packages.extent(scope).memories
              adding = Promise.resolve().then(() => two.memories.add(scope, [memory('meanwhile')], keepAll))
            }
            yield each
          }
        },
      })
      await one.packages.write(merge)
      await adding
      assert.is(seen, 0)
      const stored = await contents(two, scope)
      assert.is(stored.length, many + 1)
      assert.ok(stored.includes('meanwhile'))
    },
  },
]
