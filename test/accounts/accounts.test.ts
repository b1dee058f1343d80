import { randomUUID } from 'node:crypto'
import { existsSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { createPasswords } from '../../src/accounts/passwords.ts'
import { createTokens } from '../../src/accounts/tokens.ts'
import { type AccountRules, createAccounts } from '../../src/accounts/user-accounts.ts'
import { AppError } from '../../src/errors.ts'
import { openDatabase } from '../../src/storage/sqlite/database.ts'
import { closing } from '../helpers/disposal.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import '../helpers/cheap-bcrypt.ts'
import { rejects } from '../helpers/rejection.ts'
import { openStorageIn } from '../helpers/storage/test-storage.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('accounts')

const day = 86_400_000
const password = 'Passw0rd'

test('fifty registrations at once on an empty database make one administrator', () =>
  withAccounts({}, async ({ accounts }) => {
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        accounts.logins.register({ username: `user${index}`, password }, '192.0.2.1').catch(failure),
      ),
    )
    const answers = outcomes.flatMap((outcome) => (outcome instanceof AppError ? [] : [outcome]))
    // On a slow machine the last in line may have been told to come again.
    for (const outcome of outcomes) if (outcome instanceof AppError) assert.is(outcome.code, 'busy')
    assert.ok(answers.length > 10)
    assert.is(answers.filter(({ user }) => user.role === 'admin').length, 1)
    assert.equal(pick(await accounts.users.counts(), ['total_users', 'admins']), [answers.length, 1])
    for (const { token, user } of answers) {
      const verified = await accounts.logins.verify(token)
      assert.is(typeof verified === 'string' ? verified : verified.caller.id, user.id)
    }
  }))

test('the last administrator can be neither removed nor demoted', () =>
  withAccounts({}, async ({ accounts }) => {
    const { user: first } = await accounts.logins.register({ username: 'first', password }, undefined)
    const second = await accounts.users.create({ username: 'second', password, role: 'user' })
    for (const attempt of [
      () => accounts.users.remove(first.id),
      () => accounts.users.update(first.id, { role: 'user' }),
    ])
      await rejects(attempt(), 'invalid', /last administrator/)
    await accounts.users.update(second.id, { role: 'admin' })
    await accounts.users.remove(first.id)
    await rejects(accounts.users.remove(second.id), 'invalid', /The last administrator cannot be removed/)
    await rejects(accounts.users.remove(first.id), 'not_found', /user/)
  }))

test('a hundred wrong logins at once are five failures and ninety-five refusals', () =>
  withAccounts({}, async ({ accounts }) => {
    await accounts.logins.register({ username: 'ada', password }, undefined)
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        accounts.logins.login({ username: index % 2 ? 'ada' : 'nobody', password: 'Wr0ngpassword' }, '192.0.2.1').then(
          () => 'in',
          (reason: AppError) => reason.code,
        ),
      ),
    )
    assert.is(outcomes.filter((code) => code === 'unauthenticated').length, 5)
    assert.is(outcomes.filter((code) => code === 'rate_limited').length, 95)
    const right = await accounts.logins.login({ username: 'ada', password }, '192.0.2.1').catch(failure)
    assert.is((right as AppError).code, 'rate_limited', 'the right password included')
    await accounts.logins.login({ username: 'ada', password }, '192.0.2.2')
  }))

test('failures by name and by address are one user’s, and a login takes both out', () =>
  withAccounts({}, async ({ accounts }) => {
    await accounts.logins.register({ username: 'ada', password, email: 'ada@example.org' }, undefined)
    const attempt = (username: string, given: string) =>
      accounts.logins.login({ username, password: given }, '2001:db8::1').catch(failure)
    await attempt('ada', 'Wr0ngpassword')
    await attempt('ADA@example.org', 'Wr0ngpassword')
    await attempt('nobody', 'Wr0ngpassword')
    assert.is((await accounts.logins.limit.allowance('2001:db8:0:0::/64')).left, 2)
    assert.not.instance(await attempt('ada@EXAMPLE.org', password), AppError)
    assert.is((await accounts.logins.limit.allowance('2001:db8:0:0::/64')).left, 4)
  }))

test('a token ends with logout, a new password, a reset, a role, removal, and time', () =>
  withAccounts({}, async ({ accounts, clock }) => {
    const { user: admin } = await accounts.logins.register({ username: 'admin', password }, undefined)
    const { id } = await accounts.users.create({ username: 'ada', password, role: 'user' })
    let current = password
    const login = async () => (await accounts.logins.login({ username: 'ada', password: current }, undefined)).token
    const sessionOf = async (token: string) => {
      const verified = await accounts.logins.verify(token)
      return typeof verified === 'string' ? undefined : verified.session
    }
    const deeds: readonly (readonly [string, (session: string) => unknown])[] = [
      ['logout', (session) => accounts.logins.logout({ id, username: 'ada' }, session, undefined)],
      ['a new password', () => accounts.logins.changePassword(id, current, 'Passw0rd2', undefined)],
      ['a reset', async () => accounts.logins.resetPassword(await accounts.users.get(id), 'Passw0rd3')],
      ['a role', () => accounts.users.update(id, { role: 'admin' })],
      ['another role', () => accounts.users.update(id, { role: 'user' })],
      ['removal', () => accounts.users.remove(id)],
    ]
    for (const [what, deed] of deeds) {
      const [used, other] = [await login(), await login()]
      let told = 0
      const stop = accounts.logins.onEnd(() => told++)
      await deed((await sessionOf(used))!)
      stop()
      assert.is(await accounts.logins.verify(used), 'invalid', what)
      assert.is(
        typeof (await accounts.logins.verify(other)) === 'string',
        what !== 'logout',
        `the other login after ${what}`,
      )
      assert.ok(told > 0, `${what} is told`)
      current = what === 'a new password' ? 'Passw0rd2' : what === 'a reset' ? 'Passw0rd3' : current
    }
    const { token } = await accounts.logins.login({ username: 'admin', password }, undefined)
    assert.is(typeof (await accounts.logins.verify(token)), 'object')
    clock.now += 7 * day
    assert.is(await accounts.logins.verify(token), 'expired')
    assert.is((await accounts.users.get(admin.id)).user.username, 'admin')
  }))

test('what ended a login stays so after a restart, and what did not goes on', () =>
  withAccounts({}, async ({ accounts, reopen }) => {
    const { user, token: kept } = await accounts.logins.register({ username: 'ada', password }, undefined)
    const { token: ended } = await accounts.logins.login({ username: 'ada', password }, undefined)
    const verified = await accounts.logins.verify(ended)
    await accounts.logins.logout(user, typeof verified === 'string' ? undefined : verified.session, undefined)
    const other = await reopen()
    assert.is(await other.accounts.logins.verify(ended), 'invalid')
    assert.is(typeof (await other.accounts.logins.verify(kept)), 'object')
    await other.close()
  }))

test('the role is the database’s, whatever the token says', () =>
  withAccounts({}, async ({ accounts, tokens, clock }) => {
    const { user } = await accounts.logins.register({ username: 'admin', password }, undefined)
    const ada = await accounts.users.create({ username: 'ada', password, role: 'user' })
    const { token } = await accounts.logins.login({ username: 'ada', password }, undefined)
    const claims = tokens.verify(token)
    assert.is(typeof claims, 'object')
    // Even with the secret, a role or another user in the token gains nothing.
    const forged = await tokens.sign({ ...(claims as Exclude<typeof claims, string>), role: 'admin' })
    const verified = await accounts.logins.verify(forged)
    assert.is(typeof verified === 'string' ? verified : verified.caller.role, 'user')
    const stolen = await tokens.sign({ ...(claims as Exclude<typeof claims, string>), sub: user.id })
    assert.is(await accounts.logins.verify(stolen), 'invalid')
    assert.is(ada.role, 'user')
    assert.ok(clock.now > 0)
  }))

test('a login whose password is changed while it is being checked is none', () =>
  withAccounts({}, async ({ accounts }) => {
    const { user } = await accounts.logins.register({ username: 'ada', password }, undefined)
    const late = accounts.logins.login({ username: 'ada', password }, undefined).catch(failure)
    const changed = accounts.logins.changePassword(user.id, password, 'Passw0rd2', undefined)
    const [outcome] = await Promise.all([late, changed])
    if (outcome instanceof AppError) assert.is(outcome.code, 'unauthenticated')
    else assert.is(await accounts.logins.verify(outcome.token), 'invalid')
  }))

test('a changed password must differ, obey the rules, and follow the current one; five wrong ones are enough', () =>
  withAccounts({}, async ({ accounts }) => {
    const { user } = await accounts.logins.register({ username: 'ada', password }, undefined)
    const change = async (current: string, next: string) =>
      (await accounts.logins.changePassword(user.id, current, next, '192.0.2.1').catch(failure)) as AppError
    assert.equal((await change(password, password)).details, ['password: must differ from the current one'])
    assert.is((await change(password, 'x')).details.length, 3)
    for (let count = 0; count < 5; count++) assert.is((await change('Wr0ngpassword', 'N3wpassword')).status, 400)
    assert.is((await change(password, 'N3wpassword')).status, 429)
  }))

test('a reset makes a password that must be changed, and a change clears that', () =>
  withAccounts({}, async ({ accounts }) => {
    await accounts.logins.register({ username: 'admin', password }, undefined)
    const { id } = await accounts.users.create({ username: 'ada', password, role: 'user' })
    const { temporary } = await accounts.logins.resetPassword(await accounts.users.get(id), undefined)
    assert.ok((await accounts.users.get(id)).mustChangePassword)
    await accounts.logins.login({ username: 'ada', password: temporary! }, undefined)
    await accounts.logins.changePassword(id, temporary!, 'N3wpassword', undefined)
    assert.not.ok((await accounts.users.get(id)).mustChangePassword)
  }))

test('a hash of less than today’s cost is made anew at the next login', () =>
  withAccounts({}, async ({ accounts, db }) => {
    await accounts.logins.register({ username: 'ada', password }, undefined)
    const { default: bcrypt } = await import('bcrypt')
    db.prepare('UPDATE user SET password_hash = ?').run(await bcrypt.hash(password, 5))
    const { token } = await accounts.logins.login({ username: 'ada', password }, undefined)
    assert.is(typeof (await accounts.logins.verify(token)), 'object')
    assert.match(db.prepare('SELECT password_hash FROM user').pluck().get() as string, /^\$2b\$12\$/)
  }))

test('names and addresses are unique in every spelling, and free again when they are given up', () =>
  withAccounts({}, async ({ accounts }) => {
    await accounts.logins.register({ username: 'Straße', password, email: 'Ada@Example.org' }, undefined)
    const refused = await accounts.users
      .create({ username: 'STRAẞE'.normalize('NFD'), password, email: 'ada@example.ORG', role: 'user' })
      .catch(failure)
    assert.equal((refused as AppError).details, ['username: is taken', 'email: is taken'])
    const bob = await accounts.users.create({ username: 'bob', password, email: 'bob@example.org', role: 'user' })
    await rejects(accounts.users.update(bob.id, { username: 'straße' }), 'invalid', /taken/)
    await rejects(accounts.users.update(bob.id, { email: 'ADA@EXAMPLE.ORG' }), 'invalid', /taken/)
    assert.is((await accounts.users.update(bob.id, { username: 'BOB', email: null })).email, null)
    await accounts.users.create({ username: 'carol', password, email: 'bob@example.org', role: 'user' })
  }))

for (const [what, newcomer] of [
  ['an empty name', { username: '' }],
  ['a name with an @', { username: 'ada@example.org' }],
  ['a name of 65 characters', { username: 'x'.repeat(65) }],
  ['a name with a line break', { username: 'ada\nadmin' }],
  ['a name that hides a direction', { username: 'ada\u202enimda' }],
  ['a name of spaces', { username: '   ' }],
  ['a name with an invisible character', { username: 'ada\u200b' }],
  ['a name with an invisible letter', { username: 'ada\u3164' }],
  ['a name with an invisible mark', { username: 'a\u034fda' }],
  ['an address that is none', { email: 'ada' }],
  ['an address of 300 characters', { email: `${'x'.repeat(300)}@example.org` }],
] as const) {
  test(`${what} is refused`, () =>
    withAccounts({}, async ({ accounts }) => {
      const refused = await accounts.logins
        .register({ username: 'ada', password, ...newcomer }, undefined)
        .catch(failure)
      assert.instance(refused, AppError)
      assert.equal([(refused as AppError).status, (refused as AppError).details.length], [400, 1])
      assert.ok(await accounts.needsSetup())
    }))
}

test('the audit table says who did what from where, and holds nothing that was typed', () =>
  withAccounts({}, async ({ accounts, db }) => {
    const { user } = await accounts.logins.register({ username: 'ada', password }, '192.0.2.1')
    await accounts.logins.login({ username: 'ada', password: 'Wr0ngpassword' }, '192.0.2.2').catch(failure)
    await accounts.logins.login({ username: 'TypedMyPassw0rdHere', password: 'x' }, '192.0.2.3').catch(failure)
    await accounts.logins.changePassword(user.id, 'Wr0ngpassword', 'N3wpassword', '192.0.2.4').catch(failure)
    await accounts.logins.changePassword(user.id, password, 'N3wpassword', '192.0.2.5')
    const rows = db.prepare('SELECT action, actor, target, address, outcome FROM audit ORDER BY id').raw().all()
    assert.equal(rows, [
      ['register', user.id, null, '192.0.2.1', 'ok'],
      ['login', null, user.id, '192.0.2.2', 'failed'],
      ['login', null, null, '192.0.2.3', 'failed'],
      ['password.change', user.id, null, '192.0.2.4', 'failed'],
      ['password.change', user.id, null, '192.0.2.5', 'ok'],
    ])
  }))

test('the audit table keeps to its bound', () =>
  withAccounts({}, async ({ db, store }) => {
    const fill = db.prepare('INSERT INTO audit (id, at, action, outcome) VALUES (?, 0, ?, ?)')
    fill.run(1, 'old', 'ok')
    fill.run(100_000, 'newer', 'ok')
    await store.record({ at: 1, action: 'newest', outcome: 'ok' })
    assert.equal(db.prepare('SELECT action FROM audit ORDER BY id').pluck().all(), ['newer', 'newest'])
  }))

test('the default administrator is made once, by what the settings say', async () => {
  await withAccounts({ initial: undefined }, async ({ accounts }) => {
    assert.is((await accounts.prepareService()).administrator, undefined)
    assert.ok(await accounts.needsSetup())
  })
  await withAccounts({ initial: 'Chosen0ne' }, async ({ accounts }) => {
    const [one, two] = await Promise.all([accounts.prepareService(), accounts.prepareService()])
    const made = [one, two].filter(({ administrator }) => administrator)
    assert.is(made.length, 1)
    assert.equal(made[0]!.administrator, { username: 'admin', password: 'Chosen0ne', generated: false })
    const { user } = await accounts.logins.login({ username: 'admin', password: 'Chosen0ne' }, undefined)
    assert.equal([user.role, user.email], ['admin', 'admin@localhost'])
    assert.ok((await accounts.users.get(user.id)).mustChangePassword)
  })
  await withAccounts({ singleUserMode: true }, async ({ accounts }) => {
    const { administrator } = await accounts.prepareService()
    assert.ok(administrator?.generated)
    await accounts.logins.login({ username: 'admin', password: administrator!.password }, undefined)
  })
})

test('a weak default password is refused in production and remarked elsewhere', async () => {
  await withAccounts({ initial: 'admin' }, async ({ accounts }) => {
    const { administrator, warnings } = await accounts.prepareService()
    assert.is(administrator?.password, 'admin')
    assert.ok(warnings.every((line) => line.startsWith('DEFAULT_ADMIN_PASSWORD ')))
    assert.is(warnings.length, 3)
  })
  await withAccounts({ initial: 'admin', production: true }, async ({ accounts }) => {
    const refused = (await accounts.prepareService().catch(failure)) as AppError
    assert.is(refused.exit, 78)
    assert.ok(await accounts.needsSetup())
  })
})

test('in single-user mode only the default administrator logs in, and who that is needs no name', () =>
  withAccounts({ singleUserMode: true }, async ({ accounts }) => {
    const { user: oldest } = await accounts.logins.register({ username: 'oldest', password }, undefined)
    await accounts.users.create({ username: 'ada', password, role: 'user' })
    assert.ok(await accounts.isDefaultAdministrator(oldest.id))
    const refused = (await accounts.logins.login({ username: 'ada', password }, undefined).catch(failure)) as AppError
    assert.is(refused.code, 'forbidden')
    const wrong = (await accounts.logins
      .login({ username: 'ada', password: 'x' }, undefined)
      .catch(failure)) as AppError
    assert.is(wrong.code, 'unauthenticated', 'whether there is such a user is not told')
    const named = await accounts.users.create({ username: 'Admin', password, role: 'admin' })
    assert.ok(await accounts.isDefaultAdministrator(named.id))
    assert.not.ok(await accounts.isDefaultAdministrator(oldest.id))
  }))

test('a database that lost its users is refused, and a new one is not', async () => {
  const folder = temporaryFolder()
  const path = join(folder, 'aichat.db')
  await (await openStorageIn(folder)).close()
  const storage = await openStorageIn(folder)
  await storage.accounts.insert(
    { id: 'a', username: 'a', email: null, passwordHash: '-', role: 'user', mustChangePassword: false, createdAt: 1 },
    false,
  )
  await storage.close()
  assert.ok(existsSync(`${path}.accounts`))
  const db = await openDatabase(path)
  db.prepare('DELETE FROM user').run()
  db.close()
  await rejects(openStorageIn(folder), 'configuration', /are gone/)
  rmSync(folder, { recursive: true })
})

test('the database and its log are for their owner alone', () =>
  withAccounts({}, async ({ accounts, path }) => {
    await accounts.logins.register({ username: 'ada', password }, undefined)
    for (const file of [path, `${path}-wal`, `${path}-shm`, `${path}.accounts`, `${path}.initialised`])
      assert.is(statSync(file).mode & 0o777, 0o600, file)
  }))

test.run()

interface Options extends Partial<AccountRules> {
  readonly initial?: string | undefined
}

async function withAccounts(options: Options, work: (opened: Awaited<ReturnType<typeof open>>) => Promise<void>) {
  const folder = temporaryFolder()
  await using opened = closing(await open(folder, options))
  await work(opened)
}

async function open(folder: string, { initial, ...rules }: Options) {
  const clock = { now: 1_700_000_000_000 }
  const path = join(folder, 'aichat.db')
  const storage = await openStorageIn(folder)
  const store = storage.accounts
  // A second connection, for the tables that no store reads.
  const db = await openDatabase(path)
  const tokens = createTokens(
    () => ['k7Jq2vX9mZ4tB8nR5wY1cF6hL3pD0sAa'],
    () => clock.now,
  )
  const accounts = createAccounts({
    store,
    failures: Object.assign(Object.create(storage.loginFailures), { now: () => clock.now }),
    passwords: createPasswords(2),
    tokens,
    rules: {
      singleUserMode: false,
      allowRegistration: true,
      tokenLifetime: 604_800,
      limits: { loginAttempts: 5 },
      defaultAdmin: { username: 'admin', email: 'admin@localhost' },
      production: false,
      ...rules,
    },
    initialPassword: () => initial,
    secretWarnings: () => [],
    now: () => clock.now,
    clock: () => clock.now,
    newId: randomUUID,
  })
  // A second opening is another process as far as the database is concerned.
  const reopen = (): Promise<Opened> => open(folder, { initial, ...rules }) as Promise<Opened>
  const close = async () => {
    db.close()
    await storage.close()
  }
  return { accounts, clock, db, path, reopen, store, tokens, close }
}

interface Opened {
  readonly accounts: ReturnType<typeof createAccounts>
  close(): Promise<void>
}

function failure(reason: AppError): AppError {
  return reason
}

function pick<T extends object>(from: T, names: readonly (keyof T)[]): unknown[] {
  return names.map((name) => from[name])
}
