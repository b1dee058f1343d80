import * as assert from 'uvu/assert'
import { rejects } from '../../helpers/rejection.ts'
import { makeScope, noon, persona } from '../../helpers/storage/samples.ts'
import type { Rule } from './rule.ts'

export const personaRules: readonly Rule[] = [
  {
    store: 'personas',
    topic: 'scopes',
    says: 'a persona is listed, changed and removed by its owner alone',
    async holds(place) {
      const { personas } = await place.open()
      const full = persona('p', 'ada', {
        description: 'd',
        system_prompt: 's',
        parameters: { temperature: 0.5, odd: [1, { deep: null }], big: 12345678901234568 },
        embedding_model: 'e',
        memory_settings: { enabled: true },
        mutation_settings: { enabled: false },
        extra: { kept: 'as it came' },
        mcp_servers: ['files'],
      })
      await personas.save(full)
      assert.equal(await personas.find('p'), full)
      await personas.save(persona('p', 'eve', { name: 'stolen' }))
      assert.equal(await personas.find('p'), full)
      assert.equal(await personas.list('eve'), [])
      assert.is(await personas.update('p', 'eve', (before) => ({ ...before, name: 'stolen' })), undefined)
      assert.not.ok(await personas.remove('p', 'eve'))
      assert.equal(await personas.list('ada'), [full])
      assert.ok(await personas.remove('p', 'ada'))
      assert.is(await personas.find('p'), undefined)
    },
  },
  {
    store: 'personas',
    topic: 'scopes',
    says: 'a chat opens a persona by its id, of any owner, or by its exact name, of its owner',
    async holds(place) {
      const { personas } = await place.open()
      const [one, other] = [persona('p', 'ada', { name: 'Nova' }), persona('q', 'ada', { name: 'nova' })]
      for (const each of [one, other, persona('r', 'eve', { name: 'Nova' })]) await personas.save(each)
      assert.equal(await personas.open('ada', 'Nova'), [
        { persona: one, lore: 0, learned: '', profile: [], pinned: '' },
      ])
      assert.equal(await personas.open('ada', 'q'), [{ persona: other, lore: 0, learned: '', profile: [], pinned: '' }])
      assert.equal(
        (await personas.open('ada', 'r')).map(({ persona: { user_id } }) => user_id),
        ['eve'],
      )
      assert.equal(await personas.open('ada', 'NOVA'), [])
      await personas.remove('p', 'ada')
      assert.equal(await personas.open('ada', 'p'), [])
    },
  },
  {
    store: 'personas',
    topic: 'order',
    says: 'personas are listed oldest first',
    async holds(place) {
      const { personas } = await place.open()
      for (const [at, id] of ['z', 'm', 'a'].entries())
        await personas.save(persona(id, 'ada', { created_at: noon + at }))
      assert.equal(ids(await personas.list('ada')), ['z', 'm', 'a'])
    },
  },
  {
    store: 'personas',
    topic: 'ties',
    says: 'personas of one moment are listed by their ids',
    async holds(place) {
      const { personas } = await place.open()
      for (const id of ['c', 'B', 'a']) await personas.save(persona(id, 'ada'))
      assert.equal(ids(await personas.list('ada')), ['B', 'a', 'c'])
    },
  },
  {
    store: 'personas',
    topic: 'limits',
    says: 'a persona beyond the bytes of its owner is refused whole; a smaller one and another owner’s are not',
    limits: { memories: 10, bytes: 2000 },
    async holds(place) {
      const { personas } = await place.open()
      const large = { system_prompt: 'x'.repeat(2000) }
      await rejects(personas.save(persona('p', 'ada', large)), 'too_large', /more than one user may store/)
      assert.is(await personas.find('p'), undefined)
      await personas.save(persona('p', 'ada'))
      await rejects(
        personas.update('p', 'ada', (before) => ({ ...before, ...large })),
        'too_large',
        /stored_bytes_per_user/,
      )
      assert.equal(await personas.find('p'), persona('p', 'ada'))
      await personas.save(persona('q', 'eve'))
    },
  },
  {
    store: 'personas',
    topic: 'concurrency',
    says: 'of two changes at once, over two connections, none is lost',
    async holds(place) {
      const both = [await place.open(), await place.open()]
      await makeScope(both[0]!, 'p')
      await Promise.all(
        Array.from({ length: 20 }, (_, at) =>
          both[at % 2]!.personas.update('p', 'ada', (before) => ({ ...before, updated_at: before.updated_at + 1 })),
        ),
      )
      assert.is((await both[0]!.personas.find('p'))?.updated_at, noon + 20)
    },
  },
]

function ids(rows: readonly { readonly id: string }[]): readonly string[] {
  return rows.map(({ id }) => id)
}
