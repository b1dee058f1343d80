import { once } from 'node:events'
import { createServer } from 'node:http'
import * as assert from 'uvu/assert'
import { isBlockedPort } from '../../src/server/listen.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('ports that browsers block')

const everyPort = Array.from({ length: 65_535 }, (_, index) => index + 1)

test('are refused by fetch too', async () => {
  const blocked = everyPort.filter(isBlockedPort)
  assert.is(blocked.length, 82)
  for (const port of blocked) {
    const reason = await fetch(`http://127.0.0.1:${port}/`).then(
      () => undefined,
      ({ cause }: Error) => (cause as Error).message,
    )
    assert.is(reason, 'bad port', String(port))
  }
})

test('are none of those on which aichat serves, nor free ones of the system', async () => {
  for (const port of [3001, 8100, 8200, 8201]) assert.not.ok(isBlockedPort(port))
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  assert.not.ok(isBlockedPort((server.address() as { port: number }).port))
  server.close()
})

test.run()
