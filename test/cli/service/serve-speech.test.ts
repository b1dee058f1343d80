// Some with --all only: many processes.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as assert from 'uvu/assert'
import { aichatCommand, openHome } from '../../helpers/program/command.ts'
import { type Ran, runMain } from '../../helpers/program/terminal.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat serve, the speech servers')
const home = openHome()
test.after(() => home.remove())

const portFlags = ['--voxa-tts-port', '0', '--voxb-tts-port', '0', '--voxb-tts-1.6b-port', '0']

test.whole(
  'without a name the API and the three speech servers start on the API’s host, and all end with SIGTERM',
  () =>
    withServe(['--port', '0', ...portFlags], 4, async (urls, child) => {
      assert.equal([...urls.keys()], ['the API', 'voxa-tts', 'voxb-tts', 'voxb-tts-1.6b'])
      for (const url of urls.values()) {
        assert.match(url, /^http:\/\/127\.0\.0\.1:/)
        assert.is((await fetch(`${url}/health`)).status, 200)
      }
      child.kill('SIGTERM')
      const [code] = await once(child, 'close')
      assert.is(code, 0)
      for (const url of urls.values()) assert.is(await fetch(url).catch(() => 'gone'), 'gone')
    }),
)

test.whole('one speech server takes --port, --host and --model, and says which variant it has', () =>
  withServe(['voxa-tts', '--host', '127.0.0.1', '--port', '0', '--model', 'base-0.6b'], 1, async (urls) => {
    const health = (await (await fetch(`${urls.get('voxa-tts')}/health`)).json()) as { model: string }
    assert.is(health.model, 'base-0.6b')
  }),
)

test.whole('a speech server on its own binds every address, as specified, and warns', () =>
  withServe(['voxb-tts-1.6b', '--port', '0', '--device', 'cuda'], 1, async (urls, child, said) => {
    assert.match(urls.get('voxb-tts-1.6b')!, /^http:\/\/0\.0\.0\.0:/)
    const { port } = new URL(urls.get('voxb-tts-1.6b')!)
    assert.match(said(), `(here: http://127.0.0.1:${port})`, 'an address at which it can be reached')
    const health = (await (await fetch(`http://127.0.0.1:${port}/health`)).json()) as { device: string; reason: string }
    assert.is(health.device, 'cpu')
    assert.match(health.reason, /not on cuda/)
    while (!/needs no token.*0\.0\.0\.0/.test(said())) await once(child.stderr!, 'data')
    const other = await fetch(`http://127.0.0.2:${port}/health`)
    assert.is(other.status, 200, 'another address of this machine')
  }),
)

test('flags that fit no server named are usage errors', async () => {
  for (const words of [
    ['nothing'],
    ['voxa-tts', '--model', 'large'],
    ['voxb-tts', '--model', 'base-0.6b'],
    ['voxa-tts', '--device', 'cpu'],
    ['voxb-tts-1.6b', '--device', 'quantum'],
    ['voxa-tts', 'voxb-tts', '--port', '0'],
    ['voxa-tts', '--port', '0', '--voxb-tts-port', '0'],
    ['voxa-tts', '--port', '99999'],
  ]) {
    const { code, stdout, stderr } = await refused(words)
    assert.equal([code, stdout], [64, ''], `${words.join(' ')}: ${stderr}`)
  }
})

test('a port that browsers block is refused in one line: the listening library would take another one', async () => {
  const { code, stdout, stderr } = await refused(['api', '--port', '6000'])
  assert.equal([code, stdout], [64, ''])
  assert.is(stderr, 'aichat: Invalid port 6000: browsers block it, choose another with --port\n')
})

test.whole(
  'a taken port ends the command with 69, and names the server, the process on the port, and the option to use',
  async () => {
    const other = createServer((_, response) => response.end('hello'))
    other.listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const local = ['--host', '127.0.0.1', '--port']
    const strange = await refused(['voxb-tts', ...local, String(port)])
    assert.is(strange.code, 69)
    assert.match(strange.stderr, `The port ${port} is taken, so voxb-tts cannot start\n`)
    assert.match(strange.stderr, `or choose another port: --port\n`)
    other.closeAllConnections()
    other.close()
    await withServe(['voxa-tts', ...local, '0'], 1, async (urls) => {
      const taken = new URL(urls.get('voxa-tts')!).port
      const flags = ['--voxa-tts-port', taken, '--voxb-tts-port', '0', '--voxb-tts-1.6b-port', '0']
      const second = await refused([...local, '0', ...flags])
      assert.is(second.code, 69)
      assert.match(second.stderr, `port ${taken} is taken, so voxa-tts cannot start: the voxa-tts of an aichat (pid `)
      assert.match(second.stderr, 'or choose another port: --voxa-tts-port\n')
      const api = await refused(['api', ...local, taken])
      assert.match(api.stderr, `so api cannot start: the voxa-tts of an aichat (pid `)
      const two = await refused([...local, taken, ...flags])
      assert.match(two.stderr, /^aichat: 2 servers cannot start\n/)
      for (const name of ['api', 'voxa-tts'])
        assert.match(two.stderr, `  The port ${taken} is taken, so ${name} cannot`)
    })
  },
)

/** A start that must fail, in this process. One that serves instead is ended, with exit code 0. */
function refused(words: readonly string[]): Promise<Ran> {
  const environment = { AICHAT_HOME: home.folder, HOME: home.folder, OLLAMA_HOST: '127.0.0.1:9' }
  return runMain(['serve', ...words], { environment, signal: AbortSignal.timeout(30_000) })
}

/** Runs `aichat serve`, waits until so many servers listen, and ends it. */
async function withServe(
  words: readonly string[],
  count: number,
  work: (urls: ReadonlyMap<string, string>, child: ChildProcess, said: () => string) => Promise<void>,
): Promise<void> {
  const [program, ...args] = aichatCommand
  const child = spawn(program!, [...args, 'serve', ...words], {
    env: { PATH: process.env['PATH'], AICHAT_HOME: home.folder, HOME: home.folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const closed = once(child, 'close')
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  try {
    const urls = () =>
      new Map([...said.matchAll(/ serves (\S+|the API) on ([^\s"]+)/g)].map(([, name, url]) => [name!, url!]))
    while (urls().size < count) {
      const ended = await Promise.race([once(child.stderr, 'data').then(() => false), closed.then(() => true)])
      if (ended) throw new Error(`serve ended: ${said}`)
    }
    await work(urls(), child, () => said)
  } finally {
    child.kill('SIGTERM')
    await closed
  }
}

test.run()
