import * as assert from 'uvu/assert'
import { goodPassword } from '../../daemon.ts'
import { openInstances } from './instances.ts'
import { postgresSuite } from './suite.ts'

const { test, server, run } = postgresSuite('several instances behind a balancer')

test('requests go to each in turn; one that was killed is answered for with 502 until it is started again', async () => {
  const instances = await openInstances(await server().newDatabase(), { count: 2 })
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
  } finally {
    await instances.close()
  }
})

test('a chat at an instance is answered by the provider that they share', async () => {
  const instances = await openInstances(await server().newDatabase(), { count: 1 })
  try {
    const { body } = await instances.call('POST', '/api/auth/register', {
      body: { username: 'admin', password: goodPassword },
    })
    const token = body.token
    console.log(body, await instances.call('POST', '/api/plugins', { token, body: instances.plugin }))
  } finally {
    await instances.close()
  }
})

run()
