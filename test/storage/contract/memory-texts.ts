import * as assert from 'uvu/assert'
import type { SpellingLookup, Vector } from '../../../src/personas/memory/memory.ts'
import { queryTermsOf } from '../../../src/personas/memory/ranking-query.ts'
import { keepAll, makeScope, memory, noon, persona } from '../../helpers/storage/samples.ts'
import type { Rule } from './rule.ts'

/** Texts, orders and sizes in which databases differ. */
export const memoryTextRules: readonly Rule[] = [
  {
    store: 'memories',
    topic: 'limits',
    says: 'every text is kept as it was given, also with U+0000, noncharacters and what is beyond the sixteenth bit',
    async holds(place) {
      const { memories, personas, ...storage } = await place.open()
      for (const text of ['a\0b 😀 tea', '\0', '\ufdd0', '\ufdd00\0\ufdd01', '\uffff\ufffd']) {
        const scope = await makeScope({ memories, personas, ...storage }, `p ${text}`)
        const saved = { ...persona(scope.personaId, 'ada'), name: text, description: text, system_prompt: text }
        await personas.save({ ...saved, extra: { [text]: text } })
        assert.equal(await personas.find(scope.personaId), { ...saved, extra: { [text]: text } })
        const given = memory(text, { id: `m ${text}`, metadata: { category: text, speaker: text } })
        const { entries } = await memories.add(scope, [given], keepAll)
        assert.equal(
          entries.map(({ id, content, metadata }) => ({ id, content, metadata })),
          [{ id: given.id, content: text, metadata: given.metadata }],
        )
        assert.equal(await memories.get(scope, given.id!), entries[0])
        assert.equal((await memories.list(scope, { limit: 9, offset: 0, category: text })).entries, entries)
        assert.equal((await memories.add(scope, [{ ...given, id: 'other' }], keepAll)).added, [])
        const edited = await memories.edit(scope, given.id!, (entry) => ({ ...entry, content: `c${text}` }), keepAll)
        assert.is(edited?.content, `c${text}`)
        assert.is((await memories.get(scope, given.id!))?.content, `c${text}`)
        await memories.wipe(scope, {})
      }
    },
  },
  {
    store: 'memories',
    topic: 'order',
    says: 'texts are in the order of their code points, whatever the language of the server is',
    async holds(place) {
      const storage = await place.open()
      const scope = await makeScope(storage, 'p')
      const names = ['a', 'B', 'ä', 'Z', 'z', '_', 'ﬀ', '😀', 'é', '10', '9']
      await storage.memories.add(
        scope,
        names.map((category) => memory(category, { id: category, metadata: { category } })),
        keepAll,
      )
      const categories = await storage.memories.categories(scope, {})
      assert.equal(
        categories.map(({ category }) => category),
        ['10', '9', 'B', 'Z', '_', 'a', 'z', 'ä', 'é', 'ﬀ', '😀'],
      )
      const { total } = await storage.memories.list(scope, { limit: 9, offset: 0, idPrefix: '😀' })
      assert.is(total, 1)
    },
  },
  {
    store: 'memories',
    topic: 'limits',
    says: 'a term of thousands of bytes is found by itself and by its beginning, and by no other one',
    async holds(place) {
      const { memories, ...storage } = await place.open()
      const scope = await makeScope({ memories, ...storage }, 'p')
      const long = (end: string) => `${'ж'.repeat(1500)}${end}`
      await memories.add(scope, [memory(long('а')), memory(long('б')), memory('жук')], keepAll)
      const found = async (terms: readonly string[], alike?: readonly SpellingLookup[]) => {
        const { frequencies, candidates } = await memories.search(scope, {
          terms,
          candidates: 9,
          ...(alike && { alike: [alike] }),
        })
        return [frequencies, candidates.map(({ entry }) => entry.content.at(-1)).sort()]
      }
      assert.equal(await found(queryTermsOf(long('а'))), [[1], ['а']])
      assert.equal(await found(['ничего'], [{ text: 'ж'.repeat(80), isPrefix: true }]), [[0], ['а', 'б']])
      assert.equal(await found(['ничего'], [{ text: 'ж', isPrefix: true }]), [[0], ['а', 'б', 'к']])
    },
  },
  {
    store: 'memories',
    topic: 'limits',
    says: 'vectors of 8 to 4,096 dimensions come back as they were, and the nearest is found among them',
    async holds(place) {
      const { memories, ...storage } = await place.open()
      for (const dimension of [8, 1536, 3072, 4096]) {
        const scope = await makeScope({ memories, ...storage }, `p${dimension}`)
        const at = (angle: number): Vector => {
          const values = new Float32Array(dimension)
          values[0] = Math.cos(angle)
          values[dimension - 1] = Math.sin(angle)
          return { space: { key: `d/${dimension}`, model: 'd', dimension }, values }
        }
        const given = Array.from({ length: 5 }, (_, index) => memory(`m${index}`, { vector: at(index / 4) }))
        const { entries } = await memories.add(scope, given, keepAll)
        assert.equal((await memories.get(scope, entries[3]!.id))?.vector, at(3 / 4))
        const { candidates } = await memories.search(scope, { terms: [], vector: at(0.7), candidates: 2 })
        assert.equal(
          candidates.map(({ entry }) => entry.content),
          ['m3'],
        )
        assert.ok(Math.abs(candidates[0]!.cosine! - Math.cos(0.05)) < 1e-5)
        const other = { space: { key: 'unknown', model: 'd', dimension }, values: at(0).values }
        assert.equal((await memories.search(scope, { terms: [], vector: other, candidates: 2 })).candidates, [])
      }
    },
  },
  {
    store: 'memories',
    topic: 'filters',
    says: 'a search in a scope of thousands finds the newest with a common word, and estimates how common it is',
    async holds(place) {
      const { memories, ...storage } = await place.open()
      const scope = await makeScope({ memories, ...storage }, 'p')
      const count = 4200
      const given = Array.from({ length: count }, (_, at) =>
        memory(`${at % 2 === 0 ? 'tea' : 'milk'} x${at}`, {
          timestamp: noon + at * 3_600_001,
          metadata: { category: at < 100 ? 'old' : 'new' },
        }),
      )
      await memories.add(scope, given, keepAll)
      const search = async (words: string, category?: string) => {
        const filter = category === undefined ? {} : { filter: { category } }
        const found = await memories.search(scope, { terms: queryTermsOf(words), candidates: 3, ...filter })
        return [found.frequencies, found.candidates.map(({ entry }) => entry.content).sort()]
      }
      assert.equal(await search('tea'), [[2101], ['tea x4194', 'tea x4196', 'tea x4198']])
      assert.equal(await search('tea', 'old'), [[2101], ['tea x94', 'tea x96', 'tea x98']])
      assert.equal(await search('tea x7', 'old'), [
        [2101, 1],
        ['milk x7', 'tea x96', 'tea x98'],
      ])
      await memories.wipe(scope, { before: noon + 4000 * 3_600_001 })
      assert.equal(await search('tea'), [[100], ['tea x4194', 'tea x4196', 'tea x4198']])
    },
  },
]
