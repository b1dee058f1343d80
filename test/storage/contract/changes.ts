import * as assert from 'uvu/assert'
import type { PluginManifest } from '../../../src/plugins/manifest.ts'
import type { Storage } from '../../../src/storage/open-storage.ts'
import { account, newPrice, noon } from '../../helpers/storage/samples.ts'
import { type Rule, seen } from './rule.ts'

export const changeRules: readonly Rule[] = [
  {
    store: 'changes',
    topic: 'concurrency',
    says: 'the mark of the accounts is another one after a change by any connection, and of plugins and prices likewise',
    async holds(place) {
      const both = [await place.open(), await place.open()]
      await both[0]!.accounts.insert(account('ada'), false)
      let logins = 0
      const session = () => ({ id: `s${logins++}`, userId: 'ada', createdAt: noon, expiresAt: noon + 1000 })
      const writes: readonly ['accounts' | 'plugins' | 'prices', (storage: Storage) => unknown][] = [
        ['accounts', ({ accounts }) => accounts.openSession(session(), 'hash')],
        ['accounts', ({ accounts }) => accounts.update('ada', { email: null }, noon)],
        ['accounts', ({ accounts }) => accounts.setPassword('ada', 'next', true, noon)],
        ['plugins', ({ plugins }) => plugins.write('p', { id: 'p' } as unknown as PluginManifest)],
        ['plugins', ({ plugins }) => plugins.setActive('chat', 'p')],
        ['prices', ({ prices }) => prices.write({ set: [newPrice('m', logins++)], end: [] }, noon)],
      ]
      for (const [kind, write] of writes)
        for (const writer of both) {
          const before = both.map(({ changes }) => changes.mark(kind))
          await write(writer)
          for (const [at, storage] of both.entries()) {
            const isNew = () => {
              const mark = storage.changes.mark(kind)
              return mark === undefined || mark !== before[at]
            }
            if (storage === writer) assert.ok(isNew(), `${kind}, its own`)
            else await seen(isNew, `${kind}, by the other`)
          }
        }
    },
  },
]
