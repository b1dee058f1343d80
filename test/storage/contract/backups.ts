import * as assert from 'uvu/assert'
import { rejects } from '../../helpers/rejection.ts'
import { backup, makeScope, noon } from '../../helpers/storage/samples.ts'
import type { Rule } from './rule.ts'

export const backupRules: readonly Rule[] = [
  {
    store: 'backups',
    topic: 'scopes',
    says: 'backups are listed and removed by the persona’s owner alone, and go with the persona',
    async holds(place) {
      const storage = await place.open()
      const scope = await makeScope(storage, 'p')
      const eve = { personaId: 'p', userId: 'eve' }
      await storage.backups.add(scope, backup('b', 'p'))
      assert.equal(await storage.backups.list(scope), [backup('b', 'p')])
      assert.equal(await storage.backups.list(eve), [])
      await storage.backups.remove(eve, 'b')
      assert.ok(await storage.backups.isKnown('b'))
      await storage.backups.add(scope, backup('c', 'p'))
      await storage.backups.remove(scope, 'b')
      assert.not.ok(await storage.backups.isKnown('b'))
      await storage.personas.remove('p', 'ada')
      assert.not.ok(await storage.backups.isKnown('c'))
    },
  },
  {
    store: 'backups',
    topic: 'order',
    says: 'the backup that was added last is listed first, also of one moment',
    async holds(place) {
      const storage = await place.open()
      const scope = await makeScope(storage, 'p')
      for (const [at, id] of ['b', 'c', 'a'].entries())
        await storage.backups.add(scope, backup(id, 'p', { created_at: noon + (at > 1 ? 1 : 0) }))
      assert.equal(
        (await storage.backups.list(scope)).map(({ backup_id }) => backup_id),
        ['a', 'c', 'b'],
      )
    },
  },
  {
    store: 'backups',
    topic: 'limits',
    says: 'a backup beyond the bytes of the persona’s owner is refused',
    limits: { memories: 10, bytes: 2000 },
    async holds(place) {
      const storage = await place.open()
      const scope = await makeScope(storage, 'p')
      await rejects(storage.backups.add(scope, backup('b', 'p', { bytes: 3000 })), 'too_large', /stored_bytes_per_user/)
      assert.not.ok(await storage.backups.isKnown('b'))
      await storage.backups.add(scope, backup('b', 'p'))
    },
  },
  {
    store: 'backups',
    topic: 'concurrency',
    says: 'backups that two connections add at once are all listed by both',
    async holds(place) {
      const both = [await place.open(), await place.open()]
      const scope = await makeScope(both[0]!, 'p')
      await Promise.all(Array.from({ length: 8 }, (_, at) => both[at % 2]!.backups.add(scope, backup(`b${at}`, 'p'))))
      const lists = await Promise.all(both.map(({ backups }) => backups.list(scope)))
      assert.equal(
        lists.map((list) => list.length),
        [8, 8],
      )
      assert.equal(lists[0], lists[1])
    },
  },
]
