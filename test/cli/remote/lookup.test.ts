import * as assert from 'uvu/assert'
import { pluginAt } from '../../helpers/program/installation.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('a host name that is not found')

// RFC 6761, section 6.4: a name below .invalid never exists.
const place = 'nowhere.invalid'
const told = new RegExp(`host name ${place} (?:was not found|could not be looked up): check .*network`)

test('is reported for every target, and nothing else is blamed', async () => {
  using home = openFastHome({ CUSTOM_API_KEY: 'sk-of-the-test' })
  const plugin = pluginAt(`https://${place}`, {
    retry: { attempts: 1 },
    models_source: { url: `https://${place}/v1/models`, format: 'openai' },
  })
  const installed = await home.aichat(['plugin', 'install', '-', '--activate'], { input: JSON.stringify(plugin) })
  assert.is(installed.code, 0, installed.stderr)
  for (const words of [
    ['chat', 'hi', '--no-fallback'],
    ['chat', 'hi'],
    ['models', 'refresh', 'custom'],
    ['status', '--server', `https://${place}`],
    ['plugin', 'install', `https://${place}/plugin.json`],
  ]) {
    const { code, stderr } = await home.aichat(words)
    assert.match(stderr, told, words.join(' '))
    assert.ok([69, 1].includes(code!), `${words.join(' ')}: ${code}`)
    assert.not.match(stderr, /getaddrinfo|Start one there/, words.join(' '))
  }
})

test.run()
