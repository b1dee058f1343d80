// With --all only: a killed process.

import * as assert from 'uvu/assert'
import { spawnInstances } from '../../helpers/postgres/instances.ts'
import { postgresSuite } from '../../helpers/postgres/suite.ts'

const { test, server, run } = postgresSuite('several instances behind a balancer')

test('requests go to each in turn; one that was killed is answered for with 502 until it is started again', async () => {
  const instances = await spawnInstances(await server().newMigrated(), { count: 2 })
  try {
    const statuses = async () => {
      const first = await instances.call('GET', '/health')
      const second = await instances.call('GET', '/health')
      return [first.status, second.status].sort()
    }
    assert.equal(await statuses(), [200, 200])
    await instances.all[1]!.stop('SIGKILL')
    assert.equal(await statuses(), [200, 502])
    await instances.restart(1)
    assert.equal(await statuses(), [200, 200])
    const token = await instances.setUp()
    const body = { messages: [{ role: 'user', content: 'Hi' }] }
    const chat = await instances.all[0]!.call('POST', '/v1/chat/completions', { token, body })
    assert.is(chat.body.choices[0].message.content, 'Hello big wide world')
    assert.is(instances.provider.received.length, 1)
  } finally {
    await instances.close()
  }
})

run()
