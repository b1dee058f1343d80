import * as assert from 'uvu/assert'
import { pluginAt } from '../../helpers/program/installation.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { openStandIn } from '../../helpers/providers/fake-provider.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('a provider or a server that cannot be reached')

// RFC 6761, section 6.4: a name below .invalid never exists.
const nowhere = 'nowhere.invalid'

for (const { what, scheme, place, told, untold, more } of [
  {
    what: 'a host name that is not found',
    scheme: 'https',
    place: async () => nowhere,
    told: () => new RegExp(`host name ${nowhere} (?:was not found|could not be looked up): check .*network`),
    untold: /getaddrinfo|Start one there/,
    more: [['status', '--server', `https://${nowhere}`]],
  },
  {
    what: 'an address at which nothing listens',
    scheme: 'http',
    place: closedPlace,
    told: (place: string) => `nothing listens on ${place} (connection refused): start the service there`,
    untold: /ECONNREFUSED/,
    more: [],
  },
])
  test(`${what} is named for every target with the next step, and nothing else is blamed`, async () => {
    const found = await place()
    const url = `${scheme}://${found}`
    using home = openFastHome({ CUSTOM_API_KEY: 'sk-of-the-test' })
    const models_source = { url: `${url}/v1/models`, format: 'openai' }
    const plugin = pluginAt(url, { retry: { attempts: 1 }, models_source })
    const installed = await home.aichat(['plugin', 'install', '-', '--activate'], { input: JSON.stringify(plugin) })
    assert.is(installed.code, 0, installed.stderr)
    for (const words of [
      ['chat', 'hi', '--no-fallback'],
      ['chat', 'hi'],
      ['models', 'refresh', 'custom'],
      ['plugin', 'install', `${url}/plugin.json`],
      ...more,
    ]) {
      const { code, stderr } = await home.aichat(words)
      assert.match(stderr, told(found), words.join(' '))
      assert.ok([69, 1].includes(code!), `${words.join(' ')}: ${code}`)
      assert.not.match(stderr, untold, words.join(' '))
    }
  })

test('a server at which nothing listens is named, with the source of the address', async () => {
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
