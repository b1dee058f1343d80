import * as assert from 'uvu/assert'
import { queryTermsOf } from '../../../src/personas/memory/ranking-query.ts'
import { rejects } from '../../helpers/rejection.ts'
import { contents, keepAll, makeScope, memory, noon, vector } from '../../helpers/storage/samples.ts'
import type { Rule } from './rule.ts'

const page = { limit: 100, offset: 0 }

export const memoryRules: readonly Rule[] = [
  {
    store: 'memories',
    topic: 'scopes',
    says: 'no read, search, wipe or vector reaches beyond one persona of one user',
    async holds(place) {
      const storage = await place.open()
      const { memories } = storage
      const [mine, other] = [await makeScope(storage, 'p'), await makeScope(storage, 'q')]
      const { entries } = await memories.add(mine, [memory('green tea', { vector: vector(0) })], keepAll)
      await memories.add(other, [memory('green cocoa', { vector: vector(0.1) })], keepAll)
      const { id } = entries[0]!
      const stranger = { personaId: 'p', userId: 'eve' }
      assert.is(await memories.get(other, id), undefined)
      assert.is(await memories.get(stranger, id), undefined)
      assert.equal(await memories.list(stranger, page), { entries: [], total: 0 })
      assert.equal(await memories.categories(stranger, {}), [])
      const query = { terms: queryTermsOf('green tea'), vector: vector(0), candidates: 10 }
      const found = await memories.search(mine, query)
      assert.equal([found.memories, found.frequencies], [1, [1, 1]])
      assert.equal(
        found.candidates.map(({ entry }) => entry.content),
        ['green tea'],
      )
      assert.equal((await memories.search(stranger, query)).candidates, [])
      await memories.putVectors(other, [{ id, content: 'green tea', vector: vector(1) }])
      assert.equal((await memories.get(mine, id))?.vector?.values, vector(0).values)
      assert.is(await memories.wipe(stranger, {}), 0)
      assert.is(await memories.wipe(other, {}), 1)
      assert.equal(await contents(storage, mine), ['green tea'])
    },
  },
  {
    store: 'memories',
    topic: 'scopes',
    says: 'nothing is stored for a persona that its user does not have, or has no more',
    async holds(place) {
      const storage = await place.open()
      const scope = await makeScope(storage, 'p')
      const eve = { personaId: 'p', userId: 'eve' }
      await rejects(storage.memories.add(eve, [memory('tea')], keepAll), 'not_found', /persona/i)
      await storage.memories.add(scope, [memory('tea')], keepAll)
      await storage.personas.remove('p', 'ada')
      await rejects(storage.memories.add(scope, [memory('cocoa')], keepAll), 'not_found', /persona/i)
      assert.equal(await contents(storage, scope), [])
    },
  },
  {
    store: 'memories',
    topic: 'order',
    says: 'memories with keys are read in pages in the order in which they were stored, and each change of them shows',
    async holds(place) {
      const storage = await place.open()
      const { memories, personas } = storage
      const [scope, other] = [await makeScope(storage, 'p'), await makeScope(storage, 'q')]
      const seen = new Set<number>()
      const changesOf = async () => (await personas.open(scope.userId, scope.personaId))[0]!.lore
      const changes = async () => {
        const version = await changesOf()
        const isNew = !seen.has(version)
        seen.add(version)
        return isNew
      }
      assert.is(await changesOf(), 0)
      await memories.add(scope, [memory('plain', { metadata: { keys: 'no list' } })], keepAll)
      assert.is(await changesOf(), 0)
      const lore = (content: string, keys: readonly string[]) => memory(content, { metadata: { keys } })
      await memories.add(scope, [lore('one', ['a']), lore('two', []), lore('three', ['c'])], keepAll)
      await memories.add(other, [lore('of another', ['a'])], keepAll)
      assert.ok(await changes())
      await memories.add(scope, [memory('plain again')], keepAll)
      assert.not.ok(await changes(), 'other memories are no change')
      const first = await memories.lore(scope, {}, 0, 2)
      const rest = await memories.lore(scope, {}, first.next!, 2)
      assert.equal(
        [...first.entries, ...rest.entries].map(({ content }) => content),
        ['one', 'two', 'three'],
      )
      assert.is(rest.next, undefined)
      assert.equal((await memories.lore(scope, { since: Number.MAX_SAFE_INTEGER }, 0, 9)).entries, [])
      assert.equal((await memories.lore({ personaId: 'p', userId: 'eve' }, {}, 0, 9)).entries, [])
      await memories.add(scope, [lore('one', ['a', 'b'])], keepAll)
      assert.ok(await changes(), 'other keys are one')
      await memories.add(scope, [memory('fourth', { metadata: { category: 'gone', keys: [] } })], keepAll)
      assert.ok(await changes())
      await memories.wipe(scope, { category: 'gone' })
      assert.ok(await changes(), 'a removal is one')
    },
  },
  {
    store: 'memories',
    topic: 'order',
    says: 'memories are listed newest first, counted by category in its order, and pending ones come oldest first',
    async holds(place) {
      const storage = await place.open()
      const scope = await makeScope(storage, 'p')
      const given = [
        memory('second', { timestamp: noon + 2, metadata: { category: 'b' } }),
        memory('third', { timestamp: noon + 3, metadata: { category: 'a' } }),
        memory('first', { timestamp: noon + 1, metadata: { category: 'b' } }),
      ]
      const { entries } = await storage.memories.add(scope, given, keepAll)
      assert.equal(
        entries.map(({ content }) => content),
        ['second', 'third', 'first'],
      )
      assert.equal(await contents(storage, scope), ['third', 'second', 'first'])
      assert.equal(await storage.memories.categories(scope, {}), [
        { category: 'a', count: 1 },
        { category: 'b', count: 2 },
      ])
      const pending = await storage.memories.pending(scope, 'contract/8', 0, 10)
      assert.equal(
        pending.entries.map(({ content }) => content),
        ['second', 'third', 'first'],
      )
    },
  },
  {
    store: 'memories',
    topic: 'ties',
    says: 'of memories of one moment the one that was stored last is listed first',
    async holds(place) {
      const storage = await place.open()
      const scope = await makeScope(storage, 'p')
      for (const word of ['a', 'c', 'b']) await storage.memories.add(scope, [memory(word)], keepAll)
      assert.equal(await contents(storage, scope), ['b', 'c', 'a'])
    },
  },
  {
    store: 'memories',
    topic: 'limits',
    says: 'pages, filters and totals agree',
    async holds(place) {
      const storage = await place.open()
      const scope = await makeScope(storage, 'p')
      const given = Array.from({ length: 10 }, (_, at) =>
        memory(`m${at}`, { timestamp: noon + at, metadata: { category: at % 2 ? 'odd' : 'even' } }),
      )
      await storage.memories.add(scope, given, keepAll)
      assert.equal(await contents(storage, scope, 2, 3), ['m6', 'm5'])
      const odd = await storage.memories.list(scope, { limit: 1, offset: 1, category: 'odd' })
      assert.equal([odd.entries.map(({ content }) => content), odd.total], [['m7'], 5])
      const pending = await storage.memories.pending(scope, undefined, 0, 4)
      assert.is(pending.entries.length, 4)
      assert.is((await storage.memories.pending(scope, undefined, pending.next!, 100)).entries.length, 6)
      assert.is(await storage.memories.wipe(scope, { category: 'odd', before: noon + 5 }), 2)
      assert.is((await storage.memories.list(scope, page)).total, 8)
    },
  },
  {
    store: 'memories',
    topic: 'limits',
    says: 'a full memory evicts the least worth, spares pinned ones and records why; without clean-up it refuses',
    async holds(place) {
      const storage = await place.open()
      const scope = await makeScope(storage, 'p')
      const policy = { ...keepAll, maxMemories: 3, cleanup: true }
      await storage.memories.add(scope, [memory('pinned', { importance_score: 0, metadata: { pinned: true } })], policy)
      const add = (worth: number) =>
        storage.memories.add(scope, [memory(`worth ${worth}`, { importance_score: worth })], policy)
      await add(0.2)
      await add(0.9)
      const { evicted } = await add(0.4)
      assert.equal(
        evicted.map(({ reason, importance_score }) => [reason, importance_score]),
        [['max_memories', 0.2]],
      )
      assert.equal(await storage.memories.evictions(scope, 10), evicted)
      assert.equal([...(await contents(storage, scope))].sort(), ['pinned', 'worth 0.4', 'worth 0.9'])
      await rejects(
        storage.memories.add(scope, [memory('more')], { ...policy, cleanup: false }),
        'invalid',
        /may hold 3 memories/,
      )
      assert.is((await storage.memories.list(scope, page)).total, 3)
    },
  },
  {
    store: 'memories',
    topic: 'limits',
    says: 'memories beyond the number of their owner, over all personas, are refused whole',
    limits: { memories: 3, bytes: 1e9 },
    async holds(place) {
      const storage = await place.open()
      const [one, two] = [await makeScope(storage, 'p'), await makeScope(storage, 'q')]
      await storage.memories.add(one, [memory('a'), memory('b')], keepAll)
      await rejects(
        storage.memories.add(two, [memory('c'), memory('d')], keepAll),
        'too_large',
        /stored_memories_per_user/,
      )
      assert.equal(await contents(storage, two), [])
      await storage.memories.add(two, [memory('c')], keepAll)
    },
  },
  {
    store: 'memories',
    topic: 'limits',
    says: 'a text of the greatest length is stored and found, even as a single term',
    async holds(place) {
      const storage = await place.open()
      const scope = await makeScope(storage, 'p')
      const word = 'w'.repeat(20_000)
      await storage.memories.add(scope, [memory(word), memory('a short one')], keepAll)
      const found = await storage.memories.search(scope, { terms: queryTermsOf(word), candidates: 5 })
      assert.equal(found.frequencies, [1])
      assert.equal(
        found.candidates.map(({ entry }) => entry.content.length),
        [20_000],
      )
    },
  },
  {
    store: 'memories',
    topic: 'concurrency',
    says: 'the same memory from two connections at once is stored once, with the metadata of both',
    async holds(place) {
      const both = [await place.open(), await place.open()]
      const scope = await makeScope(both[0]!, 'p')
      await Promise.all(
        Array.from({ length: 10 }, (_, at) =>
          both[at % 2]!.memories.add(scope, [memory('tea', { metadata: { [`key${at}`]: at } })], keepAll),
        ),
      )
      const { entries, total } = await both[1]!.memories.list(scope, page)
      assert.is(total, 1)
      assert.is(Object.keys(entries[0]!.metadata).length, 10)
    },
  },
  {
    store: 'memories',
    topic: 'concurrency',
    says: 'a wipe takes the memories that were there when it began, and keeps its index whole beside a writer',
    async holds(place) {
      const [one, two] = [await place.open(), await place.open()]
      const scope = await makeScope(one, 'p')
      await one.memories.add(
        scope,
        Array.from({ length: 120 }, (_, at) => memory(`old ${at}`, { metadata: { category: 'x' } })),
        keepAll,
      )
      const wiping = one.memories.wipe(scope, { category: 'x' })
      await two.memories.add(scope, [memory('newcomer', { metadata: { category: 'x' } })], keepAll)
      assert.is(await wiping, 120)
      assert.equal(await contents(two, scope), ['newcomer'])
      const found = await two.memories.search(scope, { terms: queryTermsOf('old newcomer'), candidates: 9 })
      assert.equal([found.memories, found.frequencies], [1, [0, 1]])
    },
  },
]
