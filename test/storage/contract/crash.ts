import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { emptyLog } from '../../../src/personas/adaptation/log.ts'
import { nothingLearned } from '../../../src/personas/adaptation/state.ts'
import type { PluginManifest } from '../../../src/plugins/manifest.ts'
import type { Storage } from '../../../src/storage/open-storage.ts'
import type { NewPrice } from '../../../src/usage/prices/store.ts'
import {
  account,
  backup,
  contents,
  incoming,
  keepAll,
  makeScope,
  memory,
  newPrice,
  noon,
  publish,
  record,
  whole,
} from '../../helpers/storage/samples.ts'
import { readPackage, writePackage } from './backup-files.ts'
import { row } from './ledger.ts'
import { budget, reservation } from './limits.ts'
import { answered } from './responses.ts'
import type { Place, Rule, StoreName } from './rule.ts'

/** A promise about a process that dies of SIGKILL, which finishes nothing. */
interface Crash {
  readonly store: StoreName
  readonly says: string
  /** In the process that dies: when it resolves, unless it has killed the process before. */
  act(storage: Storage): Promise<unknown>
  /** In the next process. */
  holds(storage: Storage): Promise<void>
}

const scope = { personaId: 'p', userId: 'ada' }
const many = 120

const crashes: readonly Crash[] = [
  {
    store: 'accounts',
    says: 'an acknowledged account and login are there after a crash',
    async act({ accounts }) {
      await accounts.insert(account('ada'), false)
      await accounts.openSession({ id: 's', userId: 'ada', createdAt: noon, expiresAt: noon + 1000 }, 'hash')
    },
    async holds({ accounts }) {
      assert.is((await accounts.byName('ada'))?.user.role, 'admin')
      assert.is((await accounts.session('s'))?.user_id, 'ada')
    },
  },
  {
    store: 'personas',
    says: 'an acknowledged persona is there after a crash, and a removed one is gone',
    async act(storage) {
      await makeScope(storage, 'q')
      await makeScope(storage, 'p')
      await storage.personas.remove('q', 'ada')
    },
    async holds({ personas }) {
      assert.equal(
        (await personas.list('ada')).map(({ id }) => id),
        ['p'],
      )
    },
  },
  {
    store: 'memories',
    says: 'acknowledged memories are there after a crash, and wiped ones are not',
    async act(storage) {
      await makeScope(storage, 'p')
      await storage.memories.add(scope, [memory('tea')], keepAll)
      await storage.memories.wipe(scope, {})
      await storage.memories.add(scope, [memory('cocoa')], keepAll)
    },
    async holds(storage) {
      assert.equal(await contents(storage, scope), ['cocoa'])
    },
  },
  {
    store: 'conversations',
    says: 'acknowledged messages are there after a crash',
    async act({ conversations }) {
      await conversations.create({ id: 'c', user_id: 'ada', name: 'Trip', created_at: noon })
      await conversations.append('ada', 'c', [{ message: { role: 'user', content: 'hello' }, timestamp: noon }])
    },
    async holds({ conversations }) {
      assert.is((await conversations.messages('ada', 'c')).length, 1)
    },
  },
  {
    store: 'responses',
    says: 'an acknowledged response is there after a crash, and one that was not finished is told as left',
    async act({ responses }) {
      const bounds = { responses: 10, bytes: 1e6 }
      await responses.add(answered('whole'), bounds)
      await responses.add(answered('half', { unfinished: true, status: 'queued' }), bounds)
    },
    async holds({ responses }) {
      assert.is((await responses.find({ owner: 'ada' }, 'whole', 0))?.finished, true)
      assert.is((await responses.find({ owner: 'ada' }, 'half', 0))?.finished, false)
      const [left, ...others] = await responses.orphans(0)
      assert.equal([left?.owner, left?.response.id, others], ['ada', 'half', []])
      assert.is(await responses.finish('ada', { ...left!.response, status: 'failed' }), true)
      assert.equal(await responses.orphans(0), [])
    },
  },
  {
    store: 'adaptations',
    says: 'an acknowledged record is there after a crash',
    async act(storage) {
      await makeScope(storage, 'p')
      await storage.adaptations.append(scope, record(scope, 'r', emptyLog), nothingLearned())
    },
    async holds({ adaptations }) {
      assert.is((await adaptations.log(scope)).length, 1)
    },
  },
  {
    store: 'packages',
    says: 'of a new persona whose writing dies in the middle nothing is left',
    act: (storage) => publish(storage, whole('p', 'ada', many, { memories: dying })),
    async holds(storage) {
      assert.is(await storage.personas.find('p'), undefined)
      await storage.packages.sweep()
      assert.equal([await storage.personas.list('ada'), await storage.memories.scopes(0)], [[], []])
    },
  },
  {
    store: 'packages',
    says: 'a persona whose replacement dies in the middle is what it was, and can be replaced again',
    async act(storage) {
      await makeScope(storage, 'p')
      await storage.memories.add(scope, [memory('tea')], keepAll)
      await publish(storage, whole('p', 'ada', many, { how: 'replace', memories: dying }))
    },
    async holds(storage) {
      assert.equal(await contents(storage, scope), ['tea'])
      await publish(storage, whole('p', 'ada', many, { how: 'replace' }))
      assert.is((await contents(storage, scope)).length, many)
    },
  },
  {
    store: 'backups',
    says: 'an acknowledged backup is listed after a crash',
    async act(storage) {
      await makeScope(storage, 'p')
      await storage.backups.add(scope, backup('b', 'p'))
    },
    async holds({ backups }) {
      assert.ok(await backups.isKnown('b'))
    },
  },
  {
    store: 'backupFiles',
    says: 'the package of an acknowledged backup is there after a crash, also where it was pending still',
    async act(storage) {
      await makeScope(storage, 'p')
      await writePackage(storage, 'b', Buffer.from('package'))
      await storage.backups.add(scope, backup('b', 'p'))
    },
    async holds(storage) {
      await storage.backupFiles.sweep()
      assert.is(String(await readPackage(storage, 'b')), 'package')
    },
  },
  {
    store: 'prices',
    says: 'acknowledged prices are there after a crash, and of a change that dies in the middle nothing',
    async act({ prices }) {
      await prices.write({ set: [newPrice('kept', 1)], end: [] }, noon)
      const set = [newPrice('kept', 2), newPrice('new', 2), dyingPrice()]
      await prices.write({ set, end: [{ source: 'operator', plugin: 'p', model: 'kept' }] }, noon)
    },
    async holds({ prices }) {
      assert.equal(
        (await prices.list()).map(({ model, rates }) => [model, rates.input]),
        [['kept', 1]],
      )
    },
  },
  {
    store: 'limits',
    says: 'a reservation of a process that died is an orphan until it is booked, also where its own row comes later',
    async act({ limits }) {
      await limits.set('all', { rpm: 5 })
      await limits.reserve(reservation('r', 40), [budget('all', 100)])
    },
    async holds({ limits, ledger }) {
      assert.is((await limits.changes(0)).changed.length, 1)
      await limits.reserve(reservation('mine', 1), [budget('all', 100)])
      const orphans = await limits.orphans()
      assert.equal(
        orphans.map(({ process: _, ...rest }) => rest),
        [reservation('r', 40)],
      )
      const cost = { nano: 40, source: null, priceId: null }
      assert.is(await ledger.append([row('r', 1, { reservation: 'r', estimated: true, cost })]), 1)
      assert.equal(await limits.orphans(), [])
      assert.is(await ledger.append([row('late', 1, { reservation: 'r' })]), 0)
      assert.equal(
        (await limits.spends([budget('all', 100)])).map(({ spent, reserved }) => [spent, reserved]),
        [[40, 1]],
      )
      assert.equal(await ledger.check(), [])
    },
  },
  {
    store: 'plugins',
    says: 'an acknowledged plugin is there after a crash, and active',
    async act({ plugins }) {
      await plugins.write('p', { id: 'p' } as unknown as PluginManifest)
      await plugins.setActive('chat', 'p')
    },
    async holds({ plugins }) {
      const { overlays, active } = plugins.read()
      assert.equal([[...overlays.keys()], active.get('chat')], [['p'], 'p'])
    },
  },
]

export const crashRules: readonly Rule[] = crashes.map((crash, at) => ({
  ...crash,
  topic: 'crash',
  async holds(place) {
    await die(place, at)
    await crash.holds(await place.open())
  },
}))

/** In the process that dies: acts, and kills it. */
export async function actAndDie(storage: Storage, at: number): Promise<void> {
  await crashes[at]!.act(storage)
  process.kill(process.pid, 'SIGKILL')
}

const isSource = import.meta.url.endsWith('.ts')
const child = fileURLToPath(new URL(`./crash-child.${isSource ? 'ts' : 'js'}`, import.meta.url))

/** Runs that crash in a process of its own until it is dead. */
async function die({ settings, flaw = '' }: Place, at: number): Promise<void> {
  const words = [...(isSource ? ['--import', 'tsx'] : []), child, JSON.stringify(settings), String(at), flaw]
  const [, signal] = await once(spawn(process.execPath, words, { stdio: ['ignore', 'ignore', 'inherit'] }), 'exit')
  assert.is(signal, 'SIGKILL', 'the process did not die as it was meant to')
}

/** A price that ends with the death of its reader. */
function dyingPrice(): NewPrice {
  const { price, ...rest } = newPrice('last', 2)
  return {
    ...rest,
    get price() {
      process.kill(process.pid, 'SIGKILL')
      return price
    },
  }
}

/** Memories that end with the death of their reader. */
function* dying() {
  let left = many / 2
  for (const each of incoming(many)) {
    if (left-- === 0) process.kill(process.pid, 'SIGKILL')
    yield each
  }
}
