import * as assert from 'uvu/assert'
import type { MemoryFilter } from '../../../src/personas/memory/memory.ts'
import { queryTermsOf } from '../../../src/personas/memory/ranking-query.ts'
import type { Storage } from '../../../src/storage/open-storage.ts'
import { rejects } from '../../helpers/rejection.ts'
import { contents, keepAll, makeScope, memory, noon, revisionOf, vector } from '../../helpers/storage/samples.ts'
import type { Rule } from './rule.ts'

/** The contents of the memories with any of these words. */
async function found(storage: Storage, scope: Parameters<Storage['memories']['get']>[0], words: string) {
  const { candidates } = await storage.memories.search(scope, { terms: queryTermsOf(words), candidates: 10 })
  return candidates.map(({ entry }) => entry.content).sort()
}

export const memoryEditRules: readonly Rule[] = [
  {
    store: 'memories',
    topic: 'filters',
    says: 'a list holds the memories that meet all conditions, and its total counts them',
    async holds(place) {
      const storage = await place.open()
      const scope = await makeScope(storage, 'p')
      const given = Array.from({ length: 12 }, (_, at) =>
        memory(`m${at}`, {
          id: `${at % 2 ? 'odd' : 'even'}-${at}`,
          timestamp: noon + at,
          metadata: {
            ...(at % 2 === 0 && { category: 'even' }),
            ...(at % 3 === 0 && { speaker: 'Ada' }),
            ...(at > 5 && { conversation: 'late' }),
            ...(at === 6 && { pinned: true }),
            ...(at === 7 && { speaker: 7 }),
          },
        }),
      )
      await storage.memories.add(scope, given, keepAll)
      const listed = async (filter: MemoryFilter) => {
        const { entries, total } = await storage.memories.list(scope, { limit: 2, offset: 1, ...filter })
        const all = await storage.memories.list(scope, { limit: 100, offset: 0, ...filter })
        assert.equal([entries, total], [all.entries.slice(1, 3), all.entries.length])
        return all.entries.map(({ content }) => content).join(' ')
      }
      assert.is(await listed({ speaker: 'Ada' }), 'm9 m6 m3 m0')
      assert.is(await listed({ speaker: '', conversation: 'late' }), 'm11 m10 m8 m7', 'a number is no speaker')
      assert.is(await listed({ conversation: '', category: 'even' }), 'm4 m2 m0')
      assert.is(await listed({ after: noon + 3, before: noon + 5 }), 'm4 m3')
      assert.is(await listed({ pinned: true }), 'm6')
      assert.is(await listed({ pinned: false, speaker: 'Ada' }), 'm9 m3 m0')
      assert.is(await listed({ idPrefix: 'odd-1' }), 'm11 m1')
      assert.is(await listed({ idPrefix: '%' }), '')
      assert.is(await listed({ speaker: "' OR 1 --" }), '')
    },
  },
  {
    store: 'memories',
    topic: 'filters',
    says: 'a search finds the best of the memories that pass, however many others match better',
    async holds(place) {
      const storage = await place.open()
      const scope = await makeScope(storage, 'p')
      const many = Array.from({ length: 200 }, (_, at) =>
        memory(`tea tea tea ${at}`, { timestamp: noon + at, vector: vector(0) }),
      )
      const rare = (word: string, at: number) =>
        memory(`${word} and a long walk along the river`, {
          timestamp: noon - at,
          vector: vector(1.5),
          metadata: { category: 'rare', speaker: 'Ada', conversation: word },
        })
      await storage.memories.add(scope, [...many, rare('tea', 1), rare('cake', 2), rare('milk', 3)], keepAll)
      const query = { terms: queryTermsOf('tea cake'), vector: vector(0), candidates: 2 }
      const search = async (filter: MemoryFilter) => {
        const { candidates, frequencies } = await storage.memories.search(scope, { ...query, filter })
        assert.equal(frequencies, [201, 1], 'frequencies are those of the whole scope')
        return candidates.map(({ entry, cosine }) => [entry.metadata['conversation'], cosine !== undefined]).sort()
      }
      const both = [
        ['cake', true],
        ['tea', true],
      ]
      assert.equal(await search({ category: 'rare', after: noon - 2 }), both)
      assert.equal(await search({ speaker: 'Ada', conversation: 'milk' }), [['milk', true]])
      assert.equal(await search({ pinned: true }), [])
      const three = await search({ before: noon })
      for (const one of both)
        assert.ok(
          three.some((found) => String(found) === String(one)),
          String(one),
        )
    },
  },
  {
    store: 'memories',
    topic: 'edits',
    says: 'an edited memory has its new fields and its id, is found by its new words alone, and counts as a revision',
    async holds(place) {
      const storage = await place.open()
      const { memories } = storage
      const scope = await makeScope(storage, 'p')
      const more = { vector: vector(0), metadata: { category: 'drinks' } }
      const { entries } = await memories.add(
        scope,
        [memory('green tea', more), memory('white milk', { metadata: { conversation: 'c' } })],
        keepAll,
      )
      const { id } = entries[0]!
      const before = await revisionOf(storage, scope)
      const fields = {
        content: 'black coffee',
        timestamp: noon + 5,
        importance_score: 0.9,
        metadata: { category: 'beans', speaker: 'Ada' },
      }
      const edited = await memories.edit(scope, id, () => fields, keepAll, vector(1))
      assert.equal(edited, { ...entries[0]!, ...fields, vector: vector(1) })
      assert.equal(await memories.get(scope, id), edited)
      assert.is.not(await revisionOf(storage, scope), before)
      assert.equal(await found(storage, scope, 'green tea drinks'), [])
      assert.equal(await found(storage, scope, 'coffee'), ['black coffee'])
      assert.equal(await memories.categories(scope, {}), [
        { category: '', count: 1 },
        { category: 'beans', count: 1 },
      ])
      assert.equal(await contents(storage, scope), ['black coffee', 'white milk'])
    },
  },
  {
    store: 'memories',
    topic: 'edits',
    says: 'a new text without a vector is pending, and a text that stays keeps its vector',
    async holds(place) {
      const { memories, ...storage } = await place.open()
      const scope = await makeScope({ memories, ...storage }, 'p')
      const { entries } = await memories.add(scope, [memory('green tea', { vector: vector(0) })], keepAll)
      const { id } = entries[0]!
      const weighed = await memories.edit(scope, id, (entry) => ({ ...entry, importance_score: 1 }), keepAll, vector(1))
      assert.equal(weighed?.vector?.values, vector(0).values)
      const reworded = await memories.edit(scope, id, (entry) => ({ ...entry, content: 'black tea' }), keepAll)
      assert.is(reworded?.vector, undefined)
      assert.equal(
        (await memories.pending(scope, 'contract/8', 0, 10)).entries.map(({ content }) => content),
        ['black tea'],
      )
      await memories.putVectors(scope, [{ id, content: 'green tea', vector: vector(0) }])
      assert.is((await memories.get(scope, id))?.vector, undefined, 'the vector of the former text came too late')
    },
  },
  {
    store: 'memories',
    topic: 'edits',
    says: 'the words around an edited or removed memory in its conversation follow it',
    async holds(place) {
      const storage = await place.open()
      const { memories } = storage
      const scope = await makeScope(storage, 'p')
      const said = (content: string, conversation: string, at: number) =>
        memory(content, { timestamp: noon + at, metadata: { conversation } })
      const given = [said('question', 'c', 1), said('walrus', 'c', 2), said('other', 'd', 3)]
      const { entries } = await memories.add(scope, given, keepAll)
      const { id } = entries[1]!
      assert.equal(await found(storage, scope, 'walrus'), ['question', 'walrus'])
      await memories.edit(scope, id, (entry) => ({ ...entry, metadata: { conversation: 'd' } }), keepAll)
      assert.equal(await found(storage, scope, 'walrus'), ['other', 'walrus'])
      await memories.edit(scope, id, (entry) => ({ ...entry, content: 'narwhal' }), keepAll)
      assert.equal(await found(storage, scope, 'walrus'), [])
      assert.equal(await found(storage, scope, 'narwhal'), ['narwhal', 'other'])
      assert.is(await memories.remove(scope, id), true)
      assert.equal(await found(storage, scope, 'narwhal'), [])
      assert.equal(await contents(storage, scope), ['other', 'question'])
    },
  },
  {
    store: 'memories',
    topic: 'edits',
    says: 'an edit that throws, to the text of another memory, or to a pin without room changes nothing',
    async holds(place) {
      const storage = await place.open()
      const { memories } = storage
      const scope = await makeScope(storage, 'p')
      const given = [memory('tea'), memory('cocoa', { metadata: { pinned: true } })]
      const { entries } = await memories.add(scope, given, keepAll)
      const [tea, cocoa] = [entries[0]!.id, entries[1]!.id]
      const before = await revisionOf(storage, scope)
      const full = { ...keepAll, maxMemories: 1, cleanup: true }
      const pin = memories.edit(scope, tea, (entry) => ({ ...entry, metadata: { pinned: true } }), full)
      await rejects(pin, 'invalid', /may hold 1 memor/)
      const same = memories.edit(scope, tea, (entry) => ({ ...entry, content: ' cocoa' }), keepAll)
      await rejects(same, 'invalid', new RegExp(`${cocoa} has the same text`))
      await memories
        .edit(
          scope,
          tea,
          () => {
            throw new Error('of the caller')
          },
          keepAll,
        )
        .then(
          () => assert.unreachable(),
          () => {},
        )
      assert.equal([(await memories.get(scope, tea))?.content, await revisionOf(storage, scope)], ['tea', before])
      assert.is(await memories.edit(scope, 'unknown', (entry) => entry, keepAll), undefined)
      assert.is(await memories.remove(scope, 'unknown'), false)
    },
  },
  {
    store: 'memories',
    topic: 'scopes',
    says: 'no edit or removal reaches a memory of another persona or user',
    async holds(place) {
      const storage = await place.open()
      const { memories } = storage
      const [mine, other] = [await makeScope(storage, 'p'), await makeScope(storage, 'q')]
      const { entries } = await memories.add(mine, [memory('tea')], keepAll)
      const { id } = entries[0]!
      for (const scope of [other, { personaId: 'p', userId: 'eve' }]) {
        const edited = await memories.edit(scope, id, (entry) => ({ ...entry, content: 'cocoa' }), keepAll)
        assert.equal([edited, await memories.remove(scope, id)], [undefined, false])
      }
      assert.equal(await contents(storage, mine), ['tea'])
    },
  },
  {
    store: 'memories',
    topic: 'limits',
    says: 'an edit beyond the bytes of its owner is refused, and one to a shorter text never',
    limits: { memories: 10, bytes: 1000 },
    async holds(place) {
      const storage = await place.open()
      const { memories } = storage
      const scope = await makeScope(storage, 'p')
      const { entries } = await memories.add(scope, [memory('x'.repeat(800))], keepAll)
      const rewrite = (content: string) =>
        memories.edit(scope, entries[0]!.id, (entry) => ({ ...entry, content }), keepAll)
      await rejects(rewrite('x'.repeat(1000)), 'too_large', /stored_bytes_per_user/)
      assert.is((await rewrite('short'))?.content, 'short')
    },
  },
  {
    store: 'memories',
    topic: 'concurrency',
    says: 'edits of one memory from two connections at once are made one after the other, each on the one before',
    async holds(place) {
      const both = [await place.open(), await place.open()]
      const scope = await makeScope(both[0]!, 'p')
      const { entries } = await both[0]!.memories.add(scope, [memory('tea')], keepAll)
      const { id } = entries[0]!
      await Promise.all(
        Array.from({ length: 10 }, (_, at) =>
          both[at % 2]!.memories.edit(
            scope,
            id,
            (entry) => ({
              ...entry,
              content: `${entry.content} ${at}`,
              metadata: { ...entry.metadata, [`key${at}`]: at },
            }),
            keepAll,
          ),
        ),
      )
      const edited = (await both[1]!.memories.get(scope, id))!
      assert.is(Object.keys(edited.metadata).length, 10)
      assert.equal(edited.content.split(' ').sort(), ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'tea'])
    },
  },
]
