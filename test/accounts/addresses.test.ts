import * as assert from 'uvu/assert'
import { networkOf, originOf, readProxies } from '../../src/accounts/addresses.ts'
import { AppError } from '../../src/errors.ts'
import { fc } from '../helpers/properties.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('addresses')
const nobody = readProxies([])

test('the address is the peer’s, whatever a header says', () => {
  for (const forwarded of ['1.2.3.4', '1.2.3.4, 127.0.0.1', '[::1]', 'garbage', ''])
    assert.is(originOf('203.0.113.9', forwarded, nobody).address, '203.0.113.9')
})

test('behind a named proxy it is the right-most hop that is no proxy', () => {
  const proxies = readProxies(['10.0.0.0/8', '::1'])
  const cases: readonly (readonly [peer: string, forwarded: string | undefined, address: string])[] = [
    ['10.1.1.1', '198.51.100.7', '198.51.100.7'],
    ['10.1.1.1', '1.1.1.1, 198.51.100.7', '198.51.100.7'],
    ['10.1.1.1', '198.51.100.7, 10.2.2.2', '198.51.100.7'],
    ['::1', '198.51.100.7', '198.51.100.7'],
    ['10.1.1.1', undefined, '10.1.1.1'],
    ['10.1.1.1', 'unknown', '10.1.1.1'],
    ['10.1.1.1', '[2001:db8::1]:4711', '2001:db8::1'],
    ['10.1.1.1', '198.51.100.7:4711', '198.51.100.7'],
    ['192.0.2.1', '198.51.100.7', '192.0.2.1'],
  ]
  for (const [peer, forwarded, address] of cases)
    assert.is(originOf(peer, forwarded, proxies).address, address, `${peer} ${forwarded}`)
})

test('IPv4 written as IPv6 is the same address', () => {
  assert.is(originOf('::ffff:203.0.113.9', undefined, nobody).address, '203.0.113.9')
  assert.is(networkOf('::ffff:203.0.113.9'), '203.0.113.9')
  assert.ok(readProxies(['127.0.0.1']).includes('127.0.0.1'))
})

test('only what comes over loopback and was not passed on is local', () => {
  assert.ok(originOf('127.0.0.1', undefined, nobody).local)
  assert.ok(originOf('::1', undefined, nobody).local)
  assert.ok(originOf('::ffff:127.0.0.1', undefined, nobody).local)
  assert.not.ok(originOf('192.0.2.1', undefined, nobody).local)
  assert.not.ok(originOf('127.0.0.1', '198.51.100.7', nobody).local, 'passed on by a proxy nobody named')
  assert.not.ok(originOf('127.0.0.1', '127.0.0.1', readProxies(['loopback'])).local)
  assert.not.ok(originOf(undefined, undefined, nobody).local)
})

test('an IPv6 subscriber is one, with all addresses of a /64 in every spelling', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 }), (parts) => {
      const address = [0x2001, 0xdb8, ...parts.slice(2)].map((part) => part.toString(16))
      const sibling = [...address.slice(0, 4), 'ffff', '0', '0', '1'].join(':').toUpperCase()
      assert.is(networkOf(address.join(':')), networkOf(sibling))
      const other = [...address.slice(0, 3), (parts[3]! ^ 1).toString(16), ...address.slice(4)].join(':')
      assert.is.not(networkOf(address.join(':')), networkOf(other))
    }),
  )
  assert.is(networkOf('2001:db8::1'), networkOf('2001:0db8:0000:0000:ffff::'))
})

test('a TRUST_PROXY that makes no sense is refused with every reason', () => {
  try {
    readProxies(['10.0.0.0/33', 'proxy.local', '::1/129', '1.2.3.4/8/9', '10.0.0.1'])
    assert.unreachable()
  } catch (reason) {
    assert.instance(reason, AppError)
    assert.equal([(reason as AppError).code, (reason as AppError).details.length], ['configuration', 4])
  }
})

test.run()
