import * as assert from 'uvu/assert'
import { type EmbeddingClaim, spaceKeptMs } from '../../../src/personas/memory/memory.ts'
import { keepAll, makeScope, memory, noon, vector } from '../../helpers/storage/samples.ts'
import type { Rule } from './rule.ts'

function claim(holder: string, more: Partial<EmbeddingClaim> = {}): EmbeddingClaim {
  return { holder, model: 'm', space: 'm@1', heldFor: 30_000, now: noon, ...more }
}

export const memoryEmbeddingRules: readonly Rule[] = [
  {
    store: 'memories',
    topic: 'concurrency',
    says: 'of several processes one embeds a scope, until it ends that or is heard of no more; other scopes wait for none',
    async holds(place) {
      const both = [await place.open(), await place.open()]
      const [scope, other] = [await makeScope(both[0]!, 'p'), await makeScope(both[0]!, 'q')]
      const { memories } = both[0]!
      assert.not.ok(await memories.claimEmbedding(scope, claim('one')), 'nothing is stored yet')
      for (const each of [scope, other]) await memories.add(each, [memory('tea')], keepAll)
      const claims = await Promise.all(
        Array.from({ length: 6 }, (_, at) => both[at % 2]!.memories.claimEmbedding(scope, claim(`process ${at}`))),
      )
      assert.is(claims.filter(Boolean).length, 1)
      const holder = `process ${claims.indexOf(true)}`
      assert.ok(await memories.claimEmbedding(other, claim('two')))
      assert.ok(await memories.claimEmbedding(scope, claim(holder, { now: noon + 20_000 })))
      assert.not.ok(await memories.claimEmbedding(scope, claim('two', { now: noon + 40_000 })))
      assert.ok(await memories.claimEmbedding(scope, claim('two', { now: noon + 50_000 })))
      assert.ok(await memories.claimEmbedding(scope, claim('two', { heldFor: 0, now: noon + 50_000 })))
      assert.ok(await memories.claimEmbedding(scope, claim('three', { now: noon + 50_000 })))
      assert.not.ok(await memories.claimEmbedding({ ...scope, userId: 'eve' }, claim('four')))
    },
  },
  {
    store: 'memories',
    topic: 'concurrency',
    says: 'vectors stay in the space that was claimed last, for a while, unless the model changes',
    async holds(place) {
      const storage = await place.open()
      const { memories } = storage
      const scope = await makeScope(storage, 'p')
      await memories.add(scope, [memory('tea')], keepAll)
      const asks = (holder: string, space: string | undefined, at: number, more: Partial<EmbeddingClaim> = {}) => {
        const { space: _, ...rest } = claim(holder, { heldFor: 0, now: noon + at, ...more })
        return memories.claimEmbedding(scope, { ...rest, ...(space !== undefined && { space }) })
      }
      assert.ok(await asks('one', 'm@1', 0))
      assert.not.ok(await asks('two', 'm@2', 1000))
      assert.ok(await asks('two', undefined, 1000), 'its space shows with its first vector')
      assert.not.ok(await asks('three', 'm@2', 2000))
      assert.ok(await asks('one', 'm@1', spaceKeptMs - 1))
      assert.not.ok(await asks('two', 'm@2', spaceKeptMs + 1), 'it was claimed again')
      assert.ok(await asks('two', 'm@2', 2 * spaceKeptMs))
      assert.not.ok(await asks('one', 'm@1', 2 * spaceKeptMs))
      assert.ok(await asks('one', 'n@1', 2 * spaceKeptMs, { model: 'n' }))
      await memories.putVectors(scope, [])
      assert.is((await memories.pending(scope, vector(0).space.key, 0, 10)).entries.length, 1)
    },
  },
]
