// Some with --all only: many processes.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer } from 'node:net'
import * as assert from 'uvu/assert'
import { temporaryFolder } from '../helpers/folders.ts'
import { aichatCommand } from '../helpers/program/command.ts'
import { removeHome, type SpawnedDaemon, spawnDaemon } from '../helpers/program/daemon.ts'
import { type Ran, runMain } from '../helpers/program/terminal.ts'
import { json, openStandIn } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('aichat serve api')
const homes: string[] = []
test.after(() => {
  for (const home of homes) rmSync(home, { recursive: true, force: true })
})

test('says where it serves on stderr, nothing on stdout, and ends cleanly with exit 0', async () => {
  await withDaemon(async ({ url, output, stop }) => {
    assert.match(output.stderr, /serves the API on http:\/\/127\.0\.0\.1:\d+/)
    assert.equal(await (await fetch(`${url}/ready`)).json(), { status: 'ready' })
    assert.is(await stop(), 0)
    assert.is(output.stdout, '')
  })
})

test.whole('a terminal that goes is no reason to stop, where stdin is none', async () => {
  await withDaemon(async ({ url, child, stop }) => {
    child.kill('SIGHUP')
    assert.equal(await (await fetch(`${url}/ready`)).json(), { status: 'ready' })
    assert.is(await stop(), 0)
  })
})

test('a taken port is exit 69 and names the port; no other port is picked', async () => {
  const blocker = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await once(blocker, 'listening')
  const { port } = blocker.address() as { port: number }
  const child = start({}, ['--port', String(port)])
  const output = collect(child)
  const [code] = await once(child, 'close')
  assert.is(code, 69)
  assert.match(output.stderr, new RegExp(`port ${port} is taken`))
  blocker.close()
})

test('an address of another machine is reported as such, not as a taken port', async () => {
  // 203.0.113.0/24 is kept for documentation (RFC 5737).
  for (const host of ['203.0.113.7', 'nowhere.invalid']) {
    const { code, stderr } = await refused({}, ['api', '--host', host, '--port', '0'])
    assert.is(code, 69)
    assert.match(stderr, `This machine has no address ${host}`)
  }
})

test('--pull asks the hub for missing weights before anything is served', async () => {
  const hub = await openStandIn((_request, response) => json(response, 404, { error: 'Repository not found' }))
  const { code, stderr } = await refused({ HF_ENDPOINT: hub.url }, ['voxb-tts', '--pull', '--port', '0'])
  await hub.close()
  assert.is(code, 67)
  assert.ok(hub.received.length > 0)
  assert.match(stderr, /pulling weights/)
  assert.not.match(stderr, /serves voxb-tts on/)
})

for (const [what, words] of [
  ['an unknown server', ['nope']],
  ['a port that is none', ['--port', 'http']],
  ['a port out of range', ['--port', '70000']],
  ['a pull for a server without weights', ['api', '--pull']],
] as const) {
  test(`${what} is a usage error`, async () => {
    assert.is((await refused({}, words)).code, 64)
  })
}

test.run()

/** A start that must fail, in this process. One that serves instead is ended, with exit code 0. */
function refused(environment: Record<string, string>, words: readonly string[]): Promise<Ran> {
  const signal = AbortSignal.timeout(30_000)
  return runMain(['serve', ...words], { environment: { ...inNewHome(), ...environment }, signal })
}

function inNewHome(): Record<string, string> {
  const home = temporaryFolder()
  homes.push(home)
  return { AICHAT_HOME: home, HOME: home, OLLAMA_HOST: '127.0.0.1:9' }
}

function start(environment: Record<string, string>, words: readonly string[]): ChildProcess {
  const [program, ...args] = aichatCommand
  return spawn(program!, [...args, 'serve', 'api', ...words], {
    env: { PATH: process.env['PATH'], ...inNewHome(), ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

function collect(child: ChildProcess): { stdout: string; stderr: string } {
  const output = { stdout: '', stderr: '' }
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text
  })
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text
  })
  return output
}

async function withDaemon(run: (daemon: SpawnedDaemon) => Promise<void>): Promise<void> {
  const daemon = await spawnDaemon()
  try {
    await run(daemon)
  } finally {
    await daemon.stop('SIGKILL')
    removeHome(daemon)
  }
}
