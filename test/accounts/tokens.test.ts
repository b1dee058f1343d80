import { createHmac, generateKeyPairSync } from 'node:crypto'
import { jwtVerify, SignJWT } from 'jose'
import * as assert from 'uvu/assert'
import { createTokens, refuseWeakSecret, type Secrets, secretProblems } from '../../src/accounts/tokens.ts'
import { parseLifetime } from '../../src/settings/duration.ts'
import { fc } from '../helpers/properties.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('tokens')

const secret = 'k7Jq2vX9mZ4tB8nR5wY1cF6hL3pD0sAa'
const claims = { sub: 'user-1', sid: 'session-1', ver: 3, role: 'user', iat: 1_700_000_000, exp: 1_700_003_600 }
const during = 1_700_000_100_000

test('what is signed is read again', async () => {
  const { sign, verify } = tokens()
  assert.equal(verify(await sign(claims)), claims)
})

test('it is a JWT that other libraries accept, with the claims they look for', async () => {
  const key = new TextEncoder().encode(secret)
  const { payload, protectedHeader } = await jwtVerify(await tokens().sign(claims), key, {
    algorithms: ['HS256'],
    typ: 'JWT',
    issuer: 'aichat-toolkit',
    audience: 'aichat-toolkit',
    currentDate: new Date(during),
  })
  assert.equal(protectedHeader, { alg: 'HS256', typ: 'JWT' })
  assert.equal([payload.sub, payload['sid']], ['user-1', 'session-1'])
})

test('it expires to the second, also when it was seen before', async () => {
  const clock = { now: during }
  const { sign, verify } = createTokens(
    () => [secret],
    () => clock.now,
  )
  const token = await sign(claims)
  assert.equal(verify(token), claims)
  clock.now = claims.exp * 1000 - 1
  assert.equal(verify(token), claims)
  clock.now = claims.exp * 1000
  assert.equal([verify(token), verify(token)], ['expired', 'expired'])
})

test('no algorithm but HS256, no header that asks for more, and no foreign claims', async () => {
  const { verify } = tokens()
  const header = { alg: 'HS256', typ: 'JWT' }
  const full = { ...claims, iss: 'aichat-toolkit', aud: 'aichat-toolkit' }
  assert.equal(verify(made(header, full)), claims)
  assert.equal(verify(made({ typ: 'JWT', alg: 'HS256', kid: 'x' }, full)), claims)
  const forged: readonly (readonly [string, string])[] = [
    ['alg none', made({ alg: 'none', typ: 'JWT' }, full)],
    ['alg none without a signature', `${made({ alg: 'none', typ: 'JWT' }, full).replace(/[^.]*$/, '')}`],
    ['alg in another case', made({ alg: 'hs256', typ: 'JWT' }, full)],
    ['HS512', made({ alg: 'HS512', typ: 'JWT' }, full)],
    ['no typ', made({ alg: 'HS256' }, full)],
    ['another typ', made({ alg: 'HS256', typ: 'at+jwt' }, full)],
    ['crit', made({ ...header, crit: ['exp'] }, full)],
    ['another issuer', made(header, { ...full, iss: 'somebody' })],
    ['an audience of several', made(header, { ...full, aud: ['aichat-toolkit'] })],
    ['no expiry', made(header, { ...full, exp: undefined })],
    ['an expiry that is no number', made(header, { ...full, exp: '9999999999' })],
    ['an expiry that is no integer', made(header, { ...full, exp: 1.5e9 + 0.5 })],
    ['no session', made(header, { ...full, sid: undefined })],
    ['a version that is a text', made(header, { ...full, ver: '3' })],
    ['claims that are a list', made(header, [full])],
    ['another secret', made(header, full, 'another secret that is long enough')],
    ['an empty secret', made(header, full, '')],
  ]
  for (const [what, token] of forged) assert.is(verify(token), 'invalid', what)
})

test('a token that begins more than a minute from now is none, also when it was seen before', () => {
  const clock = { now: during }
  const { verify } = createTokens(
    () => [secret],
    () => clock.now,
  )
  const header = { alg: 'HS256', typ: 'JWT' }
  const full = { ...claims, iss: 'aichat-toolkit', aud: 'aichat-toolkit' }
  const later = (seconds: number) => during / 1000 + seconds
  for (const begun of [{ iat: later(60) }, { nbf: later(60) }, { nbf: later(59.5) }, { nbf: 0 }])
    assert.type(verify(made(header, { ...full, ...begun })), 'object', JSON.stringify(begun))
  for (const ahead of [{ iat: later(61) }, { nbf: later(61) }, { nbf: later(60.5) }, { nbf: '0' }, { nbf: null }])
    assert.is(verify(made(header, { ...full, ...ahead })), 'invalid', JSON.stringify(ahead))
  const early = made(header, { ...full, nbf: later(100) })
  assert.is(verify(early), 'invalid')
  clock.now += 40_000
  assert.type(verify(early), 'object')
})

test('a key pair cannot stand in for the secret', async () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const token = await new SignJWT({ ...claims, iss: 'aichat-toolkit', aud: 'aichat-toolkit' })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
    .sign(privateKey)
  assert.is(tokens().verify(token), 'invalid')
})

test('one token has one spelling', async () => {
  const { sign, verify } = tokens()
  const token = await sign(claims)
  const [header, payload, signature] = token.split('.') as [string, string, string]
  const spellings = [
    ` ${token}`,
    `${token}\n`,
    `${token}=`,
    `${token}.`,
    `.${token}`,
    `${header}.${payload}.`,
    `${header}.${payload}`,
    `${header}..${signature}`,
    `${header} .${payload}.${signature}`,
    [header, payload, Buffer.from(signature, 'base64url').toString('base64')].join('.'),
    token.repeat(20),
    '',
    '...',
  ]
  for (const spelling of spellings) assert.is(verify(spelling), 'invalid', spelling)
})

test('a payload that was not encoded canonically is refused, though its signature is right', () => {
  const header = Buffer.from('{"alg":"HS256","typ":"JWT"}').toString('base64url')
  const text = JSON.stringify({ ...claims, iss: 'aichat-toolkit', aud: 'aichat-toolkit' })
  const canonical = Buffer.from(`${text}${' '.repeat((4 - (text.length % 3)) % 3)}`).toString('base64url')
  for (const payload of [
    `${canonical}=`,
    `${canonical}==`,
    canonical.replace(/.$/, 'A '),
    `${canonical.slice(0, 4)}\n${canonical.slice(4)}`,
  ]) {
    const signature = createHmac('sha256', secret).update(`${header}.${payload}`).digest('base64url')
    assert.is(tokens().verify(`${header}.${payload}.${signature}`), 'invalid', JSON.stringify(payload.slice(-6)))
  }
})

test('a token with any character changed is refused', async () => {
  const { sign, verify } = tokens()
  const token = await sign(claims)
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: token.length - 1 }),
      fc.constantFrom(...'ABCXYZabcxyz0189-_.+/= '),
      (at, character) => {
        fc.pre(token[at] !== character)
        assert.is(verify(token.slice(0, at) + character + token.slice(at + 1)), 'invalid')
      },
    ),
    { numRuns: 1000 },
  )
})

test('any text is refused without an error', () => {
  const { verify } = tokens()
  fc.assert(fc.property(fc.string({ maxLength: 300 }), (text) => assert.is(verify(text), 'invalid')))
  fc.assert(
    fc.property(fc.array(fc.base64String(), { minLength: 3, maxLength: 3 }), (parts) =>
      assert.is(verify(parts.join('.')), 'invalid'),
    ),
  )
})

test('the previous secret verifies and never signs', async () => {
  const old = await tokens([secret]).sign(claims)
  const next = 'N3wSecretN3wSecretN3wSecretN3wSecret'
  const rotated = tokens([next, secret])
  assert.equal(rotated.verify(old), claims)
  assert.is(tokens([secret]).verify(await rotated.sign(claims)), 'invalid')
  assert.is(tokens([next]).verify(old), 'invalid')
})

test('a secret is judged', () => {
  assert.equal(secretProblems(secret), [])
  assert.equal(secretProblems(undefined), [])
  const mixed = 'q7Rt-xB2_kLm9Zp4WsYv3NcHd8FgJ5aE'
  assert.equal([secretProblems(mixed).length, secretProblems(mixed.slice(1)).length], [0, 1])
  for (const weak of [
    'short',
    'a'.repeat(64),
    'abababababababababababababababababab',
    'change-me-in-production-please-change-me',
    'your-super-secret-jwt-key-for-development',
    'secret-secret-secret-secret-key-1234',
    '<JWT_SECRET>',
    'default-jwt-secret-of-the-application',
  ]) {
    assert.ok(secretProblems(weak).length > 0, weak)
    assert.throws(() => refuseWeakSecret(secretProblems(weak)), /not fit for production/)
  }
})

test('a lifetime is written as people write it', () => {
  const cases: readonly (readonly [string, number | undefined])[] = [
    ['7d', 604_800],
    ['7 days', 604_800],
    ['12h', 43_200],
    ['30m', 1800],
    ['30 minutes', 1800],
    ['90s', 90],
    ['90', 90],
    ['1w', 604_800],
    ['1y', 31_557_600],
    ['1.5h', 5400],
    ['0', undefined],
    ['-1d', undefined],
    ['', undefined],
    ['soon', undefined],
    ['7 lightyears', undefined],
    ['999y', undefined],
    ['1e9', undefined],
  ]
  for (const [text, seconds] of cases) assert.is(parseLifetime(text), seconds, text)
})

test.run()

function tokens(secrets: Secrets = [secret]) {
  return createTokens(
    () => secrets,
    () => during,
  )
}

/** A token made with that secret, or without one. */
function made(header: unknown, payload: unknown, key = secret): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const text = `${part(header)}.${part(payload)}`
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`
}
