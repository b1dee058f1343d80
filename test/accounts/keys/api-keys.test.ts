import { randomUUID } from 'node:crypto'
import * as assert from 'uvu/assert'
import { type ApiKeys, createApiKeys, type VerifiedKey } from '../../../src/accounts/keys/api-keys.ts'
import { digestOfKey, makeKeyText } from '../../../src/accounts/keys/key-text.ts'
import type { KeyStore } from '../../../src/accounts/keys/store.ts'
import { AppError } from '../../../src/errors.ts'
import type { Storage } from '../../../src/storage/open-storage.ts'
import { temporaryFolder } from '../../helpers/folders.ts'
import { pluck } from '../../helpers/pluck.ts'
import { rejects } from '../../helpers/rejection.ts'
import { account, noon } from '../../helpers/storage/samples.ts'
import { openStorageIn } from '../../helpers/storage/test-storage.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('API keys')
const hour = 3_600_000

test('a known key is verified at once, as its owner with the role of this moment', () =>
  withKeys(async ({ keys, storage, make }) => {
    const { secret, key } = await make({ scopes: ['chat'] })
    const first = await verified(keys, secret)
    assert.equal(first.caller, { id: 'bob', username: 'bob', role: 'user', key: { id: key.id, scopes: ['chat'] } })
    assert.not(keys.verify(secret) instanceof Promise, 'the second time nothing is awaited')
    assert.is(keys.verify(secret), await keys.verify(secret), 'and nothing is made anew')
    await storage.accounts.update('bob', { role: 'admin' }, noon)
    assert.is((await verified(keys, secret)).caller.role, 'admin')
    await storage.accounts.update('bob', { role: 'user', username: 'rob' }, noon)
    assert.equal(
      [(await verified(keys, secret)).caller.role, (await verified(keys, secret)).caller.username],
      ['user', 'rob'],
    )
  }))

test('a text without the shape or the checksum of a key asks the database nothing', () =>
  withKeys(async ({ keys, make, asked }) => {
    const { secret } = await make()
    const wrong = secret.slice(0, -1) + (secret.endsWith('0') ? '1' : '0')
    for (const text of [
      "aic_' OR 1=1; --",
      `aic_${"' OR '1'='1".padEnd(38, '-')}`,
      wrong,
      secret.slice(0, 20),
      `${secret}${secret}`,
      digestOfKey(secret),
      `aic_${digestOfKey(secret).slice(0, 38)}`,
      'aic_',
      `aic_${'0'.repeat(100_000)}`,
    ]) {
      const refused = await keys.verify(text)
      assert.instance(refused, AppError)
      assert.is((refused as AppError).code, 'invalid_api_key')
      assert.not(text.length > 4 && (refused as AppError).message.includes(text.slice(4)))
    }
    assert.is(asked(), 0)
    assert.match(await refusal(keys, makeKeyText()), /not known here/)
    assert.is(asked(), 1)
  }))

test('a key ends at the millisecond of its expiry, lives again when the clock goes back, and can be prolonged', () =>
  withKeys(async ({ keys, make, clock }) => {
    const { secret, key } = await make({ expiresIn: 3600 })
    clock.now = noon + hour - 1
    await verified(keys, secret)
    clock.now = noon + hour
    assert.match(await refusal(keys, secret), /expired on 2026-06-01 13:00 UTC/)
    assert.is(keys.stateOf(await keys.get(key.id)), 'expired')
    clock.now = noon - 30 * 24 * hour
    await verified(keys, secret)
    clock.now = noon + 400 * 24 * hour
    assert.match(await refusal(keys, secret), /expired/)
    await keys.update(key.id, { expires_at: null })
    await verified(keys, secret)
  }))

test('a rotated key has two secrets until the overlap ends, one id, and tells which was used last', () =>
  withKeys(async ({ keys, make, clock }) => {
    const { secret: first, key } = await make()
    const { secret: second, key: rotated } = await keys.rotate(key.id, 24 * 3600)
    assert.is(rotated.id, key.id)
    clock.now = noon + hour
    for (const secret of [first, second]) assert.is((await verified(keys, secret)).caller.key.id, key.id)
    clock.now = noon + 2 * hour
    await verified(keys, first)
    const shown = await keys.get(key.id)
    assert.equal(pluck(shown.secrets, 'last4', 'last_used_at'), [
      [second.slice(-4), noon + hour],
      [first.slice(-4), noon + 2 * hour],
    ])
    assert.is(shown.last_used_at, noon + 2 * hour)
    clock.now = noon + 24 * hour
    assert.match(await refusal(keys, first), /was rotated, and this secret of it ended on 2026-06-02 12:00 UTC/)
    await verified(keys, second)
  }))

test('revocation is for good, holds for both secrets, and stays in the list', () =>
  withKeys(async ({ keys, make }) => {
    const { secret: first, key } = await make()
    const { secret: second } = await keys.rotate(key.id, 3600)
    await keys.revoke(key.id)
    for (const secret of [first, second])
      assert.match(await refusal(keys, secret), /was revoked on 2026-06-01 12:00 UTC/)
    await rejects(keys.update(key.id, { name: 'x' }), 'invalid', /revoked/)
    await rejects(keys.rotate(key.id, 0), 'invalid', /revoked/)
    const { keys: listed } = await keys.list({ userId: 'bob', limit: 10, offset: 0 })
    assert.equal(
      listed.map((one) => keys.stateOf(one)),
      ['revoked'],
    )
    await rejects(keys.revoke('nope'), 'not_found', /nope/)
  }))

test('with its owner a key ends', () =>
  withKeys(async ({ keys, make, storage }) => {
    const { secret, key } = await make()
    await verified(keys, secret)
    await storage.accounts.remove('bob')
    assert.match(await refusal(keys, secret), /owner of the API key was removed/)
    assert.is(keys.stateOf(await keys.get(key.id)), 'ownerless')
    await rejects(keys.create({ owner: 'bob' }), 'invalid', /No user found to own/)
  }))

test('uses are written in batches, once a minute and secret, and none is lost at the close', () =>
  withKeys(async ({ keys, make, clock, storage, touches }) => {
    const { secret, key } = await make()
    for (let at = 0; at < 1_000; at++) {
      clock.now = noon + at * 100
      await verified(keys, secret)
    }
    await keys.close()
    assert.equal(touches, [2])
    assert.is((await storage.keys.find(key.id))?.last_used_at, noon + 60_000)
    clock.now = noon + 61_000
    await verified(keys, secret)
    await keys.flush()
    assert.equal(touches, [2])
  }))

test('a use that cannot be written refuses no request, and is told by a later one', () =>
  withKeys(async ({ keys, make, storage, failing }) => {
    const { secret, key } = await make()
    failing.touch = true
    await verified(keys, secret)
    await keys.flush()
    failing.touch = false
    await verified(keys, secret)
    await keys.flush()
    assert.is((await storage.keys.find(key.id))?.last_used_at, noon)
  }))

test('the bounds on live keys are told with the setting that raises them', () =>
  withKeys(async ({ make }) => {
    for (let at = 0; at < 3; at++) await make()
    await rejects(make(), 'invalid', /3 of one user.*limits\.api_keys_per_user/s)
    await make({ owner: 'ada' })
    await rejects(make({ owner: 'ada' }), 'invalid', /4 in all.*limits\.api_keys/s)
  }))

test('the end of a secret is told to those who watch it', () =>
  withKeys(async ({ keys, make, clock }) => {
    const { secret, key } = await make({ expiresIn: 3600 })
    const digest = digestOfKey(secret)
    let told = 0
    const stop = keys.onEnd(() => told++)
    assert.is(await keys.endOf(digest), undefined)
    await keys.rotate(key.id, 60)
    assert.is(await keys.endOf(digest), undefined)
    clock.now = noon + 60_000
    assert.match((await keys.endOf(digest))!.message, /was rotated/)
    await keys.revoke(key.id)
    assert.is((await keys.endOf(digest))!.code, 'key_revoked')
    assert.is(told, 2)
    stop()
    await keys.revokeAll('bob')
    assert.is(told, 2)
    assert.is((await keys.endOf('of no key'))!.code, 'key_revoked')
  }))

test.run()

interface Parts {
  readonly storage: Storage
  readonly keys: ApiKeys
  readonly clock: { now: number }
  /** The numbers of uses that were written at once. */
  readonly touches: readonly number[]
  readonly failing: { touch: boolean }
  /** How often the store was asked for a digest. */
  asked(): number
  make(order?: Partial<Parameters<ApiKeys['create']>[0]>): ReturnType<ApiKeys['create']>
  /** The same keys, as another process has them. */
  elsewhere(): Promise<ApiKeys>
}

/** Does something with keys in a database of their own, with the users ada (admin) and bob. */
async function withKeys(work: (parts: Parts) => Promise<void>): Promise<void> {
  const folder = temporaryFolder()
  const opened: Storage[] = []
  const open = async () => {
    const storage = await openStorageIn(folder)
    opened.push(storage)
    return storage
  }
  const clock = { now: noon }
  const failing = { touch: false }
  const touches: number[] = []
  let asked = 0
  const keysOf = (storage: Storage): ApiKeys => {
    const store: KeyStore = Object.assign(Object.create(storage.keys) as KeyStore, {
      byDigest(digest: string) {
        asked++
        return storage.keys.byDigest(digest)
      },
      async touch(uses: Parameters<KeyStore['touch']>[0]) {
        if (failing.touch) throw new AppError('io', 'The disk is full')
        touches.push(uses.length)
        await storage.keys.touch(uses)
      },
    })
    const bounds = () => ({ inAll: 4, perUser: 3 })
    return createApiKeys({ store, bounds, clock: () => clock.now, newId: randomUUID })
  }
  try {
    const storage = await open()
    for (const id of ['ada', 'bob']) await storage.accounts.insert(account(id), false)
    const keys = keysOf(storage)
    await work({
      storage,
      keys,
      clock,
      touches,
      failing,
      asked: () => asked,
      make: (order = {}) => keys.create({ owner: 'bob', ...order }),
      elsewhere: async () => keysOf(await open()),
    })
    await keys.close()
  } finally {
    for (const storage of opened) await storage.close()
  }
}

async function verified(keys: ApiKeys, secret: string): Promise<VerifiedKey> {
  const found = await keys.verify(secret)
  if (found instanceof AppError) throw found
  return found
}

/** The sentence of a refusal. */
async function refusal(keys: ApiKeys, secret: string): Promise<string> {
  const found = await keys.verify(secret)
  assert.instance(found, AppError)
  assert.is((found as AppError).code, 'invalid_api_key')
  return (found as AppError).message
}
