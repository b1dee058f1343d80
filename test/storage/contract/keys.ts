import * as assert from 'uvu/assert'
import type { ApiKey, KeyBounds, KeyChange, NewKey } from '../../../src/accounts/keys/store.ts'
import type { Storage } from '../../../src/storage/open-storage.ts'
import { account, noon } from '../../helpers/storage/samples.ts'
import type { Rule } from './rule.ts'

const bounds: KeyBounds = { inAll: 100, perUser: 50 }
const day = 86_400_000

function key(id: string, more: Partial<NewKey> = {}): NewKey {
  return {
    id,
    user_id: 'ada',
    name: `key ${id}`,
    scopes: ['chat'],
    expires_at: null,
    secret: { digest: `digest of ${id}`, last4: id.slice(-4) },
    created_at: noon,
    ...more,
  }
}

async function open(storage: Promise<Storage>): Promise<Storage> {
  const opened = await storage
  for (const id of ['ada', 'bob']) await opened.accounts.insert(account(id, { role: 'admin' }), false)
  return opened
}

function idsOf({ keys }: { readonly keys: readonly ApiKey[] }): readonly string[] {
  return keys.map(({ id }) => id)
}

export const keyRules: readonly Rule[] = [
  {
    store: 'keys',
    topic: 'scopes',
    says: 'a key comes back as it was made, by its id and by its digest, with its owner as they are now',
    async holds(place) {
      const { keys, accounts } = await open(place.open())
      const lists = { models: ['gpt*'], plugins: ['openai'], personas: ['p'] }
      const made = await keys.insert(
        key('k1', { ...lists, scopes: ['chat', 'models'], expires_at: noon + day }),
        bounds,
      )
      assert.equal(made, await keys.find('k1'))
      assert.equal(made, {
        id: 'k1',
        user_id: 'ada',
        username: 'ada',
        name: 'key k1',
        scopes: ['chat', 'models'],
        ...lists,
        created_at: noon,
        updated_at: noon,
        expires_at: noon + day,
        revoked_at: null,
        last_used_at: null,
        secrets: [{ last4: 'k1', created_at: noon, valid_until: null, last_used_at: null }],
      })
      await accounts.update('ada', { username: 'eve', role: 'user' }, noon)
      const live = await keys.byDigest('digest of k1')
      assert.equal(live?.owner, { username: 'eve', role: 'user' })
      assert.equal(live?.rights, { id: 'k1', scopes: ['chat', 'models'], ...lists })
      assert.is(await keys.byDigest('digest of k'), undefined)
      assert.is(await keys.find('nope'), undefined)
    },
  },
  {
    store: 'keys',
    topic: 'scopes',
    says: 'a key stays when its owner goes, and is nobody’s then; no key is made for a user who is not there',
    async holds(place) {
      const { keys, accounts } = await open(place.open())
      await keys.insert(key('k1'), bounds)
      await keys.insert(key('k2', { user_id: 'bob' }), bounds)
      assert.is(await keys.countLive('ada', noon), 1)
      await accounts.remove('ada')
      assert.is((await keys.find('k1'))?.username, null)
      assert.is((await keys.byDigest('digest of k1'))?.owner, null)
      assert.is(await keys.countLive('ada', noon), 0)
      assert.equal(idsOf(await keys.list({ userId: 'bob', limit: 9, offset: 0 })), ['k2'])
      assert.is(await keys.insert(key('k3'), bounds), 'absent')
    },
  },
  {
    store: 'keys',
    topic: 'edits',
    says: 'a change leaves absent fields alone, and null takes lists and expiry away',
    async holds(place) {
      const { keys } = await open(place.open())
      await keys.insert(key('k1', { models: ['a'], plugins: ['b'], personas: ['c'], expires_at: noon + day }), bounds)
      const change = async (what: KeyChange) => {
        const changed = await keys.update('k1', what, noon + 1)
        assert.type(changed, 'object')
        return changed as ApiKey
      }
      const named = await change({ name: 'new', models: ['d', 'e'] })
      assert.equal(
        [named.name, named.models, named.plugins, named.personas, named.expires_at, named.updated_at],
        ['new', ['d', 'e'], ['b'], ['c'], noon + day, noon + 1],
      )
      const open_ = await change({ models: null, plugins: null, personas: null, expires_at: null, scopes: ['speech'] })
      assert.equal(
        [open_.name, open_.scopes, open_.models, open_.plugins, open_.personas, open_.expires_at],
        ['new', ['speech'], undefined, undefined, undefined, null],
      )
      assert.is(await keys.update('nope', {}, noon), 'absent')
      await keys.revoke('k1', noon + 2)
      assert.is(await keys.update('k1', { name: 'late' }, noon + 3), 'revoked')
      assert.is(await keys.rotate('k1', { digest: 'x', last4: 'x' }, noon, noon + 3), 'revoked')
    },
  },
  {
    store: 'keys',
    topic: 'edits',
    says: 'a rotation keeps the secret before it, and no older one; the time of a revocation stays',
    async holds(place) {
      const { keys } = await open(place.open())
      await keys.insert(key('k1'), bounds)
      for (const at of [1, 2])
        await keys.rotate('k1', { digest: `second ${at}`, last4: `s${at}` }, noon + at * day, noon + at)
      const secrets = (await keys.find('k1'))?.secrets.map(({ last4, valid_until }) => [last4, valid_until])
      assert.equal(secrets, [
        ['s2', null],
        ['s1', noon + 2 * day],
      ])
      assert.is(await keys.byDigest('digest of k1'), undefined)
      assert.equal(
        [(await keys.byDigest('second 1'))?.valid_until, (await keys.byDigest('second 2'))?.valid_until],
        [noon + 2 * day, null],
      )
      assert.ok(await keys.revoke('k1', noon + 5))
      assert.ok(await keys.revoke('k1', noon + 9))
      assert.not(await keys.revoke('nope', noon))
      assert.is((await keys.byDigest('second 2'))?.revoked_at, noon + 5)
    },
  },
  {
    store: 'keys',
    topic: 'edits',
    says: 'a use is noted with its secret and its key, and never goes back',
    async holds(place) {
      const { keys } = await open(place.open())
      await keys.insert(key('k1'), bounds)
      await keys.rotate('k1', { digest: 'second', last4: 's' }, noon + day, noon)
      await keys.touch([
        { digest: 'second', at: noon + 60 },
        { digest: 'digest of k1', at: noon + 30 },
        { digest: 'second', at: noon + 10 },
        { digest: 'of nobody', at: noon },
      ])
      const used = await keys.find('k1')
      assert.is(used?.last_used_at, noon + 60)
      assert.equal(
        used?.secrets.map(({ last_used_at }) => last_used_at),
        [noon + 60, noon + 30],
      )
    },
  },
  {
    store: 'keys',
    topic: 'order',
    says: 'keys are listed in the order of their creation, of one user or of all',
    async holds(place) {
      const { keys } = await open(place.open())
      for (const [at, id] of ['z', 'a', 'm'].entries())
        await keys.insert(key(id, { created_at: noon + at, user_id: id === 'a' ? 'bob' : 'ada' }), bounds)
      assert.equal(idsOf(await keys.list({ limit: 9, offset: 0 })), ['z', 'a', 'm'])
      assert.equal(idsOf(await keys.list({ userId: 'ada', limit: 9, offset: 0 })), ['z', 'm'])
    },
  },
  {
    store: 'keys',
    topic: 'ties',
    says: 'keys of one moment are listed by their ids',
    async holds(place) {
      const { keys } = await open(place.open())
      for (const id of ['c', 'B', 'a', 'é']) await keys.insert(key(id), bounds)
      assert.equal(idsOf(await keys.list({ limit: 9, offset: 0 })), ['B', 'a', 'c', 'é'])
    },
  },
  {
    store: 'keys',
    topic: 'limits',
    says: 'a page holds as many keys as were asked for, with the number of all',
    async holds(place) {
      const { keys } = await open(place.open())
      for (const id of ['a', 'b', 'c', 'd']) await keys.insert(key(id), bounds)
      const page = await keys.list({ userId: 'ada', limit: 2, offset: 1 })
      assert.equal([idsOf(page), page.total], [['b', 'c'], 4])
    },
  },
  {
    store: 'keys',
    topic: 'limits',
    says: 'live keys are bounded for a user and in all; dead ones make room, and the newest 1,000 of a user stay',
    async holds(place) {
      const { keys } = await open(place.open())
      const few = { inAll: 3, perUser: 2 }
      const made = async (id: string, user_id = 'ada') => {
        const result = await keys.insert(key(id, { user_id }), few)
        return typeof result === 'string' ? result : 'made'
      }
      assert.equal(
        [await made('a1'), await made('a2'), await made('a3'), await made('b1', 'bob'), await made('b2', 'bob')],
        ['made', 'made', 'too_many_of_user', 'made', 'too_many'],
      )
      await keys.revoke('a1', noon)
      assert.is(await made('a3'), 'made')
      for (let at = 0; at < 1_001; at++) {
        await keys.insert(key(`dead ${at}`, { expires_at: noon - 1, created_at: noon + at }), bounds)
      }
      assert.is(await keys.find('a1'), undefined, 'the oldest dead one')
      assert.ok(await keys.find('a2'))
      assert.ok(await keys.find('dead 1000'))
    },
  },
  {
    store: 'keys',
    topic: 'concurrency',
    says: 'a key that was read before is dead once another connection revokes, changes or rotates it',
    async holds(place) {
      const [one, two] = [await open(place.open()), await place.open()]
      await one.keys.insert(key('k1'), bounds)
      for (const { keys } of [one, two, one]) assert.is((await keys.byDigest('digest of k1'))?.revoked_at, null)
      await two.keys.update('k1', { scopes: ['speech'] }, noon)
      assert.equal((await one.keys.byDigest('digest of k1'))?.rights.scopes, ['speech'])
      await two.keys.rotate('k1', { digest: 'second', last4: 's' }, noon + day, noon)
      assert.is((await one.keys.byDigest('digest of k1'))?.valid_until, noon + day)
      await two.accounts.update('ada', { role: 'user' }, noon)
      assert.is((await one.keys.byDigest('digest of k1'))?.owner?.role, 'user')
      await two.keys.revoke('k1', noon + 1)
      assert.is((await one.keys.byDigest('digest of k1'))?.revoked_at, noon + 1)
    },
  },
  {
    store: 'keys',
    topic: 'concurrency',
    says: 'of many keys that are made at once over two connections no more are made than may be',
    async holds(place) {
      const both = [await open(place.open()), await place.open()]
      const few = { inAll: 5, perUser: 5 }
      const made = await Promise.all(
        Array.from({ length: 20 }, (_, at) => both[at % 2]!.keys.insert(key(`k${at}`), few)),
      )
      assert.is(made.filter((one) => typeof one === 'object').length, 5)
    },
  },
  {
    store: 'keys',
    topic: 'concurrency',
    says: 'uses of the same keys that are noted at once over two connections, in any order, are all noted',
    async holds(place) {
      const both = [await open(place.open()), await place.open()]
      const ids = Array.from({ length: 10 }, (_, at) => `k${at}`)
      for (const id of ids) await both[0]!.keys.insert(key(id), bounds)
      const uses = ids.map((id) => ({ digest: `digest of ${id}`, at: noon }))
      await Promise.all(
        Array.from({ length: 10 }, (_, at) =>
          both[at % 2]!.keys.touch((at % 2 ? uses : uses.toReversed()).map((use) => ({ ...use, at: noon + at }))),
        ),
      )
      const used = await both[0]!.keys.list({ limit: 20, offset: 0 })
      assert.equal(
        used.keys.map(({ last_used_at, secrets }) => [last_used_at, secrets[0]?.last_used_at]),
        ids.map(() => [noon + 9, noon + 9]),
      )
    },
  },
]
