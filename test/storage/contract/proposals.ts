import * as assert from 'uvu/assert'
import type { NewProposal } from '../../../src/personas/memory/proposal.ts'
import type { Storage } from '../../../src/storage/open-storage.ts'
import { keepAll, makeScope, memory, noon } from '../../helpers/storage/samples.ts'
import type { Rule } from './rule.ts'

export const proposalRules: readonly Rule[] = [
  {
    store: 'proposals',
    topic: 'scopes',
    says: 'proposals are seen and decided in their own scope, and go with their source, its persona and its wipe',
    async holds(place) {
      const storage = await place.open()
      const { proposals, memories, personas } = storage
      const scope = await withSource(storage, 'p')
      const other = await withSource(storage, 'q', 'eve')
      await proposals.add(scope, [proposal('one'), proposal('two')], 10)
      assert.equal(await proposals.add(scope, [proposal('lost', { memory_id: 'of nobody' })], 10), [])
      for (const stranger of [other, { ...scope, userId: 'eve' }]) {
        assert.is((await open(storage, stranger)).length, 0)
        assert.is(await proposals.find(stranger, 'one', noon), undefined)
        assert.not.ok(await proposals.claim(stranger, 'one', noon))
        assert.not.ok(await proposals.reject(stranger, 'one', noon))
      }
      assert.equal(await open(storage, scope), ['two', 'one'])
      await memories.remove(scope, 'source')
      assert.equal(await open(storage, scope), [])
      await memories.add(scope, [memory('source', { id: 'source' })], keepAll)
      await proposals.add(scope, [proposal('one')], 10)
      await memories.wipe(scope, {})
      assert.equal(await open(storage, scope), [])
      await memories.add(scope, [memory('source', { id: 'source' })], keepAll)
      await proposals.add(scope, [proposal('two')], 10)
      await personas.remove('p', 'ada')
      assert.equal(await open(storage, scope), [])
    },
  },
  {
    store: 'proposals',
    topic: 'order',
    says: 'proposals are listed by status, the newest first, and each says what became of it',
    async holds(place) {
      const storage = await place.open()
      const { proposals } = storage
      const scope = await withSource(storage, 'p')
      await proposals.add(
        scope,
        ['a', 'b', 'c', 'd'].map((id) => proposal(id)),
        10,
      )
      assert.equal(await open(storage, scope), ['d', 'c', 'b', 'a'])
      assert.ok(await proposals.reject(scope, 'b', noon))
      assert.ok(await proposals.claim(scope, 'c', noon))
      await proposals.settle(scope, 'c', 'memory of c')
      assert.equal(await open(storage, scope), ['d', 'a'])
      const { status, accepted_as, ...rest } = (await proposals.find(scope, 'c', noon))!
      assert.equal([status, accepted_as, rest], ['accepted', 'memory of c', proposal('c')])
      assert.is((await proposals.find(scope, 'b', noon))?.status, 'rejected')
      const { proposals: page, total } = await proposals.list(scope, { status: 'open', limit: 1, offset: 1, now: noon })
      assert.equal([page.map(({ id }) => id), total], [['a'], 2])
    },
  },
  {
    store: 'proposals',
    topic: 'limits',
    says: 'a scope holds so many proposals, of which the decided and then the oldest go; a known text comes once',
    async holds(place) {
      const storage = await place.open()
      const { proposals } = storage
      const scope = await withSource(storage, 'p')
      assert.equal(await proposals.add(scope, [proposal('a'), proposal('b'), proposal('c')], 3), ['a', 'b', 'c'])
      assert.equal(await proposals.add(scope, [proposal('A', { content: 'TEXT OF A' })], 3), [])
      await proposals.reject(scope, 'c', noon)
      assert.equal(await proposals.add(scope, [proposal('again', { content: 'text of c' })], 3), [])
      assert.equal(await proposals.add(scope, [proposal('d')], 3), ['d'])
      assert.is(await proposals.find(scope, 'c', noon), undefined)
      await proposals.add(scope, [proposal('e')], 3)
      assert.equal(await open(storage, scope), ['e', 'd', 'b'])
      const many = Array.from({ length: 1000 }, (_, at) => proposal(`many ${at}`))
      assert.is((await proposals.add(scope, many, 3)).length, 3)
      assert.equal(await open(storage, scope), ['many 999', 'many 998', 'many 997'])
    },
  },
  {
    store: 'proposals',
    topic: 'concurrency',
    says: 'over two connections a proposal is accepted once; an acceptance that never ended is open again after a while',
    async holds(place) {
      const both = [await place.open(), await place.open()]
      const scope = await withSource(both[0]!, 'p')
      await both[0]!.proposals.add(scope, [proposal('a')], 10)
      const claims = await Promise.all(
        Array.from({ length: 8 }, (_, at) => both[at % 2]!.proposals.claim(scope, 'a', noon)),
      )
      assert.is(claims.filter(Boolean).length, 1)
      assert.not.ok(await both[1]!.proposals.reject(scope, 'a', noon))
      assert.equal(await open(both[1]!, scope), [])
      await both[0]!.proposals.settle(scope, 'a', undefined)
      assert.equal(await open(both[1]!, scope), ['a'])
      assert.ok(await both[1]!.proposals.claim(scope, 'a', noon))
      assert.is((await both[0]!.proposals.find(scope, 'a', noon + 3_600_000))?.status, 'open')
      assert.ok(await both[0]!.proposals.claim(scope, 'a', noon + 3_600_000))
    },
  },
]

async function withSource(storage: Storage, id: string, owner = 'ada') {
  const scope = await makeScope(storage, id, owner)
  await storage.memories.add(scope, [memory('source', { id: 'source' })], keepAll)
  return scope
}

function proposal(id: string, more: Partial<NewProposal> = {}): NewProposal {
  return { id, content: `Text of ${id}`, confidence: 0.5, model: 'm', memory_id: 'source', created_at: noon, ...more }
}

async function open(storage: Storage, scope: { readonly personaId: string; readonly userId: string }) {
  const { proposals } = await storage.proposals.list(scope, { status: 'open', limit: 100, offset: 0, now: noon })
  return proposals.map(({ id }) => id)
}
