import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import * as assert from 'uvu/assert'
import { writeWav } from '../../speech/audio/wav.ts'
import type { LimitArea } from '../../src/usage/limits/area.ts'
import { eventually } from '../helpers/eventually.ts'
import { type ClientLibraries, withLibraries } from '../helpers/program/client-libraries.ts'
import { type Answer, completion, completionEvents, json } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'

const test = suite('budgets over HTTP')

/** A dollar. */
const usd = 1_000_000_000

const messages = [{ role: 'user' as const, content: 'Hi' }]

/** 5 tokens in, 2 out: at a cent for each token out, two cents. */
const answers: Answer = (_request, response) => json(response, 200, completion('Hello there'))

/** An embedding of seven tokens, or a hundredth of a second of silence. */
const vectorsOrSpeech: Answer = ({ url }, response) => {
  if (url.endsWith('/embeddings'))
    return json(response, 200, {
      data: [{ object: 'embedding', index: 0, embedding: [1, 0] }],
      usage: { prompt_tokens: 7, total_tokens: 7 },
    })
  response.writeHead(200, { 'content-type': 'audio/wav' })
  response.end(writeWav(new Float32Array(240), 24_000))
}

const inChosenTier: Answer = ({ body }, response) => {
  const { service_tier } = JSON.parse(body) as { readonly service_tier?: string }
  return json(response, 200, { ...completion('Hello there'), service_tier })
}

test('several answers to one request are reserved as so many, and a service without a price as much as it may cost', () =>
  withBudget(inChosenTier, 0.1, {}, async ({ url, provider, limits }) => {
    // A dime pays for ten tokens.
    assert.is(await ask(url, { max_tokens: 5, n: 3 }), 429)
    assert.is(await ask(url, { max_tokens: 5, n: 1e300 }), 400)
    assert.is(provider.received.length, 0)
    assert.is(await ask(url, { max_tokens: 4, n: 2, service_tier: 'unknown' }), 200)
    const [view] = await settled(limits)
    assert.is(view?.budgets[0]?.spent_usd, '0.08')
    assert.is(await ask(url, { max_tokens: 4, service_tier: 'unknown' }), 429)
    assert.is(provider.received.length, 1)
  }))

test('embeddings cost their input alone, whose model has no price for answers, and speech costs a budget nothing', () =>
  withBudget(vectorsOrSpeech, 1, {}, async ({ app, url, provider, limits }) => {
    const auth = { header: '', prefix: '', key_env: '' }
    for (const [id, type, path] of [
      ['vectors', 'embedding', '/v1/embeddings'],
      ['voice', 'tts', '/v1/audio/speech'],
    ] as const) {
      await app.plugins.install({ id, name: id, type, endpoint: `${provider.url}${path}`, auth, model_map: [id] })
      await app.plugins.activate(id)
    }
    const prices = [{ plugin: 'vectors', model: 'vectors', rates: { input: '10000' } }]
    await fetch(`${url}/api/prices`, { ...post({ prices }), method: 'PUT' })
    const embedded = await fetch(`${url}/v1/embeddings`, post({ model: 'vectors', input: 'Hi' }))
    assert.is(embedded.status, 200, await embedded.text())
    const spoken = await fetch(`${url}/v1/audio/speech`, post({ model: 'voice', voice: 'any', input: 'Hi' }))
    assert.is(spoken.status, 200, await spoken.text())
    const [view] = await settled(limits)
    assert.is(view?.budgets[0]?.spent_usd, '0.07')
  }))

test('both libraries stop after one request under a budget that is spent, with the class of a rate limit', () =>
  withBudget(answers, 0.02, {}, async ({ url, openai, anthropic, provider, limits, requests }) => {
    assert.is(await ask(url, { max_tokens: 2 }), 200)
    await settled(limits)
    const before = requests()
    const failures = [
      await openai.chat.completions
        .create({ model: 'custom-model', messages, max_tokens: 2 })
        .catch((reason: unknown) => reason),
      await anthropic.messages
        .create({ model: 'custom-model', messages, max_tokens: 2 })
        .catch((reason: unknown) => reason),
    ]
    assert.instance(failures[0], OpenAI.RateLimitError)
    assert.instance(failures[1], Anthropic.RateLimitError)
    const { type, code, headers } = failures[0] as InstanceType<typeof OpenAI.RateLimitError>
    assert.equal([type, code, headers.get('x-should-retry')], ['insufficient_quota', 'insufficient_quota', 'false'])
    assert.equal((failures[1] as { error: { error: { type: string } } }).error.error.type, 'rate_limit_error')
    assert.is(requests() - before, 2)
    assert.is(provider.received.length, 1)
  }))

test('a stream that runs over a hard budget is cut with an error event, in each dialect', () =>
  withBudget(endless, 1.5 * 10, { hard: true }, async ({ url, openai, limits }) => {
    for (const [path, body] of [
      ['/v1/chat/completions', { model: 'custom-model' }],
      ['/v1/messages', { model: 'custom-model', max_tokens: 1024 }],
      ['/api/chat', {}],
    ] as const) {
      const text = await stream(url, path, body)
      assert.match(text, /budget_exceeded|budget ran out/i, path)
      assert.not.match(text, /\[DONE\]|message_stop/, path)
      await settled(limits)
      await limits.reset('all')
    }
    const failure = await openai.chat.completions
      .stream({ model: 'custom-model', messages })
      .finalMessage()
      .catch((reason: unknown) => reason)
    assert.instance(failure, Error)
  }))

test('an answer whose caller leaves before it is there keeps its reservation in a hard budget', () => {
  const leaving = new AbortController()
  const held: Answer = () => leaving.abort()
  return withBudget(held, 1, { hard: true }, async ({ url, provider, limits }) => {
    const body = { model: 'custom-model', messages, max_tokens: 5 }
    const left = await fetch(`${url}/v1/chat/completions`, { ...post(body), signal: leaving.signal }).catch(
      () => 'left',
    )
    assert.is(left, 'left')
    const [view] = await settled(limits)
    assert.is(provider.received.length, 1)
    assert.is(view?.budgets[0]?.spent_usd, '0.05')
  })
})

test('a stream that runs over another budget ends, and the next request is refused', () =>
  withBudget(long, 1.5 * 10, {}, async ({ url, limits }) => {
    const text = await stream(url, '/v1/chat/completions', { model: 'custom-model' })
    assert.match(text, /\[DONE\]/)
    const [view] = await settled(limits)
    assert.ok(Number(view?.budgets[0]?.spent_usd) > 15, JSON.stringify(view))
    assert.is(await ask(url, { max_tokens: 1 }), 429)
  }))

test('a model without a price is refused under a budget, and goes to a place that has one', () =>
  withLibraries(answers, async ({ app, url, provider }) => {
    await app.accounts()
    const limits = await (await app.usage()).limits()
    await limits.set('all', { budgets: [{ nano: usd, period: 'day' }] })
    const refused = await fetch(`${url}/api/chat`, post({ messages }))
    const body = (await refused.json()) as { code: string }
    assert.equal([refused.status, body.code], [503, 'price_unknown'])
    assert.is(provider.received.length, 0)
    await app.plugins.install({ ...(app.plugins.export('custom') as object), id: 'priced', fallback: [] })
    await app.plugins.update('custom', { ...(app.plugins.export('custom') as object), fallback: ['priced'] })
    await setPrice(url, 'priced')
    const answered = await fetch(`${url}/api/chat`, post({ messages, max_tokens: 5 }))
    assert.is(((await answered.json()) as { aichat: { plugin: string } }).aichat.plugin, 'priced')
  }))

test('a budget at its warning is told with each answer', () =>
  withBudget(answers, 0.1, {}, async ({ url, limits }) => {
    for (let round = 0; round < 4; round++) {
      assert.is(await ask(url, { max_tokens: 2 }), 200)
      await settled(limits)
    }
    const { headers } = await fetch(
      `${url}/v1/chat/completions`,
      post({ model: 'custom-model', messages, max_tokens: 2 }),
    )
    assert.is(headers.get('x-aichat-budget'), 'day;used=80;amount=0.1;scope=all')
    assert.is(headers.get('x-aichat-cost'), '0.02')
  }))

test.run()

interface Budgeted extends ClientLibraries {
  readonly limits: LimitArea
  /** Requests that the libraries have sent so far. */
  requests(): number
}

/** The libraries under a budget of so many dollars a day for everybody, at a cent for each token of an answer. */
function withBudget(
  answer: Answer,
  dollars: number,
  budget: { readonly hard?: boolean },
  run: (all: Budgeted) => Promise<void>,
): Promise<void> {
  return withLibraries(answer, async (all) => {
    // Prices of one's own are known where the storage is open before usage is.
    await all.app.accounts()
    const limits = await (await all.app.usage()).limits()
    await setPrice(all.url, 'custom')
    await limits.set('all', { budgets: [{ nano: Math.round(dollars * usd), period: 'day', ...budget }] })
    let sent = 0
    const counting: typeof fetch = (...given) => {
      sent++
      return fetch(...given)
    }
    const openai = all.openai.withOptions({ fetch: counting })
    const anthropic = all.anthropic.withOptions({ fetch: counting })
    await run({ ...all, openai, anthropic, limits: limits, requests: () => sent })
  })
}

async function setPrice(url: string, plugin: string): Promise<void> {
  const rates = { input: '0', output: '10000' }
  const response = await fetch(`${url}/api/prices`, {
    ...post({ prices: [{ plugin, model: 'custom-model', rates }] }),
    method: 'PUT',
  })
  if (response.status !== 200) throw new Error(await response.text())
}

/** The limits once no attempt waits for the ledger. */
function settled(limits: LimitArea) {
  return eventually(async () => {
    const views = await limits.list()
    return views.every(({ budgets }) => budgets.every(({ reserved_usd }) => reserved_usd === '0')) ? views : undefined
  })
}

function post(body: unknown): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

async function ask(url: string, more: object): Promise<number> {
  const response = await fetch(`${url}/v1/chat/completions`, post({ model: 'custom-model', messages, ...more }))
  await response.arrayBuffer()
  return response.status
}

async function stream(url: string, path: string, more: object): Promise<string> {
  return (await fetch(`${url}${path}`, post({ messages, stream: true, ...more }))).text()
}

/** About a thousand tokens. */
const piece = 'word'.repeat(1000)

/** Goes on until the client leaves. */
function endless(_request: unknown, response: Parameters<Answer>[1]): Promise<void> {
  return sendPieces(response, Number.POSITIVE_INFINITY)
}

/** Two thousand tokens. */
async function long(_request: unknown, response: Parameters<Answer>[1]): Promise<void> {
  await sendPieces(response, 2)
}

async function sendPieces(response: Parameters<Answer>[1], count: number): Promise<void> {
  const [begin = '', one = '', ...end] = completionEvents([piece])
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(begin)
  for (let at = 0; at < count && !response.destroyed; at++) {
    response.write(one)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  response.end(end.join(''))
}
