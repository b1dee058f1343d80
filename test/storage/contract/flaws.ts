import { statSync, truncateSync } from 'node:fs'
import { emptyLog } from '../../../src/personas/adaptation/log.ts'
import type { MemoryEntry } from '../../../src/personas/memory/memory.ts'
import type { PersonaSnapshot, PublishConditions, Revision } from '../../../src/personas/package/archive.ts'
import type { Storage } from '../../../src/storage/open-storage.ts'
import { revisionOf } from '../../helpers/storage/samples.ts'
import type { Flaw, StoreName } from './rule.ts'

/** One flaw for every part of the contract: together, a storage that is wrong in all of them. */
export const flaws: readonly Flaw[] = [
  // Scopes: an owner is not looked at, or not followed.
  flaw('accounts', 'scopes', () => ({ remove: async () => 'removed' })),
  flaw('keys', 'scopes', ({ keys }) => ({
    async find(id) {
      const found = await keys.find(id)
      return found && { ...found, username: found.user_id }
    },
  })),
  flaw('personas', 'scopes', ({ personas }) => ({
    async remove(id) {
      const found = await personas.find(id)
      return found ? personas.remove(id, found.user_id) : false
    },
  })),
  flaw('memories', 'scopes', ({ memories }) => ({
    search: async (scope, query) => memories.search({ ...scope, userId: 'ada' }, query),
  })),
  flaw('conversations', 'scopes', ({ conversations }) => ({
    messages: (_owner, id) => conversations.messages('ada', id),
  })),
  flaw('responses', 'scopes', ({ responses }) => ({
    find: ({ owner }, id, since) => responses.find({ owner }, id, since),
  })),
  flaw('profiles', 'scopes', ({ profiles }) => ({ read: (scope) => profiles.read({ ...scope, userId: 'ada' }) })),
  flaw('adaptations', 'scopes', ({ adaptations }) => ({
    log: (scope) => adaptations.log({ ...scope, userId: 'ada' }),
  })),
  flaw('packages', 'scopes', ({ packages }) => ({
    snapshot: (scope) => packages.snapshot({ ...scope, userId: 'ada' }),
  })),
  flaw('backups', 'scopes', ({ backups }) => ({ list: (scope) => backups.list({ ...scope, userId: 'ada' }) })),
  flaw('backupFiles', 'scopes', () => ({ discard: async () => undefined, remove: async () => undefined })),
  flaw('plugins', 'scopes', ({ plugins }) => ({ setActive: (_kind, id) => plugins.setActive('chat', id) })),

  // The ledger: attempts count twice, and filters, order, removal and other connections are forgotten.
  flaw('ledger', 'ties', ({ ledger }) => ({
    append: (rows) =>
      ledger.append(rows.map((row, at) => ({ ...row, request: `${row.request} ${performance.now()} ${at}` }))),
  })),
  flaw('ledger', 'filters', ({ ledger }) => ({ sums: ({ by, since, until }) => ledger.sums({ by, since, until }) })),
  flaw('ledger', 'order', ({ ledger }) => ({
    async rows(query) {
      const rows = await ledger.rows(query)
      return (async function* () {
        for await (const batch of rows) yield batch.toReversed()
      })()
    },
  })),
  flaw('ledger', 'limits', () => ({ prune: async () => 2 })),
  flaw('ledger', 'concurrency', ({ ledger }) => {
    let calls = 0
    return { append: async (rows) => (++calls % 5 === 0 ? rows.length : ledger.append(rows)) }
  }),

  // Limits: changes are missed, budgets are no bounds, and spent money is forgotten, or counted elsewhere.
  flaw('limits', 'revisions', ({ limits }) => ({ changes: async () => limits.changes(0) })),
  flaw('limits', 'limits', ({ limits }) => ({
    reserve: (reservation, [first]) => limits.reserve(reservation, [{ ...first!, limit: 1e9 }]),
  })),
  flaw('limits', 'edits', ({ limits }) => ({
    spends: async (budgets) => (await limits.spends(budgets)).map((spend) => ({ ...spend, spent: 0 })),
  })),
  flaw('limits', 'scopes', ({ limits }) => ({
    spends: ([first, ...rest]) => limits.spends([first!, ...rest.map(() => first!)]),
  })),
  flaw('limits', 'ties', ({ limits }) => ({
    reserve: (reservation, budgets) =>
      limits.reserve(
        reservation,
        budgets.map((each) => ({ ...each, end: each.end + 1 })),
      ),
  })),
  flaw('limits', 'snapshots', () => ({ reset: async () => undefined })),
  flaw('limits', 'concurrency', ({ limits }) => ({
    reserve: (reservation, budgets) =>
      limits.reserve(
        reservation,
        budgets.map((each) => ({ ...each, limit: 2 * each.limit })),
      ),
  })),
  flaw('limits', 'filters', ({ limits }) => ({ remove: async () => true, windows: async () => limits.windows() })),

  // Order: lists come as they like.
  flaw('accounts', 'order', ({ accounts }) => ({
    async list(query) {
      const { users, total } = await accounts.list(query)
      return { users: users.toReversed(), total }
    },
  })),
  flaw('keys', 'order', ({ keys }) => ({
    async list(query) {
      const { keys: listed, total } = await keys.list(query)
      return { keys: listed.toReversed(), total }
    },
  })),
  flaw('personas', 'order', ({ personas }) => ({ list: async (owner) => (await personas.list(owner)).toReversed() })),
  flaw('memories', 'order', ({ memories }) => ({
    async list(scope, options) {
      const { entries, total } = await memories.list(scope, options)
      return { entries: entries.toReversed(), total }
    },
  })),
  flaw('conversations', 'order', ({ conversations }) => ({
    messages: async (owner, id) =>
      [...(await conversations.messages(owner, id))].sort((a, b) => a.timestamp - b.timestamp),
  })),
  flaw('responses', 'order', ({ responses }) => ({
    async chain(...asked) {
      const chain = await responses.chain(...asked)
      return typeof chain === 'string' ? chain : { ...chain, items: chain.items.toReversed() }
    },
  })),
  flaw('adaptations', 'order', ({ adaptations }) => ({
    log: async (scope) => (await adaptations.log(scope)).toReversed(),
  })),
  snapshots('order', async (snapshot) => ({
    async *memories() {
      for await (const batch of snapshot.memories())
        yield [...batch].sort((a, b) => (a.entry.content < b.entry.content ? -1 : 1))
    },
  })),
  flaw('backups', 'order', ({ backups }) => ({
    list: async (scope) =>
      [...(await backups.list(scope))].sort(
        (a, b) => b.created_at - a.created_at || (a.backup_id < b.backup_id ? -1 : 1),
      ),
  })),
  flaw('plugins', 'order', ({ plugins }) => ({
    read() {
      const stored = plugins.read()
      return { ...stored, overlays: new Map([...stored.overlays].toReversed()) }
    },
  })),

  flaw('prices', 'order', ({ prices }) => ({ list: async () => (await prices.list()).toReversed() })),

  // Ties: rows of one moment come in another order than the one that is promised.
  flaw('accounts', 'ties', ({ accounts }) => ({
    async list(query) {
      const { users, total } = await accounts.list(query)
      return { users: [...users].sort((a, b) => a.created_at - b.created_at || a.id.localeCompare(b.id)), total }
    },
  })),
  flaw('keys', 'ties', ({ keys }) => ({
    async list(query) {
      const { keys: listed, total } = await keys.list(query)
      return { keys: [...listed].sort((a, b) => a.created_at - b.created_at || a.id.localeCompare(b.id)), total }
    },
  })),
  flaw('personas', 'ties', ({ personas }) => ({
    list: async (owner) =>
      [...(await personas.list(owner))].sort((a, b) => a.created_at - b.created_at || a.id.localeCompare(b.id)),
  })),
  flaw('memories', 'ties', ({ memories }) => ({
    async list(scope, options) {
      const { entries, total } = await memories.list(scope, options)
      return {
        entries: [...entries].sort((a, b) => b.timestamp - a.timestamp || (a.content < b.content ? 1 : -1)),
        total,
      }
    },
  })),
  flaw('conversations', 'ties', ({ conversations }) => ({
    async list(owner, limit, offset, personas) {
      const { conversations: listed, total } = await conversations.list(owner, limit, offset, personas)
      return {
        conversations: [...listed].sort((a, b) => b.updated_at - a.updated_at || a.id.localeCompare(b.id)),
        total,
      }
    },
  })),

  flaw('responses', 'ties', ({ responses }) => {
    const first = new Set<string>()
    return {
      async add(response, bounds) {
        const input = response.input.filter(({ id = '' }) => !first.has(id))
        for (const { id = '' } of input) first.add(id)
        await responses.add({ ...response, input }, bounds)
      },
    }
  }),

  // Limits: of a page, or of an owner.
  flaw('accounts', 'limits', ({ accounts }) => ({ list: (query) => accounts.list({ ...query, offset: 0 }) })),
  flaw('keys', 'limits', ({ keys }) => ({ insert: (key) => keys.insert(key, { inAll: 1e9, perUser: 1e9 }) })),
  unlimited('personas'),
  unlimited('memories'),
  flaw('conversations', 'limits', ({ conversations }) => ({
    list: (owner, limit, _offset, personas) => conversations.list(owner, limit, 0, personas),
  })),
  flaw('responses', 'limits', ({ responses }) => ({
    add: (response) => responses.add(response, { responses: 1e9, bytes: 1e15 }),
  })),
  unlimited('adaptations'),
  unlimited('packages'),
  unlimited('backups'),
  flaw('prices', 'limits', ({ prices }) => ({
    async write(change, at) {
      const half = Math.ceil(change.set.length / 2)
      const { ids } = await prices.write({ set: change.set.slice(0, half), end: [] }, at)
      const { ids: rest } = await prices.write({ set: change.set.slice(half), end: [] }, at)
      return { ids: [...ids, ...rest], ended: 0 }
    },
  })),

  // Failed logins: one too many is allowed, users of a subject are not told apart, or each process counts alone.
  flaw('loginFailures', 'limits', ({ loginFailures }) => ({
    fail: (subject, user, now, rule) => loginFailures.fail(subject, user, now, { ...rule, most: rule.most + 1 }),
  })),
  flaw('loginFailures', 'scopes', ({ loginFailures }) => ({
    fail: (subject, _user, now, rule) => loginFailures.fail(subject, 'ada', now, rule),
  })),
  flaw('loginFailures', 'concurrency', ({ loginFailures }) => {
    const own = String(Math.random())
    return {
      read: (subject, now, rule) => loginFailures.read(`${subject} ${own}`, now, rule),
      fail: (subject, user, now, rule) => loginFailures.fail(`${subject} ${own}`, user, now, rule),
    }
  }),

  // Edits: made where absent fields are lost, on an outdated memory, or with a vector that belongs to another text.
  flaw('keys', 'edits', ({ keys }) => ({
    update: (id, change, now) => keys.update(id, { plugins: null, ...change }, now),
  })),
  flaw('memories', 'edits', ({ memories }) => ({
    async edit(scope, id, edit, policy, vector) {
      const before = await memories.get(scope, id)
      return memories.edit(scope, id, edit, policy, vector ?? before?.vector)
    },
  })),

  // Filters: applied to the best of all memories, instead of before these are chosen.
  flaw('conversations', 'filters', ({ conversations }) => ({
    search: (owner, { groups, limit, offset }) => conversations.search(owner, { groups, limit, offset }),
  })),
  flaw('responses', 'filters', ({ responses }) => ({ find: (reader, id) => responses.find(reader, id, 0) })),
  flaw('memories', 'filters', ({ memories }) => ({
    async search(scope, { filter, ...query }) {
      const found = await memories.search(scope, query)
      const passes = ({ metadata }: MemoryEntry) =>
        filter?.category === undefined || metadata['category'] === filter.category
      return { ...found, candidates: found.candidates.filter(({ entry }) => passes(entry)) }
    },
  })),

  // Snapshots: later rows are seen, the state is never given back, or everything is one batch.
  snapshots('snapshots', async (snapshot, storage) => ({
    async *memories() {
      const { persona } = snapshot
      const later = await storage.packages.snapshot({ personaId: persona.id, userId: persona.user_id })
      try {
        if (later) yield* later.memories()
      } finally {
        await later?.close()
      }
    },
  })),
  snapshots('snapshots', async () => ({ close: async () => undefined })),
  snapshots('snapshots', async (snapshot) => ({
    async *memories() {
      const all = []
      for await (const batch of snapshot.memories()) all.push(...batch)
      yield all
    },
  })),

  // Revisions: always the same, or not expected, or only where a write replaces.
  snapshots('revisions', async () => ({ revision: 'always the same' })),
  publications('revisions', (conditions, now) => (now === undefined ? conditions : { ...conditions, expected: now })),
  flaw('prices', 'revisions', ({ prices }) => ({
    write: (change, at) =>
      prices.write(
        { set: change.set.map((one) => ({ ...one, origin: 'x', price: { ...one.price, rounded: true } })), end: [] },
        at,
      ),
  })),
  flaw('packages', 'revisions', ({ packages }) => ({
    stage: ({ maxMemories: _most, ...write }, signal) => packages.stage(write, signal),
  })),

  // Concurrency: a look and a write that are two steps, or a cache without an end.
  flaw('keys', 'concurrency', ({ keys }) => {
    const known = new Map<string, Awaited<ReturnType<Storage['keys']['byDigest']>>>()
    return {
      async byDigest(digest) {
        const found = known.get(digest) ?? (await keys.byDigest(digest))
        known.set(digest, found)
        return found
      },
    }
  }),
  flaw('accounts', 'concurrency', ({ accounts }) => {
    const known = new Map<string, Awaited<ReturnType<Storage['accounts']['session']>>>()
    return {
      async session(id) {
        if (!known.has(id)) known.set(id, await accounts.session(id))
        return known.get(id)
      },
    }
  }),
  flaw('personas', 'concurrency', ({ personas }) => ({
    async update(id, owner, change) {
      const before = await personas.find(id)
      if (before?.user_id !== owner) return undefined
      const after = change(before)
      await personas.save(after)
      return after
    },
  })),
  flaw('responses', 'concurrency', ({ responses }) => ({
    async finish(...end) {
      await responses.finish(...end)
      return true
    },
  })),
  flaw('profiles', 'concurrency', ({ profiles }) => ({
    async change(scope, change) {
      const before = await profiles.read(scope)
      return profiles.change(scope, () => change(before))
    },
  })),
  flaw('memories', 'concurrency', ({ memories }) => ({
    add: (scope, given, policy) =>
      memories.add(
        scope,
        given.map((each) => ({ ...each, metadata: { ...each.metadata, conversation: String(Math.random()) } })),
        policy,
      ),
  })),
  flaw('conversations', 'concurrency', ({ conversations }) => {
    let isWriting = false
    return {
      async append(owner, id, messages) {
        if (isWriting) return 1
        isWriting = true
        const appended = await conversations.append(owner, id, messages)
        isWriting = false
        return appended
      },
    }
  }),
  flaw('adaptations', 'concurrency', ({ adaptations }) => ({
    async append(scope, record, learned) {
      await adaptations.append(scope, record, learned)
      return record.prev_hash === emptyLog.hash
    },
  })),
  flaw('packages', 'concurrency', ({ packages }) => ({
    async stage(write, signal) {
      const staged = await packages.stage(write, signal)
      const done = { kind: 'done', memories: 0 } as const
      return { ...staged, publish: (conditions) => staged.publish(conditions).catch(() => done) }
    },
  })),
  flaw('backups', 'concurrency', ({ backups }) => {
    const known = new Map<string, Awaited<ReturnType<Storage['backups']['list']>>>()
    let turn = 0
    return {
      add: async (scope, row) => (turn++ === 0 ? backups.add(scope, row) : undefined),
      async list(scope) {
        if (!known.has(scope.personaId)) known.set(scope.personaId, await backups.list(scope))
        return known.get(scope.personaId)!
      },
    }
  }),
  flaw('plugins', 'concurrency', ({ plugins }) => {
    let isWriting = false
    return {
      async write(id, document) {
        if (isWriting) return
        isWriting = true
        await plugins.write(id, document)
        isWriting = false
      },
    }
  }),
  flaw('prices', 'concurrency', ({ prices }) => {
    const known = prices.list()
    return { list: () => known }
  }),
  flaw('changes', 'concurrency', () => ({ mark: () => 'always the same' })),

  // Crash: acknowledged before it is written, or written before it is whole.
  flaw('accounts', 'crash', () => ({ openSession: async () => true })),
  flaw('personas', 'crash', () => ({ remove: async () => true })),
  flaw('memories', 'crash', () => ({ wipe: async () => 1 })),
  flaw('responses', 'crash', () => ({ add: async () => undefined })),
  flaw('conversations', 'crash', () => ({ append: async () => 1 })),
  flaw('adaptations', 'crash', () => ({ append: async () => true })),
  flaw('packages', 'crash', ({ packages, personas }) => ({
    async stage(write, signal) {
      await personas.save(write.persona)
      return packages.stage({ ...write, how: 'replace' }, signal)
    },
  })),
  flaw('backups', 'crash', () => ({ add: async () => undefined })),
  flaw('backupFiles', 'crash', ({ backupFiles }) => ({
    async keep(id) {
      const size = await backupFiles.keep(id)
      await backupFiles.discard(id)
      return size
    },
  })),
  flaw('backupFiles', 'concurrency', ({ backupFiles }) => ({
    async open(id) {
      const file = await backupFiles.open(id)
      if (file) truncateSync(file.path, Math.min(statSync(file.path).size, 1024 * 1024))
      return file
    },
  })),
  flaw('prices', 'crash', ({ prices }) => ({
    async write(change, at) {
      for (const one of change.set) await prices.write({ set: [one], end: change.end }, at)
      return { ids: [], ended: 0 }
    },
  })),
  flaw('plugins', 'crash', () => ({ setActive: async () => undefined })),
  flaw('limits', 'crash', () => ({ reserve: () => ({ refused: undefined, spends: [], warned: [] }) })),
]

/** A flaw that puts wrong methods in the place of some of a store's. */
function flaw<K extends StoreName>(
  store: K,
  topic: Flaw['topic'],
  wrong: (storage: Storage) => Partial<Storage[K]>,
): Flaw {
  return {
    store,
    topic,
    wrap: (storage) => ({ ...storage, [store]: Object.assign(Object.create(storage[store]), wrong(storage)) }),
  }
}

/** A flaw of the snapshots that whole personas are read as. */
function snapshots(
  topic: Flaw['topic'],
  wrong: (snapshot: PersonaSnapshot, storage: Storage) => Promise<Partial<PersonaSnapshot>>,
): Flaw {
  return flaw('packages', topic, (storage) => ({
    async snapshot(scope) {
      const snapshot = await storage.packages.snapshot(scope)
      return snapshot && { ...snapshot, ...(await wrong(snapshot, storage)) }
    },
  }))
}

/** A flaw of the conditions under which whole personas are written; `now` is the persona's revision at that moment. */
function publications(
  topic: Flaw['topic'],
  wrong: (conditions: PublishConditions, now: Revision | undefined) => PublishConditions,
): Flaw {
  return flaw('packages', topic, (storage) => ({
    async stage(write, signal) {
      const { id, user_id } = write.persona
      const staged = await storage.packages.stage(write, signal)
      return {
        ...staged,
        publish: async (conditions) =>
          staged.publish(wrong(conditions, await revisionOf(storage, { personaId: id, userId: user_id }))),
      }
    },
  }))
}

/** A storage without limits for its owners. */
function unlimited(store: StoreName): Flaw {
  return {
    store,
    topic: 'limits',
    settings: (settings) => ({ ...settings, limits: { memories: 1e9, bytes: 1e15 } }),
  }
}
