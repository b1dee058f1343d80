import * as assert from 'uvu/assert'
import type { PluginManifest } from '../../../src/plugins/manifest.ts'
import { type Rule, seen } from './rule.ts'

export const pluginRules: readonly Rule[] = [
  {
    store: 'plugins',
    topic: 'scopes',
    says: 'each plugin has a document, a backup and a mark of its own, and each kind one that is active',
    async holds(place) {
      const { plugins } = await place.open()
      await plugins.write('one', document('one', 1))
      await plugins.write('one', document('one', 2))
      await plugins.write('two', document('two', 1))
      await plugins.setHidden('three', true)
      await plugins.setActive('chat', 'one')
      await plugins.setActive('tts', 'two')
      const { overlays, hidden, active } = plugins.read()
      assert.equal(
        [...overlays].map(([id, text]) => [id, JSON.parse(text).version]),
        [
          ['one', 2],
          ['two', 1],
        ],
      )
      assert.equal([...hidden], ['three'])
      assert.equal([active.get('chat'), active.get('tts'), active.get('embedding')], ['one', 'two', undefined])
      assert.is(JSON.parse(plugins.backup('one')!).version, 1)
      assert.is(plugins.backup('two'), undefined)
      await plugins.keepBackup('two', document('two', 0))
      assert.is(JSON.parse(plugins.backup('two')!).version, 0)
      assert.ok(await plugins.remove('one'))
      assert.not.ok(await plugins.remove('one'))
      await plugins.setHidden('three', false)
      await plugins.setActive('chat', undefined)
      const left = plugins.read()
      assert.equal([[...left.overlays.keys()], left.hidden.size, left.active.get('chat')], [['two'], 0, undefined])
      assert.is(plugins.backup('one'), undefined)
    },
  },
  {
    store: 'plugins',
    topic: 'order',
    says: 'plugins are read in the order of their ids',
    async holds(place) {
      const { plugins } = await place.open()
      for (const id of ['c', 'a', 'b']) await plugins.write(id, document(id, 1))
      assert.equal([...plugins.read().overlays.keys()], ['a', 'b', 'c'])
    },
  },
  {
    store: 'plugins',
    topic: 'concurrency',
    says: 'plugins that two connections write at once are all read by both',
    async holds(place) {
      const both = [await place.open(), await place.open()]
      await Promise.all(Array.from({ length: 8 }, (_, at) => both[at % 2]!.plugins.write(`p${at}`, document('p', at))))
      for (const { plugins } of both) await seen(() => plugins.read().overlays.size === 8, 'plugins of the other')
    },
  },
]

function document(id: string, version: number): PluginManifest {
  return { id, version } as unknown as PluginManifest
}
