import * as assert from 'uvu/assert'
import { AppError } from '../../../src/errors.ts'
import type { Embedders } from '../../../src/personas/memory/embedding.ts'
import { createMemories } from '../../../src/personas/memory/memories.ts'
import type { NewMemory } from '../../../src/personas/memory/memory.ts'
import { openShop } from '../../helpers/personas/persona-shop.ts'
import { memoryStoreOf } from '../../helpers/storage/test-storage.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('a search of long memories')

const embedders: Embedders = {
  list: async () => ({ models: [] }),
  require: async () => {},
  rarity: () => undefined,
  embedder: (model = 'none') => ({
    model,
    trust: 0,
    space: () => undefined,
    embed: () => Promise.reject(new AppError('unavailable', 'no model')),
  }),
}

const memory = (content: string): NewMemory => ({ content, timestamp: 0, importance_score: 0.5, metadata: {} })

test('lets others have their turns, and leaves out what it cannot read in its time and says so', async () => {
  const shop = await openShop()
  const persona = await shop.stock('ada', 0)
  const texts = Array.from({ length: 40 }, (_, at) => memory(`${'tea word '.repeat(2_200)}${at}`))
  await shop.addMemories(persona, texts)
  let ticks = 0
  let tick = 0
  const memories = createMemories({
    store: memoryStoreOf(shop.db),
    personas: { get: async () => persona },
    embedders,
    clock: () => 0,
    stopwatch: () => (ticks += tick),
  })
  let turns = 0
  let isOver = false
  const others = () => {
    turns++
    if (!isOver) setImmediate(others)
  }
  others()
  const whole = await memories.search(persona, { query: 'tea', limit: 50 })
  isOver = true
  assert.equal([whole.cut, whole.hits.length], [false, 40])
  // 40 memories of 20,000 characters are read twice: for the words, and for their form.
  assert.ok(turns >= 12, `${turns} turns`)
  tick = 200
  const cut = await memories.search(persona, { query: 'tea', limit: 50 })
  assert.is(cut.cut, true)
  assert.ok(cut.hits.length > 0 && cut.hits.length < 12, `${cut.hits.length} hits`)
  await memories.close()
  shop.close()
})

test.run()
