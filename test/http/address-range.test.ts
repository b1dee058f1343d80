import * as assert from 'uvu/assert'
import { hostRange, isLocalName } from '../../src/http/address-range.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the range of a host')

const hosts: Readonly<Record<ReturnType<typeof hostRange>, readonly string[]>> = {
  public: [
    'example.org',
    '8.8.8.8',
    '[2001:4860:4860::8888]',
    '3fff:ffff::1',
    '64:ff9b::808:808',
    'localhost.example.org',
  ],
  private: ['10.0.0.1', '100.64.0.1', '100.100.100.199', '[fd00::1]', 'fd00:ec2::253'],
  loopback: ['127.0.0.1', '[::1]', 'localhost', 'LOCALHOST.', 'a.localhost', '::ffff:127.0.0.1'],
  forbidden: [
    ...['169.254.169.254', '100.100.100.200', '192.0.0.192', '168.63.129.16', 'metadata', 'metadata.google.internal.'],
    ...['fd00:ec2::254', '::', '0.0.0.0', '224.0.0.1', 'fe80::1', '::8.8.8.8'],
    // Only 2000::/3 is assigned; translated addresses may only be public, and of the well-known prefix.
    ...[
      '1fff::1',
      '4000::1',
      '64:ff9b::7f00:1',
      '64:ff9b::a08:808',
      '64:ff9b:0:1::808:808',
      '64:ff9b:1::808:808',
      '64:ff9b:100::808:808',
    ],
  ],
}

test('is that of its address in every spelling, and a name is public unless it means this machine or metadata', () => {
  for (const [range, members] of Object.entries(hosts))
    for (const host of members) for (const again of [host, host]) assert.is(hostRange(again), range, host)
  assert.ok(isLocalName('a.localhost..'))
  assert.not(isLocalName('notlocalhost'))
})

test.run()
