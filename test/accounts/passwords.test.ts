// Some with --all only: a whole sample.
// In a process of its own: it needs the real bcrypt.
import * as assert from 'uvu/assert'
import { createPasswords, passwordProblems, randomPassword } from '../../src/accounts/passwords.ts'
import { AppError } from '../../src/errors.ts'
import { anyCharacter, fc } from '../helpers/properties.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('passwords')

test('the rules are the specification’s, and every broken one is named', () => {
  assert.equal(passwordProblems('Passw0rd'), [])
  assert.equal(passwordProblems('Aa1aaa'), [])
  assert.is(passwordProblems('').length, 4)
  assert.equal(passwordProblems('Aa1a'), ['password: must be at least 6 characters long'])
  assert.equal(passwordProblems('passw0rd'), ['password: must hold an uppercase letter'])
  assert.equal(passwordProblems('PASSW0RD'), ['password: must hold a lowercase letter'])
  assert.equal(passwordProblems('Password'), ['password: must hold a digit'])
  assert.is(passwordProblems('      ').length, 3)
})

test('letters and digits of every script count, and length is in characters', () => {
  assert.equal(passwordProblems('Пароль1'), [])
  assert.equal(passwordProblems('Aé٣😀😀😀'), [])
  assert.equal(passwordProblems('Aa1😀😀'), ['password: must be at least 6 characters long'])
})

test('more than 72 bytes are refused, in whatever characters', () => {
  assert.equal(passwordProblems(`Aa1${'x'.repeat(69)}`), [])
  assert.equal(passwordProblems(`Aa1${'x'.repeat(70)}`), ['password: must be at most 72 bytes long'])
  assert.equal(passwordProblems(`Aa1${'é'.repeat(35)}`), ['password: must be at most 72 bytes long'])
})

test('a hash is bcrypt of cost 12 with a salt of its own', async () => {
  const passwords = createPasswords(2)
  const [one, two] = await Promise.all([passwords.hash('Passw0rd'), passwords.hash('Passw0rd')])
  assert.match(one, /^\$2b\$12\$/)
  assert.is.not(one, two)
  assert.ok(await passwords.matches('Passw0rd', one))
  assert.not.ok(await passwords.matches('passw0rd', one))
  assert.not.ok(passwords.isWeakHash(one))
  assert.ok(passwords.isWeakHash(one.replace('$12$', '$10$')))
})

test.whole('bytes that bcrypt would not read do not match by being ignored', async () => {
  const passwords = createPasswords(2)
  const longest = `Aa1${'x'.repeat(69)}`
  const hash = await passwords.hash(longest)
  assert.ok(await passwords.matches(longest, hash))
  assert.not.ok(await passwords.matches(`${longest}y`, hash))
  assert.not.ok(await passwords.matches('Aa1\0anything', await passwords.hash('Aa1')))
})

test.whole('nobody matches nothing, after a comparison at the cost of any other', async () => {
  const compared: (readonly [password: string, cost: string | undefined])[] = []
  const { default: library } = await import('bcrypt')
  const passwords = createPasswords(1, async () => ({
    hash: library.hash,
    async compare(password: string | Buffer, hash: string) {
      const same = await library.compare(password, hash)
      // Judged by the library before it counts: a hash that it cannot read would cost nothing.
      compared.push([String(password), /^\$2b\$(\d\d)\$[./A-Za-z0-9]{53}$/.exec(hash)?.[1]])
      assert.is(library.getRounds(hash), 12)
      return same
    },
  }))
  const hash = await passwords.hash('Passw0rd')
  assert.not.ok(await passwords.matches('Wr0ngpassword', hash))
  assert.not.ok(await passwords.matches('Wr0ngpassword', undefined))
  assert.not.ok(await passwords.matches('x'.repeat(1000), undefined))
  assert.equal(compared, [
    ['Wr0ngpassword', '12'],
    ['Wr0ngpassword', '12'],
    ['x'.repeat(1000), '12'],
  ])
})

test('only so many run at once, and a line that is too long is refused at once', async () => {
  const passwords = createPasswords(1)
  const hash = await passwords.hash('Passw0rd')
  const first = Array.from({ length: 4 }, () => passwords.matches('Wr0ng', hash.replace('$12$', '$04$')))
  const rest = Array.from({ length: 200 }, () =>
    passwords.matches('Wr0ng', hash.replace('$12$', '$04$')).catch((reason: unknown) => reason),
  )
  await Promise.all(first)
  const outcomes = await Promise.all(rest)
  const refused = outcomes.filter((outcome): outcome is AppError => outcome instanceof AppError)
  assert.is(refused.length, 204 - 1 - 128)
  assert.is(refused[0]!.code, 'busy')
  assert.ok(refused[0]!.retryAfter)
})

test('a random password passes the rules and is another each time', () => {
  const made = Array.from({ length: 200 }, randomPassword)
  assert.is(new Set(made).size, 200)
  for (const password of made) assert.equal(passwordProblems(password), [])
})

test('any text gets an answer', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 200 }), (text) => {
      assert.ok(passwordProblems(text).every((line) => line.startsWith('password: ')))
    }),
  )
})

test.run()
