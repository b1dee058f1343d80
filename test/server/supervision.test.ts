// Some with --all only: many processes.
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { haveProgram } from '../helpers/debian.ts'
import { closing } from '../helpers/disposal.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { removeHome, spawnDaemon } from '../helpers/program/daemon.ts'
import { suite } from '../helpers/suite.ts'
import { openNotifyReceiver } from './notify-receiver.ts'

const inner = suite('a service under systemd')
const notified = haveProgram('systemd-notify', 'systemd') && haveProgram('python3') ? inner : inner.skip

notified('says that it is ready, alive, reloading and stopping, in that order', async () => {
  const home = temporaryFolder()
  const receiver = await openNotifyReceiver(join(home, 'notify'))
  const daemon = await spawnDaemon({ NOTIFY_SOCKET: receiver.path, WATCHDOG_USEC: '400000' }, home)
  try {
    const ready = await receiver.next('READY')
    assert.match(ready['STATUS']!, `serving api on ${daemon.url}; no plugin is active`)
    assert.is((await daemon.call('GET', '/ready')).status, 200)
    assert.is((await receiver.next('WATCHDOG'))['WATCHDOG'], '1')
    writeFileSync(join(home, 'config.json'), '{ "log.level": "debug" }')
    daemon.child.kill('SIGHUP')
    assert.match((await receiver.next('RELOADING'))['MONOTONIC_USEC']!, /^\d{6,}$/)
    assert.is((await receiver.next('READY'))['READY'], '1')
    while (!/changed: log\.level/.test(daemon.output.stderr)) await once(daemon.child.stderr!, 'data')
    assert.is(await daemon.stop(), 0)
    const stopping = await receiver.next('STOPPING')
    assert.ok(Number(stopping['EXTEND_TIMEOUT_USEC']) > 30_000_000)
  } finally {
    daemon.child.kill('SIGKILL')
    await receiver.close()
    removeHome(daemon)
  }
})

notified.whole('sends no sign of life to the watchdog of another process', async () => {
  const home = temporaryFolder()
  await using receiver = closing(await openNotifyReceiver(join(home, 'notify')))
  const environment = { NOTIFY_SOCKET: receiver.path, WATCHDOG_USEC: '20000', WATCHDOG_PID: '1' }
  await using daemon = await spawnDaemon(environment, home)
  await receiver.next('READY')
  daemon.child.kill('SIGHUP')
  await receiver.next('RELOADING')
  await receiver.next('READY')
  assert.not.ok(receiver.messages.some((message) => 'WATCHDOG' in message))
})

inner.whole('a supervisor that hears nothing stops nothing, and is named once', async () => {
  const daemon = await spawnDaemon({ NOTIFY_SOCKET: '/nowhere/notify', WATCHDOG_USEC: '40000' })
  try {
    assert.is((await daemon.call('GET', '/health')).status, 200)
    assert.is(await daemon.stop(), 0)
    assert.is(daemon.output.stderr.split('systemd is not told').length, 2)
  } finally {
    removeHome(daemon)
  }
})

inner.run()
