import * as assert from 'uvu/assert'
import { openInstallation } from '../helpers/program/installation.ts'
import { json, openStandIn } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite("the local runner over Ollama's API")

const answer = { role: 'assistant', content: 'hello' }

/** The model that answers, and its request; `undefined` where none answers. */
async function answering(
  models: readonly Record<string, unknown>[],
  request: Record<string, unknown> = {},
  refusal?: { readonly status: number; readonly error: string },
): Promise<{ body: Record<string, unknown> | undefined; told: string }> {
  let body: Record<string, unknown> | undefined
  await using runner = await openStandIn((asked, response) => {
    if (asked.url === '/api/tags') return json(response, 200, { models })
    body = JSON.parse(asked.body) as Record<string, unknown>
    if (refusal) return json(response, refusal.status, { error: refusal.error })
    json(response, 200, { model: body['model'], message: answer, done: true, done_reason: 'stop' })
  })
  await using installation = openInstallation({ OLLAMA_HOST: runner.url })
  const { router } = await installation.app.chat()
  const told = await router.complete({ request: { messages: [{ role: 'user', content: 'hi' }], ...request } }).then(
    ({ report }) => report.model,
    (error: { message: string; details: readonly string[] }) => [error.message, ...error.details].join(' | '),
  )
  return { body, told }
}

test('the asked model answers if it is there, by its whole name or without its tag, else the first that chats', async () => {
  const models = [{ name: 'nomic-embed-text:latest' }, { name: 'qwen3:4b' }, { name: 'llama3:latest' }]
  assert.is((await answering(models)).told, 'qwen3:4b')
  assert.is((await answering(models, { model: 'llama3' })).told, 'llama3:latest')
  assert.is((await answering(models, { model: 'llama3:latest' })).told, 'llama3:latest')
  assert.is((await answering(models, { model: 'not-installed' })).told, 'qwen3:4b')
})

test('a remote model answers only when it is requested', async () => {
  const cloud = [{ name: 'gpt-oss:120b-cloud' }, { name: 'big', remote_host: 'https://ollama.com:443' }]
  assert.is((await answering([...cloud, { name: 'llama3:latest' }])).told, 'llama3:latest')
  assert.is((await answering([...cloud, { name: 'llama3:latest' }], { model: 'big' })).told, 'big')
  const { body, told } = await answering(cloud)
  assert.is(body, undefined)
  assert.match(told, /no model runs on this machine/)
})

test('capabilities in the list count more than the name', async () => {
  const models = [
    { name: 'plain-name', capabilities: ['embedding'] },
    { name: 'embed-talker', capabilities: ['completion', 'tools'] },
  ]
  assert.is((await answering(models)).told, 'embed-talker')
})

test('an effort asks no model to think that may not be able to, but can keep any from it', async () => {
  const models = [{ name: 'llama3:latest' }]
  assert.is((await answering(models, { reasoning_effort: 'high' })).body!['think'], undefined)
  assert.is((await answering(models, { reasoning_effort: 'none' })).body!['think'], false)
  assert.is((await answering([{ name: 'gpt-oss:20b' }], { reasoning_effort: 'high' })).body!['think'], 'high')
})

test('its refusals are told in its words', async () => {
  const models = [{ name: 'llama3:latest' }]
  const refusals = [
    [404, 'model "llama3" not found, try pulling it first'],
    [400, 'registry.ollama.ai/library/llama3:latest does not support tools'],
    [403, 'this model requires a subscription'],
  ] as const
  for (const [status, error] of refusals)
    assert.ok((await answering(models, {}, { status, error })).told.includes(error), error)
})

test.run()
