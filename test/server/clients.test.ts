import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import * as assert from 'uvu/assert'
import { openInstallation, pluginAt } from '../helpers/program/installation.ts'
import { type Answer, completion, completionEvents, json, openStandIn } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('other people’s client libraries')

test('OpenAI’s client asks and gets a completion', () =>
  withClients(plainProvider, async ({ openai, provider }) => {
    const reply = await openai.chat.completions.create({
      model: 'custom-model',
      messages: [{ role: 'user', content: 'Hi' }],
      seed: 7,
    })
    assert.equal([reply.choices[0]!.message.content, reply.usage!.total_tokens], ['Hello there', 7])
    assert.is(JSON.parse(provider.received[0]!.body).seed, 7)
  }))

test('OpenAI’s client streams', () =>
  withClients(plainProvider, async ({ openai }) => {
    const stream = await openai.chat.completions.create({
      model: 'custom-model',
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
    })
    let text = ''
    let finish: string | null = null
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? ''
      finish = chunk.choices[0]?.finish_reason ?? finish
    }
    assert.is(text, 'Hello there')
    assert.is(finish, 'stop')
  }))

test('OpenAI’s client gets tool calls, whole and streamed', () =>
  withClients(toolProvider, async ({ openai }) => {
    const tools = [
      {
        type: 'function' as const,
        function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
      },
    ]
    const request = { model: 'custom-model', messages: [{ role: 'user' as const, content: 'Weather?' }], tools }
    const reply = await openai.chat.completions.create(request)
    assert.is(reply.choices[0]!.finish_reason, 'tool_calls')
    const runner = openai.chat.completions.stream(request)
    const final = await runner.finalChatCompletion()
    const [call] = final.choices[0]!.message.tool_calls!
    assert.is(call!.type === 'function' && call!.function.arguments, '{"city":"Paris"}')
  }))

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

test('Anthropic’s client asks a provider of the other dialect', () =>
  withClients(plainProvider, async ({ anthropic, provider }) => {
    const reply = await anthropic.messages.create({
      model: 'custom-model',
      max_tokens: 100,
      system: 'Be kind.',
      messages: [{ role: 'user', content: 'Hi' }],
    })
    assert.is(reply.type, 'message')
    assert.equal(
      reply.content.map((block) => (block.type === 'text' ? block.text : block.type)),
      ['Hello there'],
    )
    assert.equal([reply.stop_reason, reply.usage.output_tokens], ['end_turn', 2])
    assert.equal(JSON.parse(provider.received[0]!.body).messages[0], { role: 'system', content: 'Be kind.' })
  }))

test('Anthropic’s client streams text', () =>
  withClients(plainProvider, async ({ anthropic }) => {
    const stream = anthropic.messages.stream({
      model: 'custom-model',
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Hi' }],
    })
    const events: string[] = []
    stream.on('streamEvent', (event) => events.push(event.type))
    const final = await stream.finalMessage()
    assert.equal(
      final.content.map((block) => (block.type === 'text' ? block.text : '')),
      ['Hello there'],
    )
    assert.equal([events[0], events.at(-1)], ['message_start', 'message_stop'])
  }))

test('Anthropic’s client streams tool use', () =>
  withClients(toolProvider, async ({ anthropic }) => {
    const final = await anthropic.messages
      .stream({
        model: 'custom-model',
        max_tokens: 100,
        tools: [{ name: 'weather', input_schema: { type: 'object', properties: { city: { type: 'string' } } } }],
        messages: [{ role: 'user', content: 'Weather?' }],
      })
      .finalMessage()
    const block = final.content.find((candidate) => candidate.type === 'tool_use')
    assert.equal(block?.type === 'tool_use' && block.input, { city: 'Paris' })
    assert.is(final.stop_reason, 'tool_use')
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

test('Anthropic’s client gets a stream that breaks off as an error, not as a short answer', () =>
  withClients(cutProvider, async ({ anthropic }) => {
    const failure = await anthropic.messages
      .stream({ model: 'custom-model', max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] })
      .finalMessage()
      .catch((reason: unknown) => reason)
    assert.instance(failure, Error)
    assert.match((failure as Error).message, /broke off/)
  }))

test('OpenAI’s client gets a stream that breaks off as an error, not as a short answer', () =>
  withClients(cutProvider, async ({ openai }) => {
    const failure = await (async () => {
      const stream = await openai.chat.completions.create({
        model: 'custom-model',
        messages: [{ role: 'user', content: 'Hi' }],
        stream: true,
      })
      for await (const _ of stream);
    })().catch((reason: unknown) => reason)
    assert.instance(failure, Error)
    assert.match((failure as Error).message, /broke off/)
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

const toolProvider: Answer = (request, response) => {
  const call = (args: string) => ({
    index: 0,
    id: 'call_1',
    type: 'function',
    function: { name: 'weather', arguments: args },
  })
  if (!JSON.parse(request.body).stream) {
    const message = { role: 'assistant', content: null, tool_calls: [call('{"city":"Paris"}')] }
    return json(response, 200, { ...completion(''), choices: [{ index: 0, message, finish_reason: 'tool_calls' }] })
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const event = (delta: object, finish: string | null) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
  response.end(
    [
      event({ role: 'assistant', content: null }, null),
      event({ tool_calls: [call('')] }, null),
      event({ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] }, null),
      event({ tool_calls: [{ index: 0, function: { arguments: '"Paris"}' } }] }, null),
      event({}, 'tool_calls'),
      'data: [DONE]\n\n',
    ].join(''),
  )
}

const cutProvider: Answer = (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(completionEvents(['Hello', ' there']).slice(0, 2).join(''), () => response.destroy())
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
