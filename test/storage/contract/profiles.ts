import * as assert from 'uvu/assert'
import { emptyProfile, withLine } from '../../../src/personas/profile/profile.ts'
import type { ProfileLine } from '../../../src/personas/profile-line.ts'
import { keepAll, memory, persona } from '../../helpers/storage/samples.ts'
import type { Rule } from './rule.ts'

const line = (id: string, text: string): ProfileLine => ({
  id,
  slot: 'diet',
  about: 'meat',
  text,
  by: 'hand',
  created_at: 1,
})

export const profileRules: readonly Rule[] = [
  {
    store: 'profiles',
    topic: 'scopes',
    says: 'a profile is read and changed by the owner of its persona, comes with the opened persona, and goes with it',
    async holds(place) {
      const storage = await place.open()
      const { profiles, personas, memories } = storage
      await personas.save(persona('p', 'ada'))
      const scope = { personaId: 'p', userId: 'ada' }
      const stranger = { personaId: 'p', userId: 'eve' }
      const [first, second] = [line('1', 'I am vegetarian'), line('2', 'I eat meat again \u{1f600} "\\')]
      assert.equal(await profiles.read(scope), emptyProfile)
      assert.is(await profiles.change(stranger, (profile) => withLine(profile, first)), undefined)
      await profiles.change(scope, (profile) => withLine(profile, first))
      const changed = await profiles.change(scope, (profile) => withLine(profile, second))
      assert.equal(changed, { lines: [second], history: [{ ...first, ended_at: 1 }] })
      assert.equal(await profiles.read(scope), changed)
      assert.equal(await profiles.read(stranger), emptyProfile)
      const [opened] = await personas.open('ada', 'p')
      assert.equal([opened!.profile, opened!.pinned], [[second], ''])
      await memories.add(scope, [memory('pinned', { id: 'm', metadata: { pinned: true } })], keepAll)
      assert.not.equal((await personas.open('ada', 'p'))[0]!.pinned, '')
      await profiles.change(scope, () => emptyProfile)
      assert.equal(await profiles.read(scope), emptyProfile)
      await profiles.change(scope, (profile) => withLine(profile, first))
      await personas.remove('p', 'ada')
      await personas.save(persona('p', 'ada'))
      assert.equal(await profiles.read(scope), emptyProfile)
    },
  },
  {
    store: 'profiles',
    topic: 'concurrency',
    says: 'of changes at the same time none is lost',
    async holds(place) {
      const { profiles, personas } = await place.open()
      await personas.save(persona('p', 'ada'))
      const scope = { personaId: 'p', userId: 'ada' }
      const all = Array.from({ length: 8 }, (_, at) => ({ ...line(`${at}`, `line ${at}`), about: `${at}` }))
      await Promise.all(all.map((each) => profiles.change(scope, (profile) => withLine(profile, each))))
      assert.is((await profiles.read(scope)).lines.length, 8)
    },
  },
]
