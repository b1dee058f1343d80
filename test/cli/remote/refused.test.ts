import * as assert from 'uvu/assert'
import { pluginAt } from '../../helpers/program/installation.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { openStandIn } from '../../helpers/providers/fake-provider.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('an address at which nothing listens')

test('is named for every target, with the next step', async () => {
  const place = await closedPlace()
  using home = openFastHome({ CUSTOM_API_KEY: 'sk-of-the-test' })
  const plugin = pluginAt(`http://${place}`, {
    retry: { attempts: 1 },
    models_source: { url: `http://${place}/v1/models`, format: 'openai' },
  })
  const installed = await home.aichat(['plugin', 'install', '-', '--activate'], { input: JSON.stringify(plugin) })
  assert.is(installed.code, 0, installed.stderr)
  for (const words of [
    ['chat', 'hi', '--no-fallback'],
    ['chat', 'hi'],
    ['models', 'refresh', 'custom'],
    ['plugin', 'install', `http://${place}/plugin.json`],
  ]) {
    const { stderr } = await home.aichat(words)
    assert.match(stderr, `nothing listens on ${place} (connection refused): start the service there`, words.join(' '))
    assert.not.match(stderr, /ECONNREFUSED/, words.join(' '))
  }
})

test('is named for a server, with the source of the address', async () => {
  const place = await closedPlace()
  using home = openFastHome()
  const flag = await home.aichat(['status', '--server', `http://${place}`])
  assert.is(flag.code, 69)
  assert.match(flag.stderr, `No aichat answers at http://${place}: nothing listens on ${place} (connection refused)`)
  assert.match(flag.stderr, /Start one there: aichat serve\n/)
  assert.not.match(flag.stderr, /The address is that of/)
  const { stderr } = await home.aichat(['status'], { environment: { AICHAT_SERVER: place } })
  assert.match(stderr, 'The address is that of AICHAT_SERVER or the setting server')
  // The port of the discard service: no HTTP client calls it.
  const blocked = await home.aichat(['status', '--server', '127.0.0.1:9'])
  assert.match(blocked.stderr, 'its port is one that browsers and HTTP clients block')
})

/** An address of this machine at which nothing listens. */
async function closedPlace(): Promise<string> {
  const { host, close } = await openStandIn(() => {})
  await close()
  return host
}

test.run()
