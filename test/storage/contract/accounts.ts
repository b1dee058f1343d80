import * as assert from 'uvu/assert'
import type { AuditQuery } from '../../../src/accounts/users.ts'
import { account, keepAll, makeScope, memory, noon } from '../../helpers/storage/samples.ts'
import type { Rule } from './rule.ts'

const session = { id: 's', userId: 'ada', createdAt: noon, expiresAt: noon + 1000 }

export const accountRules: readonly Rule[] = [
  {
    store: 'accounts',
    topic: 'scopes',
    says: 'the first account is an administrator and owns all local rows; later ones own none of them',
    async holds(place) {
      const storage = await place.open()
      const scope = await makeScope(storage, 'p', 'local')
      await storage.memories.add(scope, [memory('tea')], keepAll)
      await storage.conversations.create({ id: 'c', user_id: 'local', name: 'Trip', created_at: noon })
      const first = await storage.accounts.insert(account('ada'), false)
      const second = await storage.accounts.insert(account('bob'), false)
      assert.equal(
        [first, second].map((made) => typeof made === 'object' && made.user.role),
        ['admin', 'user'],
      )
      assert.is((await storage.personas.find('p'))?.user_id, 'ada')
      assert.is((await storage.conversations.find('c'))?.user_id, 'ada')
      assert.is((await storage.memories.list({ personaId: 'p', userId: 'ada' }, { limit: 1, offset: 0 })).total, 1)
    },
  },
  {
    store: 'accounts',
    topic: 'scopes',
    says: 'a removed account takes its logins, personas and conversations along, and no others',
    async holds(place) {
      const storage = await place.open()
      for (const id of ['ada', 'bob']) {
        await storage.accounts.insert(account(id, { role: 'admin' }), false)
        await makeScope(storage, `persona of ${id}`, id)
        await storage.conversations.create({ id: `talk of ${id}`, user_id: id, name: 'Trip', created_at: noon })
        await storage.accounts.openSession({ ...session, id, userId: id }, 'hash')
      }
      assert.is(await storage.accounts.remove('ada'), 'removed')
      assert.is(await storage.accounts.remove('ada'), 'absent')
      for (const id of ['ada', 'bob']) {
        const kept = id === 'bob'
        assert.is((await storage.accounts.byId(id)) !== undefined, kept)
        assert.is((await storage.accounts.session(id)) !== undefined, kept)
        assert.is((await storage.personas.find(`persona of ${id}`)) !== undefined, kept)
        assert.is((await storage.conversations.find(`talk of ${id}`)) !== undefined, kept)
      }
    },
  },
  {
    store: 'accounts',
    topic: 'scopes',
    says: 'names and addresses are unique in every spelling, and free again once they are given up',
    async holds(place) {
      const { accounts } = await place.open()
      await accounts.insert(account('ada', { username: 'Straße', email: 'Ada@Example.org' }), false)
      assert.is(await accounts.insert(account('b', { username: 'STRAẞE' }), false), 'username_taken')
      assert.is(await accounts.insert(account('b', { email: 'ada@EXAMPLE.org' }), false), 'email_taken')
      assert.is((await accounts.byName('straße'))?.user.id, 'ada')
      assert.is((await accounts.byName('ADA@example.org'))?.user.id, 'ada')
      await accounts.update('ada', { username: 'ada', email: null }, noon)
      const freed = await accounts.insert(account('b', { username: 'strasse', email: 'ada@example.org' }), false)
      assert.type(freed, 'object')
    },
  },
  {
    store: 'accounts',
    topic: 'scopes',
    says: 'a new password or role ends every login of that user, and a login ends alone',
    async holds(place) {
      const { accounts } = await place.open()
      for (const id of ['ada', 'bob']) await accounts.insert(account(id, { role: 'admin' }), false)
      const open = (id: string, userId: string, hash = 'hash') => accounts.openSession({ ...session, id, userId }, hash)
      assert.ok(await open('a1', 'ada'))
      assert.ok(await open('a2', 'ada'))
      assert.ok(await open('b1', 'bob'))
      assert.not.ok(await open('a3', 'ada', 'another hash'))
      assert.ok(await accounts.closeSession('a1'))
      assert.not.ok(await accounts.closeSession('a1'))
      assert.equal(await accounts.session('a1'), undefined)
      assert.is((await accounts.session('a2'))?.user_id, 'ada')
      await accounts.setPassword('ada', 'next', false, noon)
      await accounts.update('bob', { role: 'user' }, noon)
      assert.equal([await accounts.session('a2'), await accounts.session('b1')], [undefined, undefined])
      assert.ok(await accounts.rehash('ada', 'next', 'stronger'))
      assert.not.ok(await accounts.rehash('ada', 'next', 'stronger'))
    },
  },
  {
    store: 'accounts',
    topic: 'order',
    says: 'accounts are listed in the order of their creation, and found by a part of name or address',
    async holds(place) {
      const { accounts } = await place.open()
      for (const [at, id] of ['zoe', 'ada', 'bob'].entries())
        await accounts.insert(
          account(id, { createdAt: noon + at, email: id === 'bob' ? 'bob@ADA.example' : null }),
          false,
        )
      const names = async (q?: string) =>
        (await accounts.list({ limit: 10, offset: 0, q })).users.map(({ username }) => username)
      assert.equal(await names(), ['zoe', 'ada', 'bob'])
      assert.equal(await names('ADA'), ['ada', 'bob'])
      assert.equal(await names('%'), [])
    },
  },
  {
    store: 'accounts',
    topic: 'order',
    says: 'the audit lists the newest entries first, by actor, action or area, and time, and counts all that match',
    async holds(place) {
      const { accounts } = await place.open()
      const ada = { actor: 'ada-1', actorName: 'ada' }
      const target = { target: 'bob-1', targetName: 'bob', address: '192.0.2.1' }
      await accounts.record({ at: noon, action: 'login', outcome: 'failed', ...target })
      await accounts.record({ at: noon + 2, action: 'users.create', outcome: 'ok', ...ada, ...target })
      await accounts.record({ at: noon + 2, action: 'users.role', outcome: 'ok', ...ada })
      // Areas whose names only begin alike, and a clock that was set back.
      for (const action of ['users', 'users-other', 'usersX', 'user'])
        await accounts.record({ at: noon + 1, action, outcome: 'ok' })
      const found = async (query: Partial<AuditQuery>) => {
        const { entries, total } = await accounts.audit({ limit: 10, offset: 0, ...query })
        return [entries.map(({ action }) => action), total]
      }
      assert.equal(await found({ limit: 3 }), [['users.role', 'users.create', 'user'], 7])
      assert.equal(await found({ limit: 2, offset: 5 }), [['users', 'login'], 7])
      assert.equal(await found({ action: 'users' }), [['users.role', 'users.create', 'users'], 3])
      assert.equal(await found({ action: 'users.create' }), [['users.create'], 1])
      assert.equal(await found({ actor: 'ada-1', limit: 1 }), [['users.role'], 2])
      assert.equal(await found({ actor: 'ada' }), [[], 0])
      assert.equal(await found({ since: noon + 2 }), [['users.role', 'users.create'], 2])
      assert.equal(await found({ until: noon, actor: 'ada-1' }), [[], 0])
      assert.equal(await found({ until: noon }), [['login'], 1])
      const { entries } = await accounts.audit({ action: 'users.create', limit: 1, offset: 0 })
      assert.equal(entries, [
        {
          ...{ at: noon + 2, actor: 'ada-1', actor_name: 'ada', action: 'users.create' },
          ...{ subject: 'bob-1', subject_name: 'bob', address: '192.0.2.1', outcome: 'ok' as const },
        },
      ])
      await accounts.pruneAudit(noon + 2)
      assert.equal(await found({}), [['users.role', 'users.create'], 2])
    },
  },
  {
    store: 'accounts',
    topic: 'ties',
    says: 'accounts of one moment are listed by their ids',
    async holds(place) {
      const { accounts } = await place.open()
      for (const id of ['c', 'B', 'a', 'é']) await accounts.insert(account(id), false)
      const { users } = await accounts.list({ limit: 10, offset: 0 })
      assert.equal(
        users.map(({ id }) => id),
        ['B', 'a', 'c', 'é'],
      )
    },
  },
  {
    store: 'accounts',
    topic: 'limits',
    says: 'a page holds as many accounts as were asked for, with the number of all',
    async holds(place) {
      const { accounts } = await place.open()
      for (const id of ['a', 'b', 'c', 'd']) await accounts.insert(account(id), false)
      const { users, total } = await accounts.list({ limit: 2, offset: 1 })
      assert.equal([users.map(({ id }) => id), total], [['b', 'c'], 4])
    },
  },
  {
    store: 'accounts',
    topic: 'limits',
    says: 'the last administrator is neither removed nor demoted',
    async holds(place) {
      const { accounts } = await place.open()
      await accounts.insert(account('ada'), false)
      assert.is(await accounts.remove('ada'), 'last_admin')
      assert.is(await accounts.update('ada', { role: 'user' }, noon), 'last_admin')
      assert.is((await accounts.administrator())?.user.id, 'ada')
    },
  },
  {
    store: 'accounts',
    topic: 'concurrency',
    says: 'of many first accounts and of many equal names, over two connections, one is made',
    async holds(place) {
      const both = [await place.open(), await place.open()]
      const first = await Promise.all(
        Array.from({ length: 10 }, (_, at) => both[at % 2]!.accounts.insert(account(`u${at}`), true)),
      )
      assert.is(first.filter((made) => typeof made === 'object').length, 1)
      const named = await Promise.all(
        Array.from({ length: 10 }, (_, at) =>
          both[at % 2]!.accounts.insert(account(`v${at}`, { username: at % 3 ? 'eve' : 'EVE' }), false),
        ),
      )
      assert.is(named.filter((made) => typeof made === 'object').length, 1)
    },
  },
  {
    store: 'accounts',
    topic: 'concurrency',
    says: 'two administrators who remove each other over two connections leave one',
    async holds(place) {
      const [one, two] = [await place.open(), await place.open()]
      for (const id of ['ada', 'bob']) await one.accounts.insert(account(id, { role: 'admin' }), false)
      const outcomes = await Promise.all([one.accounts.remove('ada'), two.accounts.remove('bob')])
      assert.equal([...outcomes].sort(), ['last_admin', 'removed'])
    },
  },
  {
    store: 'accounts',
    topic: 'concurrency',
    says: 'a login that was read before is gone once another connection ends it',
    async holds(place) {
      const [one, two] = [await place.open(), await place.open()]
      await one.accounts.insert(account('ada'), false)
      await one.accounts.openSession(session, 'hash')
      for (const { accounts } of [one, two]) assert.is((await accounts.session('s'))?.username, 'ada')
      await two.accounts.update('ada', { username: 'eve' }, noon)
      assert.is((await one.accounts.session('s'))?.username, 'eve')
      await two.accounts.closeSession('s')
      assert.is(await one.accounts.session('s'), undefined)
    },
  },
  {
    store: 'accounts',
    topic: 'concurrency',
    says: 'of logins that are opened while the password changes over another connection none outlasts the change',
    async holds(place) {
      const [one, two] = [await place.open(), await place.open()]
      await one.accounts.insert(account('ada'), false)
      const ids = Array.from({ length: 10 }, (_, at) => `s${at}`)
      await Promise.all(
        ids.flatMap((id, at) => [
          one.accounts.openSession({ ...session, id }, 'hash'),
          ...(at === 5 ? [two.accounts.setPassword('ada', 'next', false, noon)] : []),
        ]),
      )
      for (const id of ids) assert.is(await two.accounts.session(id), undefined)
    },
  },
]
