// Some with --all only: many processes.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { passedSockets } from '../../src/server/activation.ts'
import { cheapHashes } from '../helpers/cheap-bcrypt.ts'
import { haveProgram } from '../helpers/debian.ts'
import { closing } from '../helpers/disposal.ts'
import { temporaryFolder } from '../helpers/folders.ts'
import { freePort } from '../helpers/free-port.ts'
import { aichatCommand } from '../helpers/program/command.ts'
import { removeHome, spawnDaemon } from '../helpers/program/daemon.ts'
import { rejects } from '../helpers/rejection.ts'
import { suite } from '../helpers/suite.ts'
import { openNotifyReceiver } from './notify-receiver.ts'

const inner = suite('a service under systemd')
const notified = haveProgram('systemd-notify', 'systemd') && haveProgram('python3') ? inner : inner.skip
const activated = haveProgram('systemd-socket-activate', 'systemd') ? inner.whole : inner.skip

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

notified('sends no sign of life to the watchdog of another process', async () => {
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

activated('takes the sockets that systemd listens on, by the names of the servers', async () => {
  const home = temporaryFolder()
  const [api, voice] = [await freePort(), await freePort()]
  const environment = ['HOME', 'AICHAT_HOME'].map((name) => `--setenv=${name}=${home}`)
  const hashes = Object.entries(cheapHashes).map(([name, value]) => `--setenv=${name}=${value}`)
  const child = spawn(
    'systemd-socket-activate',
    [
      ...[`--listen=127.0.0.1:${api}`, `--listen=127.0.0.1:${voice}`, '--fdname=api:voxb-tts'],
      ...[...environment, ...hashes, '--setenv=OLLAMA_HOST=127.0.0.1:9', `--setenv=PATH=${process.env['PATH']}`],
      ...[...aichatCommand, 'serve', 'api', 'voxb-tts'],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const ended = once(child, 'exit')
  try {
    while (!said.includes(`Listening on 127.0.0.1:${voice}`)) await once(child.stderr, 'data')
    // The connection that starts the service waits in its queue.
    const response = await fetch(`http://127.0.0.1:${api}/`)
    assert.is(((await response.json()) as { name: string }).name, 'aichat-toolkit')
    const speech = await fetch(`http://127.0.0.1:${voice}/`)
    assert.is(((await speech.json()) as { server: string }).server, 'voxb-tts')
    while (!said.includes(`serves the API on http://127.0.0.1:${api}`)) await once(child.stderr, 'data')
    child.kill('SIGTERM')
    const [code] = (await ended) as [number | null]
    assert.is(code, 0)
  } finally {
    child.kill('SIGKILL')
  }
})

inner('sockets are taken by name, and refused with every name that fits no server', async () => {
  const passed = (names: string, count: string, servers = ['api', 'voxa-tts'], forPid = '7') =>
    passedSockets({ LISTEN_PID: forPid, LISTEN_FDS: count, LISTEN_FDNAMES: names }, servers, 7)
  assert.equal(
    [...passed('voxa-tts:api', '2')],
    [
      ['voxa-tts', 3],
      ['api', 4],
    ],
  )
  for (const name of ['', 'unknown', 'aichat.socket']) assert.equal([...passed(name, '1')], [['api', 3]])
  assert.equal([...passed('api', '1', ['api'], '8')], [], 'those of another process')
  for (const count of ['', '0', '-1', '1e3', 'x']) assert.equal([...passed('api', count)], [])
  const refused = await rejects(
    Promise.resolve().then(() => passed('api:web:api', '3')),
    'configuration',
    /fit no server/,
  )
  assert.equal(refused.details.slice(0, 2), ['socket 2 is called "web"', 'two sockets are called api'])
})

inner.run()
