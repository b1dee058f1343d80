import * as assert from 'uvu/assert'
import { AppError } from '../../src/errors.ts'
import { type HttpClientOptions, openHttpClient } from '../../src/http-client/agent.ts'
import { completion, json, openStandIn } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('the way out')

const timeouts = { connect: 2000, firstByte: 2000, idle: 2000 }

function leadingTo(addresses: readonly string[], asked: string[] = []): NonNullable<HttpClientOptions['resolve']> {
  return (hostname, _options, done) => {
    asked.push(hostname)
    const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    process.nextTick(() => done(null, found))
  }
}

/** The outcome of one GET: the answer's status, or the reason that it was not sent. */
async function outcome(url: string, options: HttpClientOptions): Promise<string> {
  const outbound = openHttpClient(options)
  try {
    const reply = await outbound.send({ method: 'GET', url, headers: {}, timeouts })
    reply.discard()
    return String(reply.status)
  } catch (reason) {
    return reason instanceof AppError ? `${reason.code}: ${reason.message}` : String(reason)
  } finally {
    await outbound.close()
  }
}

test('a name that leads to a forbidden address is not dialled, even if it also leads to others', async () => {
  const forbidden = ['169.254.169.254', '::ffff:169.254.169.254', '::ffff:a9fe:a9fe', 'fe80::1%eth0', 'fe80::1', '::']
  const inside = ['0.0.0.0', '224.0.0.1', '64:ff9b::a9fe:a9fe', '2002:a9fe:a9fe::', '::127.0.0.1', 'fd00:ec2::254']
  for (const address of [...forbidden, ...inside])
    for (const addresses of [[address], ['127.0.0.1', address]])
      assert.match(
        await outcome('http://looks-public.example:9/', { allowPrivate: true, resolve: leadingTo(addresses) }),
        /^configuration: looks-public\.example is a link-local, metadata or reserved address/,
        addresses.join(),
      )
})

test('a name that leads inside is dialled only where private addresses are allowed', async () => {
  const stand = await openStandIn((_request, response) => json(response, 200, completion('x')))
  const url = stand.url.replace('127.0.0.1', 'inside.example')
  const resolve = leadingTo(['127.0.0.1'])
  assert.is(await outcome(url, { allowPrivate: true, resolve }), '200')
  assert.match(await outcome(url, { allowPrivate: false, resolve }), /is a private address; .*PLUGIN_ALLOW_PRIVATE/)
  for (const address of ['10.0.0.1', '192.168.1.1', 'fd12::1', '::1', '100.64.0.1', '::ffff:10.0.0.1'])
    assert.match(
      await outcome(url, { allowPrivate: false, resolve: leadingTo([address]) }),
      /is a private address/,
      address,
    )
  assert.is(stand.received.length, 1)
  await stand.close()
})

test('localhost and the names below it are this machine, for any answer of a resolver', async () => {
  const stand = await openStandIn((_request, response) => json(response, 200, completion('x')))
  const asked: string[] = []
  const resolve = leadingTo(['93.184.216.34'], asked)
  for (const name of ['localhost', 'evil.localhost', 'EVIL.Localhost', 'evil.localhost.'])
    assert.is(await outcome(stand.url.replace('127.0.0.1', name), { allowPrivate: true, resolve }), '200', name)
  assert.equal(asked, [])
  assert.is(stand.received.length, 4)
  await stand.close()
})

test('a literal address is checked as well, and no resolver is asked', async () => {
  const asked: string[] = []
  const options = { allowPrivate: true, resolve: leadingTo(['127.0.0.1'], asked) }
  for (const host of ['[::127.0.0.1]', '169.254.169.254', '2852039166', '0xa9.0xfe.0xa9fe', '[::ffff:a9fe:a9fe]'])
    assert.match(await outcome(`http://${host}:9/`, options), /link-local, metadata or reserved/, host)
  assert.equal(asked, [])
})

test('a silent server ends a request, and the next one after it as well', async () => {
  const stand = await openStandIn(() => {})
  const outbound = openHttpClient({ allowPrivate: true })
  const short = { connect: 2000, firstByte: 50, idle: 50 }
  const request = { method: 'GET', url: stand.url, headers: {}, timeouts: short } as const
  // The clock of all requests stops with the last one, and begins anew with the next.
  for (let count = 0; count < 2; count++) assert.instance(await outbound.send(request).catch((reason) => reason), Error)
  await outbound.close()
  await stand.close()
})

test.run()
