import * as assert from 'uvu/assert'
import type { App } from '../../src/app/app.ts'
import { askInProcess, localOwner } from '../../src/operations/ask.ts'
import { updatePersona } from '../../src/operations/personas.ts'
import type { Persona } from '../../src/personas/persona.ts'
import { createPersonas } from '../../src/personas/personas.ts'
import { openShop } from '../helpers/personas/persona-shop.ts'
import { personaStoreOf } from '../helpers/storage/test-storage.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('operations on personas')

test('an update reads its persona twice: to authorise, and in the transaction that changes it', async () => {
  const shop = await openShop()
  const { id } = await shop.stock(localOwner.id)
  const store = personaStoreOf(shop.db)
  const reads: string[] = []
  const updates: [Persona, Persona][] = []
  const personas = createPersonas({
    store: {
      ...store,
      find(id) {
        reads.push('find')
        return store.find(id)
      },
      list(owner) {
        reads.push('list')
        return store.list(owner)
      },
      update: (id, owner, change) =>
        store.update(id, owner, (persona) => {
          reads.push('update')
          return change(persona)
        }),
    },
    embedders: { require: async () => {} },
    onEmbeddingModel: () => {},
    onMemorySettings: async () => {},
    onUpdate: async (before, after) => void updates.push([before, after]),
    clock: () => shop.clock.now,
  })
  const app = { settings: { singleUserMode: false }, personas: async () => ({ personas }) } as unknown as App
  const { ask } = askInProcess(app, localOwner)
  const changed = await ask(updatePersona, { id, name: 'Eve' })
  assert.is(changed.name, 'Eve')
  assert.equal(reads, ['find', 'update'])
  assert.equal(
    updates.map((pair) => pair.map(({ name }) => name)),
    [['Ada', 'Eve']],
  )
  shop.close()
})

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
