import * as assert from 'uvu/assert'
import { localOwner } from '../../src/operations/ask.ts'
import { createPersonas } from '../../src/personas/owned-personas.ts'
import { openShop } from '../helpers/personas/persona-shop.ts'
import { personaStoreOf } from '../helpers/storage/test-storage.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('operations on personas')

test('an update counts from the state that it finds in its transaction, not from the one that was authorised', async () => {
  const shop = await openShop()
  const located = await shop.stock(localOwner.id)
  const models: (string | undefined)[] = []
  const personas = createPersonas({
    store: personaStoreOf(shop.db),
    embedders: { require: async () => {} },
    onEmbeddingModel: ({ embedding_model }) => void models.push(embedding_model),
    onMemorySettings: async () => {},
    onUpdate: async () => {},
    clock: () => shop.clock.now,
  })
  await personas.update(localOwner.id, located, { embedding_model: 'bge-m3' })
  // Back to the model that the persona had when it was located: its memories are embedded anew.
  await personas.update(localOwner.id, located, { embedding_model: null })
  assert.equal(models, ['bge-m3', undefined])
  shop.close()
})

test.run()
