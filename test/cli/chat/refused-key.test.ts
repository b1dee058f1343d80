import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { pluginAt } from '../../helpers/program/installation.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { json, openStandIn } from '../../helpers/providers/fake-provider.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('a key that the provider refuses')

const key = 'key-0123456789-canary'

const places: readonly {
  readonly name: string
  readonly environment?: (folder: string) => Record<string, string>
  readonly prepare?: (folder: string) => void
  readonly told: RegExp
}[] = [
  {
    name: 'the environment',
    environment: () => ({ CUSTOM_API_KEY: key }),
    told: /The key is CUSTOM_API_KEY from the environment: check at Custom .* or set another there/,
  },
  {
    name: 'a file that a variable names',
    environment: (folder) => ({ CUSTOM_API_KEY_FILE: join(folder, 'key.txt') }),
    prepare: (folder) => writeFileSync(join(folder, 'key.txt'), key),
    told: /The key is CUSTOM_API_KEY from the file that CUSTOM_API_KEY_FILE names/,
  },
  {
    name: 'the stored secrets',
    prepare: (folder) =>
      writeFileSync(join(folder, 'secrets.json'), JSON.stringify({ CUSTOM_API_KEY: key }), { mode: 0o600 }),
    told: /The key is CUSTOM_API_KEY from the file secrets\.json: .* store another: aichat secret set CUSTOM_API_KEY/,
  },
]

for (const { name, environment, prepare, told } of places)
  test(`is named with its provider and its place, ${name}, wherever it is used, and its value is not shown`, async () => {
    await using provider = await openStandIn((_request, response) =>
      json(response, 401, { error: { message: `Incorrect API key provided: ${key}`, code: 'invalid_api_key' } }),
    )
    using home = openFastHome()
    prepare?.(home.folder)
    const options = { environment: environment?.(home.folder) ?? {} }
    const plugin = pluginAt(provider.url, {
      name: 'Custom',
      models_source: { url: `${provider.url}/v1/models`, format: 'openai' },
    })
    const input = JSON.stringify(plugin)
    assert.is((await home.aichat(['plugin', 'install', '-', '--activate'], { input })).code, 0)
    for (const words of [
      ['chat', 'hi'],
      ['chat', 'hi', '--no-fallback'],
      ['plugin', 'test', 'custom'],
      ['models', 'refresh', 'custom'],
    ]) {
      const { code, stdout, stderr } = await home.aichat(words, options)
      const output = stdout + stderr
      assert.is.not(code, 0, words.join(' '))
      assert.match(output, /refused the key/, words.join(' '))
      assert.match(output, told, words.join(' '))
      assert.not.match(output, key)
    }
  })

test('of a plugin that names none is told as such', async () => {
  await using provider = await openStandIn((_request, response) =>
    json(response, 401, { error: { message: 'No key' } }),
  )
  using home = openFastHome()
  const plugin = pluginAt(provider.url, { name: 'Custom', auth: { header: '', key_env: '' } })
  await home.aichat(['plugin', 'install', '-', '--activate'], { input: JSON.stringify(plugin) })
  const { code, stderr } = await home.aichat(['chat', 'hi'])
  assert.is(code, 77)
  assert.match(stderr, /Custom wants a key, and its plugin names none: set auth\.key_env/)
})

test.run()
