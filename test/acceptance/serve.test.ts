import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { aichatCommand } from '../command.ts'
import { completionEvents, openStandIn } from '../fake-provider.ts'
import { pluginAt } from '../installation.ts'
import { suite } from '../suite.ts'
import { type Ran, runMain } from '../terminal.ts'

const test = suite('aichat serve api')
const homes: string[] = []
test.after(() => {
  for (const home of homes) rmSync(home, { recursive: true, force: true })
})

test('says where it serves on stderr, nothing on stdout, and ends cleanly with exit 0', async () => {
  await withDaemon({}, async ({ url, child, output }) => {
    assert.match(output.stderr, /serves the API on http:\/\/127\.0\.0\.1:\d+/)
    assert.equal(await (await fetch(`${url}/ready`)).json(), { status: 'ready' })
    child.kill('SIGTERM')
    const [code] = await once(child, 'exit')
    assert.is(code, 0)
    assert.is(output.stdout, '')
  })
})

test('a terminal that goes is no reason to stop, where stdin is none', async () => {
  await withDaemon({}, async ({ url, child }) => {
    child.kill('SIGHUP')
    assert.equal(await (await fetch(`${url}/ready`)).json(), { status: 'ready' })
    child.kill('SIGTERM')
    const [code] = await once(child, 'exit')
    assert.is(code, 0)
  })
})

test('a stop lets the answer in flight finish', async () => {
  const events = completionEvents(['one ', 'two ', 'three ', 'four '])
  const provider = await openStandIn(async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of events) {
      response.write(event)
      await new Promise((resolve) => setTimeout(resolve, 150))
    }
    response.end()
  })
  await withDaemon({ CUSTOM_API_KEY: 'sk-test-123456' }, async ({ url, child, token }) => {
    const headers = { 'content-type': 'application/json', ...token }
    const send = (path: string, body: unknown) =>
      fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    assert.is((await send('/api/plugins/install', pluginAt(provider.url))).status, 201)
    const response = await send('/api/chat', {
      plugin: 'custom',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
    })
    let text = ''
    for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
      if (text === '') child.kill('SIGTERM')
      text += Buffer.from(piece).toString('utf8')
    }
    assert.match(text, /four/)
    assert.match(text, /\[DONE\]/)
    const [code] = child.exitCode === null ? await once(child, 'exit') : [child.exitCode]
    assert.is(code, 0)
  })
  await provider.close()
})

test('a taken port is exit 69 and names the port; no other port is picked', async () => {
  const blocker = createServer().listen(0, '127.0.0.1')
  await once(blocker, 'listening')
  const { port } = blocker.address() as { port: number }
  const child = start({}, ['--port', String(port)])
  const output = collect(child)
  const [code] = await once(child, 'exit')
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
  const { code, stderr } = await refused({ HF_ENDPOINT: 'http://127.0.0.1:9' }, ['voxb-tts', '--pull', '--port', '0'])
  assert.is(code, 69)
  assert.match(stderr, /pulling weights/)
  assert.not.match(stderr, /serves voxb-tts on/)
})

test('a port where another aichat serves says so', async () => {
  await withDaemon({}, async ({ url }) => {
    const { code, stderr } = await refused({}, ['api', '--port', new URL(url).port])
    assert.is(code, 69)
    assert.match(stderr, /aichat serves there already/)
  })
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
  const home = mkdtempSync(join(tmpdir(), 'aichat-serve-'))
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

async function withDaemon(
  environment: Record<string, string>,
  run: (daemon: {
    url: string
    child: ChildProcess
    output: { stdout: string; stderr: string }
    token: Record<string, string>
  }) => Promise<void>,
): Promise<void> {
  const child = start(environment, ['--port', '0'])
  const output = collect(child)
  try {
    while (!/http:\/\/\S+:\d+/.test(output.stderr)) {
      if (child.exitCode !== null) throw new Error(output.stderr)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(output.stderr)![0]
    const registered = await fetch(`${url}/api/auth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ username: 'admin', password: 'Passw0rd' }),
    })
    const { token } = (await registered.json()) as { token?: string }
    await run({ url, child, output, token: token ? { authorization: `Bearer ${token}` } : {} })
  } finally {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
  }
}
