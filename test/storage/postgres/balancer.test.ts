import { EventEmitter, once } from 'node:events'
import * as assert from 'uvu/assert'
import { openBalancer } from '../../helpers/postgres/balancer.ts'
import { type Answer, openStandIn } from '../../helpers/providers/fake-provider.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('a balancer of the tests')

test('an answer whose target goes away in the middle is cut, and the next one comes from elsewhere', async () => {
  const streams: Answer = (_, response) => void response.writeHead(200).write('first')
  const echoes: Answer = ({ method, url, headers, body }, response) =>
    void response.writeHead(201, { 'x-kind': 'echo' }).end(`${method} ${url} ${body} ${headers['x-forwarded-for']}`)
  const [streaming, echoing] = [await openStandIn(streams), await openStandIn(echoes)]
  const balancer = await openBalancer(() => [streaming.url, echoing.url])
  try {
    const cut = (await fetch(`${balancer.url}/stream`)).body!.getReader()
    assert.is(Buffer.from((await cut.read()).value!).toString(), 'first')
    await streaming.close()
    assert.match(await cut.read().then(() => 'whole', String), /terminated/)
    const echoed = await fetch(`${balancer.url}/a?b`, { method: 'PUT', body: 'text' })
    assert.is(echoed.status, 201)
    assert.is(echoed.headers.get('x-kind'), 'echo')
    assert.is(await echoed.text(), 'PUT /a?b text 127.0.0.1')
    assert.is((await fetch(balancer.url)).status, 502)
  } finally {
    await balancer.close()
    await echoing.close()
  }
})

test('a target hears of a client that goes away', async () => {
  const left = new EventEmitter()
  const target = await openStandIn((_, response) => {
    response.writeHead(200).write('first')
    response.on('close', () => left.emit('client'))
  })
  const balancer = await openBalancer(() => [target.url])
  const leaving = new AbortController()
  const isLeft = once(left, 'client')
  await fetch(balancer.url, { signal: leaving.signal })
  leaving.abort()
  await isLeft
  await balancer.close()
  await target.close()
})

test.run()
