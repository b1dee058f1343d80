import * as assert from 'uvu/assert'
import { connectionFailure, connectionSentence } from '../../src/http/connection-failure.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('why a connection could not be made')

const failed = (code: string, more: object = {}) => Object.assign(new Error(code), { code, ...more })

test('is one sentence with what to do, from wherever it lies among the causes', () => {
  const address = { syscall: 'connect', address: '::1', port: 81 }
  for (const [thrown, sentence] of [
    [failed('ENOTFOUND', { hostname: 'nowhere.test' }), /^the host name nowhere\.test was not found: check how/],
    [failed('EAI_AGAIN'), /^the host name could not be looked up: check the network/],
    [failed('ECONNREFUSED', address), /^nothing listens on \[::1\]:81 \(connection refused\): start/],
    [failed('ETIMEDOUT', { address: '10.0.0.1' }), /^10\.0\.0\.1 cannot be reached \(ETIMEDOUT\)/],
    [failed('EHOSTUNREACH', address), /^\[::1\]:81 cannot be reached/],
    [failed('CERT_HAS_EXPIRED'), /^its certificate is not valid now/],
    [failed('DEPTH_ZERO_SELF_SIGNED_CERT'), /NODE_EXTRA_CA_CERTS$/],
    [failed('ERR_TLS_CERT_ALTNAME_INVALID'), /for another name/],
    [new Error('bad port'), /use another port$/],
  ] as const)
    assert.match(connectionSentence(new Error('fetch failed', { cause: thrown })) ?? '', sentence)
  const both = [failed('ECONNREFUSED', address), failed('ECONNREFUSED', { ...address, address: '127.0.0.1' })]
  assert.match(connectionSentence(new AggregateError(both))!, /on \[::1\]:81 or 127\.0\.0\.1:81 \(/)
})

test('is unknown where a connection broke that had been made, and for other errors', () => {
  for (const thrown of [
    failed('ETIMEDOUT', { syscall: 'read' }),
    failed('EPIPE'),
    new Error('other'),
    'text',
    undefined,
  ])
    assert.is(connectionFailure(thrown), undefined)
  assert.is(connectionFailure(failed('ENOTFOUND'))?.isName, true)
})

test.run()
