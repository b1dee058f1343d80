import * as assert from 'uvu/assert'
import { unknownPlugin } from '../../src/chat/model-address.ts'
import { fixture } from '../helpers/fixture.ts'
import { openInstallation, pluginAt } from '../helpers/program/installation.ts'
import { openFastHome } from '../helpers/program/terminal.ts'
import { completion, json, localRunner, openStandIn } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('a model that begins with an unknown plugin')

test('is refused with the nearest plugin, on the command line', async () => {
  using home = openFastHome()
  for (const words of [['--dry-run'], []]) {
    const { code, stderr } = await home.aichat(['chat', '-m', 'opnai:gpt-4.1-mini', ...words, 'hi'])
    assert.is(code, 67)
    assert.match(stderr, /Plugin "opnai" not found; did you mean openai\?\n {2}For that model: openai:gpt-4\.1-mini\n/)
  }
  const { stderr } = await home.aichat(['plugin', 'show', 'opnai'])
  assert.match(stderr, /Plugin "opnai" not found; did you mean openai\?/)
})

test('is a 404 over HTTP, in each shape of a request, and nothing is sent', () =>
  withRunner(async ({ post, requests }) => {
    const messages = [{ role: 'user', content: 'Hi' }]
    for (const [path, body] of [
      ['/api/chat', { model: 'opnai:gpt-4.1-mini', messages }],
      ['/api/chat', { plugin: 'opnai', messages }],
      ['/v1/chat/completions', { model: 'opnai:gpt-4.1-mini', messages }],
    ] as const) {
      const { status, text } = await post(path, body)
      assert.is(status, 404, text)
      assert.match(text, 'did you mean openai?')
    }
    assert.is(requests(), 0)
  }))

for (const [asked, meant] of fixture<readonly (readonly [asked: string, meant: string])[]>('mistyped-models.json'))
  test(`${asked} is refused before anything is sent, through every door`, () =>
    withRunner(async ({ post, requests }) => {
      const messages = [{ role: 'user', content: 'My diary' }]
      for (const [path, body] of [
        ['/api/chat', { model: asked, messages }],
        ['/api/chat', { model: asked, messages, stream: true }],
        ['/api/chat/preview', { model: asked, messages }],
        ['/v1/chat/completions', { model: asked, messages }],
        ['/v1/completions', { model: asked, prompt: 'My diary' }],
        ['/v1/responses', { model: asked, input: 'My diary' }],
        ['/v1/messages', { model: asked, messages, max_tokens: 10 }],
        ['/ollama/api/chat', { model: asked, messages }],
        ['/ollama/api/generate', { model: asked, prompt: 'My diary' }],
      ] as const) {
        const { status, text } = await post(path, body)
        assert.is(status, 404, `${path}: ${text}`)
        assert.match(text, `did you mean ${meant}?`, path)
      }
      assert.is(requests(), 0)
    }))

test('is another plugin’s model where that lists the rest', () => {
  const plugins = [pluginAt('http://127.0.0.1:9', { id: 'one', model_map: ['model-one'] })]
  const unknown = unknownPlugin('quite-different:model-one', plugins as never)!
  assert.ok(unknown.isCertain)
  assert.equal(unknown.error.details[0], 'For that model: one:model-one')
})

test('is a model with a colon of its own where no plugin is meant, and is asked for', () =>
  withRunner(async ({ ask, requests }) => {
    for (const model of [
      'llama3:8b',
      'llama:7b',
      'llama3.2:1b-instruct-q4_0',
      'llava:7b',
      'olmo2:13b',
      'deepseek-r1:1.5b',
      'meta-llama/llama-3:free',
      'ft:gpt-4o:acme',
      'gemma3:4b',
      'anthropic.claude-3-5-sonnet-20240620-v1:0',
      'meta-llama/llama-3-8b',
      'lmstudio-community/qwen',
      'local-model',
    ]) {
      await ask(model)
      assert.match(JSON.stringify(requests('last')), `"model":"${model}"`)
    }
  }))

test('is a model of a plugin that lists it, also where its first word is a runner’s', () => {
  const plugins = [pluginAt('http://127.0.0.1:9', { id: 'my-ollama', model_map: ['ollama/llama3', 'local'] })]
  for (const model of ['ollama/llama3', 'local']) assert.is(unknownPlugin(model, plugins as never), undefined, model)
  assert.ok(unknownPlugin('ollama/mistral', plugins as never)?.isCertain)
})

test('is the local runner’s own where that has it, however near a plugin it is', () =>
  withRunner(async ({ ask }) => {
    const { aichat } = await ask('opnai:gpt-4.1-mini')
    assert.is(aichat.model, 'opnai:gpt-4.1-mini')
  }, 'opnai:gpt-4.1-mini'))

test('that is near a plugin’s id by chance is asked for, with a remark', () =>
  withRunner(async ({ ask }) => {
    const { aichat } = await ask('mixtral:8x7b')
    assert.match(aichat.warnings.join('\n'), 'plugin mixtral not found; did you mean mistral:8x7b?')
  }))

test('`local:NAME` asks the local runner alone, and for no other model', () =>
  withRunner(async ({ ask, requests }) => {
    for (const model of ['local:llama3', 'local:llama3:latest', 'local:']) {
      const { aichat } = await ask(model)
      assert.equal([aichat.runner, aichat.model], ['ollama', 'llama3:latest'], model)
    }
    const refused = await ask('local:mistral').then(
      () => undefined,
      (reason) => reason,
    )
    assert.is(refused?.message, 'Local model "mistral" not found')
    assert.match(String(refused.details), 'local:llama3:latest')
    assert.is(requests(), 0)
  }))

test('`local:NAME` says that no local runner answers where there is none, also beside an active plugin', async () => {
  using home = openFastHome({ OLLAMA_HOST: '127.0.0.1:9' })
  for (const words of [['--dry-run'], [], ['--local-only']]) {
    const { code, stderr } = await home.aichat(['chat', '-m', 'local:x', ...words, 'hi'])
    assert.is(code, 69)
    assert.match(stderr, /No local model runner answers, so local:x cannot/)
    assert.not.match(stderr, /No model is set up|plugin activate/)
  }
})

test.run()

interface Asking {
  post(path: string, body: object): Promise<{ status: number; text: string }>
  ask(model: string): Promise<{ aichat: { runner: string | null; model: string; warnings: readonly string[] } }>
  requests(which: 'last'): unknown
  requests(): number
}

/** An installation with an active plugin that answers everything, and a local runner with one model. */
async function withRunner(run: (asking: Asking) => Promise<void>, model = 'llama3:latest'): Promise<void> {
  await using provider = await openStandIn((_request, response) => json(response, 200, completion('Hello', 'fake')))
  await using runner = await openStandIn(localRunner('Hello', model))
  await using installation = openInstallation({ CUSTOM_API_KEY: 'sk-test-123456', OLLAMA_HOST: runner.url })
  const { app } = installation
  const { chat } = await import('../../src/operations/chat.ts')
  const { askInProcess, localOwner } = await import('../../src/operations/ask.ts')
  await app.plugins.install(pluginAt(provider.url))
  await app.plugins.activate('custom')
  const url = await installation.serve()
  await run({
    async post(path, body) {
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      return { status: response.status, text: await response.text() }
    },
    ask: (asked) =>
      askInProcess(app, localOwner).ask(chat, { model: asked, messages: [{ role: 'user', content: 'Hi' }] }) as never,
    requests: ((which?: 'last') =>
      which ? JSON.parse(provider.received.at(-1)!.body) : provider.received.length) as Asking['requests'],
  })
}
