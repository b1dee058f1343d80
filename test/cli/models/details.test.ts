import * as assert from 'uvu/assert'
import { pluck } from '../../helpers/pluck.ts'
import type { Home } from '../../helpers/program/command.ts'
import { openInstallation, pluginAt } from '../../helpers/program/installation.ts'
import { openFastHome } from '../../helpers/program/terminal.ts'
import { type Answer, json, openStandIn } from '../../helpers/providers/fake-provider.ts'
import { suite } from '../../helpers/suite.ts'

const test = suite('aichat models show and ps')

test('models list names each by what -m takes', () =>
  withRunner(async (home) => {
    const listed = JSON.parse((await home.aichat(['models', 'list', 'custom', '--json'])).stdout).models
    assert.equal(pluck(listed, 'name', 'id'), [['custom:large', 'large']])
    const { stdout } = await home.aichat(['models', 'list', '--installed'])
    assert.match(stdout, /^MODEL +PLUGIN +TYPE +SIZE\nlocal:llama3:latest +ollama +chat +4\.7 GB\n/)
    assert.match(stdout, /\nnomic-embed-text +ollama +embedding/, 'an embedding model is named by --embedding-model')
  }))

test('a model of a plugin is shown with context, price and capabilities', () =>
  withRunner(async (home) => {
    const prices = ['prices', 'set', 'large', '--plugin', 'custom', '--input', '2.5', '--output', '10']
    assert.is((await home.aichat(prices)).code, 0)
    for (const name of ['custom:large', 'large']) {
      const { stdout, stderr } = await home.aichat(['models', 'show', name])
      assert.is(stderr, '')
      assert.match(stdout, /^Name +custom:large\n/)
      assert.match(stdout, /\nContext +128,000 tokens, as the plugin file says\n/)
      assert.match(stdout, /\nCapabilities +tools, vision\n/)
      assert.match(stdout, /\nPrice +\$2\.5 in, \$10 out per million tokens \(operator\)/)
    }
    const shown = JSON.parse((await home.aichat(['models', 'show', 'custom:large', '--json'])).stdout)
    assert.equal([shown.context_window, shown.context_source, shown.price.input], [128_000, 'plugin', '2.5'])
  }))

test('a model of this machine is shown with size, quantisation, family, licence and context', () =>
  withRunner(async (home) => {
    for (const name of ['local:llama3:latest', 'llama3', 'local:llama3']) {
      const { stdout } = await home.aichat(['models', 'show', name])
      assert.match(stdout, /^Name +local:llama3:latest\n/)
      for (const [label, value] of [
        ['Context', '8,192 tokens, as its runner says'],
        ['Size', '4.7 GB'],
        ['Parameters', '8.0B'],
        ['Quantisation', 'Q4_0'],
        ['Family', 'llama'],
        ['Licence', 'META LLAMA 3 COMMUNITY LICENSE, Version of April 2024'],
      ])
        assert.match(stdout, new RegExp(`\\n${label} +${value}(?:\\n|$)`))
    }
    const forwarded = await home.aichat(['models', 'show', 'local:big:cloud'])
    assert.match(forwarded.stdout, /\nForwarded to +ollama\.com\n/)
  }))

test('an unknown model is not found, with a suggestion; one of several plugins is asked to be named whole', () =>
  withRunner(async (home) => {
    const { code, stderr } = await home.aichat(['models', 'show', 'custom:larg'])
    assert.is(code, 67)
    assert.match(stderr, 'did you mean custom:large?')
    await home.aichat(['plugin', 'install', '-'], { input: JSON.stringify(document('other')) })
    const several = await home.aichat(['models', 'show', 'large'])
    assert.is(several.code, 67)
    assert.match(several.stderr, /aichat models show custom:large\n +aichat models show other:large/)
    assert.is((await home.aichat(['models', 'show', ''])).code, 65)
    assert.is((await home.aichat(['models', 'show', 'x'.repeat(400)])).code, 65)
  }))

test('over REST the same facts are told, and to clients of Ollama for whole addresses too', async () => {
  const stand = await openStandIn(runner)
  const { app, serve, close } = openInstallation({ OLLAMA_HOST: stand.url, CUSTOM_API_KEY: 'k-0123456789' })
  try {
    await app.plugins.install(document('custom'))
    await app.plugins.activate('custom')
    const url = await serve()
    const get = async (path: string) => (await (await fetch(url + path)).json()) as Record<string, unknown>
    const show = (model: string) =>
      fetch(`${url}/ollama/api/show`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model }),
      })
    assert.is((await get('/api/models/show?model=custom:large'))['context_window'], 128_000)
    assert.is((await get('/api/models/show?model=local:llama3'))['quantization'], 'Q4_0')
    assert.is((await fetch(`${url}/api/models/show?model=nobody`)).status, 404)
    assert.is((await fetch(`${url}/api/models/show`)).status, 400)
    for (const model of ['large', 'custom:large', 'local:llama3:latest', 'llama3', 'llama3:latest']) {
      const shown = await show(model)
      assert.is(shown.status, 200, model)
    }
    const unknown = await show('other:large')
    assert.is(unknown.status, 404)
  } finally {
    await close()
    await stand.close()
  }
})

test.run()

const details = { format: 'gguf', family: 'llama', parameter_size: '8.0B', quantization_level: 'Q4_0' }

const runner: Answer = ({ url, body }, response) => {
  if (url === '/api/tags')
    return json(response, 200, {
      models: [
        { name: 'llama3:latest', size: 4_661_224_676, details, capabilities: ['completion', 'tools'] },
        { name: 'nomic-embed-text', size: 274_302_450, capabilities: ['embedding'] },
        { name: 'big:cloud', remote_host: 'https://ollama.com' },
      ],
    })
  if (url !== '/api/show' || JSON.parse(body).model !== 'llama3:latest') return json(response, 404, { error: 'no' })
  return json(response, 200, {
    license: '\nMETA LLAMA 3 COMMUNITY LICENSE\nVersion of April 2024\n\nMany more lines',
    details,
    model_info: { 'general.architecture': 'llama', 'llama.context_length': 8192 },
    capabilities: ['completion', 'tools'],
  })
}

function document(id: string): Record<string, unknown> {
  const models = { large: { context_window: 128_000, capabilities: ['tools', 'vision'] } }
  return pluginAt('http://127.0.0.1:9', { id, model_map: ['large'], models })
}

async function withRunner(run: (home: Home) => Promise<void>): Promise<void> {
  await using stand = await openStandIn(runner)
  using home = openFastHome({ OLLAMA_HOST: stand.url })
  await home.aichat(['plugin', 'install', '-'], { input: JSON.stringify(document('custom')) })
  await run(home)
}
