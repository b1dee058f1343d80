import * as assert from 'uvu/assert'
import { chatHooks } from '../../../src/personas/adaptation/hooks.ts'
import { createPersonas } from '../../../src/personas/owned-personas.ts'
import type { Persona } from '../../../src/personas/persona.ts'
import { openShop } from '../../helpers/personas/persona-shop.ts'
import { personaStoreOf } from '../../helpers/storage/test-storage.ts'
import { suite } from '../../helpers/suite.ts'

const hooks = suite('adaptation in chat')

hooks('observe feedback on the manner of answers, and tell the model after enough of it', async () => {
  const shop = await openShop()
  const stocked = await shop.stock('u1', 0)
  const persona: Persona = { ...stocked, mutation_settings: { enabled: true, auto_adapt: true, sensitivity: 'medium' } }
  const { learned, observe } = chatHooks(shop.adaptation)
  shop.db.exec('DELETE FROM adaptation; DELETE FROM persona_state')
  const open = async () => (await personaStoreOf(shop.db).open('u1', persona.id))[0]!
  assert.is(await learned(await open()), '')
  await observe(persona, 'What is the capital of France?')
  assert.is((await shop.adaptation.state(persona)).records, 0)
  for (const text of ['Too long.', 'Shorter, please!', 'Be brief.']) await observe(persona, text)
  assert.match(
    await learned(await open()),
    /^Learned from this user.*\n- prefers slightly: shorter answers \(-0\.09\)$/,
  )
  shop.close()
})

hooks('writes down when a persona’s settings freeze it; an update of a located persona reads it once', async () => {
  const shop = await openShop()
  const persona = await shop.stock('u1', 0)
  const store = personaStoreOf(shop.db)
  const reads: string[] = []
  const personas = createPersonas({
    store: {
      ...store,
      async find(id) {
        reads.push('find')
        return store.find(id)
      },
      async update(id, owner, change) {
        reads.push('update')
        return store.update(id, owner, change)
      },
    },
    embedders: { require: async () => {} },
    onEmbeddingModel: () => {},
    onMemorySettings: async () => {},
    onUpdate: shop.adaptation.settingsChanged,
    clock: () => shop.clock.now,
  })
  await personas.update('u1', persona, { mutation_settings: { enabled: false } })
  assert.equal(reads, ['update'])
  const { records } = await shop.adaptation.log(persona, { limit: 1, offset: 0 })
  assert.equal([records[0]?.adaptation_type, records[0]?.trigger_event], ['settings_changed', 'user_edit'])
  // The persona that was found before the settings changed: the newest state counts.
  await personas.update('u1', persona, { name: 'Another' })
  assert.is((await shop.adaptation.log(persona, { limit: 1, offset: 0 })).total, 4)
  shop.close()
})

hooks.run()
