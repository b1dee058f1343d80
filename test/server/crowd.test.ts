// With --all only: many processes.
import { rmSync } from 'node:fs'
import * as assert from 'uvu/assert'
import { goodPassword, spawnDaemon } from '../helpers/program/daemon.ts'
import { suite } from '../helpers/suite.ts'
import { openLoadProvider } from '../soak/provider.ts'
import { openSlowSockets, openStreams, patient } from './crowd.ts'

const test = suite('a crowd of clients')

// `npm run bench -- crowd` does the same with a thousand streams and 500 slow sockets, and measures.
test('many paced streams at once come to their end beside clients that stop in the middle', async () => {
  const provider = await openLoadProvider()
  const daemon = await spawnDaemon({ CUSTOM_API_KEY: 'sk-of-the-test', AICHAT_LIMIT_REQUESTS_PER_USER: '1000' })
  try {
    const { body } = await daemon.call('POST', '/api/auth/register', {
      body: { username: 'ada', password: goodPassword },
    })
    for (const name of ['paced', 'large'])
      await daemon.call('POST', '/api/plugins/install', {
        token: body.token,
        body: { ...provider.plugin(name, name), ...patient },
      })
    const slow = await openSlowSockets(daemon.url, body.token, 'large:model-large', 60)
    const { complete } = await openStreams(daemon.url, body.token, 'paced:model-paced', 100)
    assert.is(complete, 100)
    assert.is((await daemon.call('GET', '/api/auth/me', { token: body.token })).status, 200)
    for (const socket of slow) socket.destroy()
    assert.is(await daemon.stop(), 0)
  } finally {
    if (daemon.child.exitCode === null) await daemon.stop('SIGKILL')
    await provider.close()
    rmSync(daemon.home, { recursive: true, force: true })
  }
})

test.run()
