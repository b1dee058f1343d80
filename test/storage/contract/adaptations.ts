import * as assert from 'uvu/assert'
import { type AdaptationRecord, emptyLog, headOf } from '../../../src/personas/adaptation/log.ts'
import { nothingLearned } from '../../../src/personas/adaptation/state.ts'
import { rejects } from '../../helpers/rejection.ts'
import { makeScope, record } from '../../helpers/storage/samples.ts'
import type { Rule } from './rule.ts'

export const adaptationRules: readonly Rule[] = [
  {
    store: 'adaptations',
    topic: 'scopes',
    says: 'a log and its state are read and written by the persona’s owner alone',
    async holds(place) {
      const storage = await place.open()
      const scope = await makeScope(storage, 'p')
      const eve = { personaId: 'p', userId: 'eve' }
      assert.not.ok(await storage.adaptations.append(eve, record(eve, 'r', emptyLog), nothingLearned()))
      const first = record(scope, 'r', emptyLog, 'key')
      assert.ok(await storage.adaptations.append(scope, first, nothingLearned()))
      assert.equal(await storage.adaptations.findByKey(scope, 'key'), first)
      assert.is(await storage.adaptations.findByKey(scope, 'another'), undefined)
      assert.is(await storage.adaptations.findByKey(eve, 'key'), undefined)
      assert.equal(await storage.adaptations.log(eve), [])
      assert.equal((await storage.adaptations.read(eve)).head, emptyLog)
      assert.equal((await storage.adaptations.read(scope)).head, headOf(first))
    },
  },
  {
    store: 'adaptations',
    topic: 'order',
    says: 'a log is read oldest first, and its state comes back as it was written',
    async holds(place) {
      const storage = await place.open()
      const scope = await makeScope(storage, 'p')
      const written: AdaptationRecord[] = []
      const learned = { ...nothingLearned(), clock: 7 }
      for (const id of ['z', 'm', 'a', 'k']) {
        const next = record(scope, id, written.length === 0 ? emptyLog : headOf(written.at(-1)!))
        assert.ok(await storage.adaptations.append(scope, next, learned))
        written.push(next)
      }
      assert.equal(await storage.adaptations.log(scope), written)
      assert.equal(await storage.adaptations.read(scope), { learned, head: headOf(written.at(-1)!) })
    },
  },
  {
    store: 'adaptations',
    topic: 'limits',
    says: 'a record beyond the bytes of its owner is refused whole',
    limits: { memories: 10, bytes: 3000 },
    async holds(place) {
      const storage = await place.open()
      const scope = await makeScope(storage, 'p')
      const large = record(scope, 'x'.repeat(3000), emptyLog)
      await rejects(storage.adaptations.append(scope, large, nothingLearned()), 'too_large', /stored_bytes_per_user/)
      assert.equal(await storage.adaptations.log(scope), [])
      assert.ok(await storage.adaptations.append(scope, record(scope, 'r', emptyLog), nothingLearned()))
    },
  },
  {
    store: 'adaptations',
    topic: 'concurrency',
    says: 'of records for the same place in a log, over two connections, one is written',
    async holds(place) {
      const both = [await place.open(), await place.open()]
      const scope = await makeScope(both[0]!, 'p')
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, (_, at) =>
          both[at % 2]!.adaptations.append(scope, record(scope, `r${at}`, emptyLog), nothingLearned()),
        ),
      )
      assert.is(outcomes.filter(Boolean).length, 1)
      assert.is((await both[1]!.adaptations.log(scope)).length, 1)
    },
  },
]
