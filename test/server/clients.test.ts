import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import * as assert from 'uvu/assert'
import { openInstallation, pluginAt } from '../helpers/program/installation.ts'
import { type Answer, completion, completionEvents, json, openStandIn } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('other people’s client libraries')

test('OpenAI’s client lists models and fetches one', () =>
  withClients(plainProvider, async ({ openai, anthropic }) => {
    const ids = []
    for await (const model of openai.models.list()) ids.push(model.id)
    assert.ok(ids.includes('custom-model'))
    assert.is((await openai.models.retrieve('custom-model')).id, 'custom-model')
    // The name that -m and `aichat connect` take, while the list shows the active plugin's without it.
    assert.is((await openai.models.retrieve('custom:custom-model')).id, 'custom:custom-model')
    assert.is((await anthropic.models.retrieve('custom:custom-model')).id, 'custom:custom-model')
  }))

test('OpenAI’s client understands our refusals as its own errors', () =>
  withClients(plainProvider, async ({ openai }) => {
    const failure = await openai.chat.completions
      .create({ model: 'custom-model', messages: [] })
      .catch((reason: unknown) => reason)
    assert.instance(failure, OpenAI.BadRequestError)
    assert.match((failure as Error).message, /messages/)
    const missing = await openai.models.retrieve('nope').catch((reason: unknown) => reason)
    assert.instance(missing, OpenAI.NotFoundError)
  }))

test('Anthropic’s client finds the id of an answer and of a failure in its own header', () =>
  withClients(plainProvider, async ({ anthropic }) => {
    const messages = [{ role: 'user' as const, content: 'Hi' }]
    const reply = await anthropic.messages.create({ model: 'custom-model', max_tokens: 9, messages })
    assert.match(String(reply._request_id), /^[\w-]{36}$/)
    const failure = await anthropic.messages
      .create({ model: 'custom-model', max_tokens: 0, messages })
      .catch((reason: unknown) => reason)
    assert.instance(failure, Anthropic.BadRequestError)
    assert.match(String((failure as { requestID: unknown }).requestID), /^[\w-]{36}$/)
  }))

test('Anthropic’s client counts tokens, without asking a provider', () =>
  withClients(plainProvider, async ({ anthropic, provider }) => {
    const messages = [{ role: 'user' as const, content: 'One two three four' }]
    const { input_tokens } = await anthropic.messages.countTokens({ model: 'custom-model', messages })
    assert.ok(input_tokens >= 4 && input_tokens < 40, String(input_tokens))
    const response = await fetch(`${anthropic.baseURL}/api/chat/tokens`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ messages }),
    })
    assert.equal(await response.json(), { input_tokens })
    assert.is(provider.received.length, 0)
  }))

test('Anthropic’s client understands our refusals as its own errors', () =>
  withClients(plainProvider, async ({ anthropic }) => {
    const failure = await anthropic.messages
      .create({ model: 'custom-model', max_tokens: 10, messages: [] })
      .catch((reason: unknown) => reason)
    assert.instance(failure, Anthropic.BadRequestError)
    assert.match((failure as Error).message, /invalid_request_error/)
  }))

test.run()

const plainProvider: Answer = (request, response) => {
  if (!JSON.parse(request.body).stream) return json(response, 200, completion('Hello there', 'custom-model'))
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.end(completionEvents(['Hello', ' there'], 'custom-model').join(''))
}

async function withClients(
  answer: Answer,
  run: (parts: {
    openai: OpenAI
    anthropic: Anthropic
    provider: Awaited<ReturnType<typeof openStandIn>>
  }) => Promise<void>,
): Promise<void> {
  await using provider = await openStandIn(answer)
  await using installation = openInstallation({ CUSTOM_API_KEY: 'sk-test-123456' })
  await installation.app.plugins.install(pluginAt(provider.url))
  await installation.app.plugins.activate('custom')
  const url = await installation.serve()
  await run({
    openai: new OpenAI({ baseURL: `${url}/v1`, apiKey: 'ours', maxRetries: 0 }),
    anthropic: new Anthropic({ baseURL: url, apiKey: 'ours', maxRetries: 0 }),
    provider,
  })
}
