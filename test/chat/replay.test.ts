import { fileURLToPath } from 'node:url'
import * as assert from 'uvu/assert'
import { collectReply } from '../../src/chat/protocol/chunks.ts'
import type { ChatChunk, ChatReply, ChatRequest } from '../../src/chat/protocol/messages.ts'
import { AppError } from '../../src/errors.ts'
import { clientDialectOf, dialectOf, failsInside, requestOf } from '../helpers/chat/exchange-checks.ts'
import { type Exchange, isChat, isStreamed, loadExchanges } from '../helpers/chat/exchanges.ts'
import { factsOf, factsOfReply } from '../helpers/chat/facts.ts'
import { testData } from '../helpers/data.ts'
import { type Installation, openInstallation } from '../helpers/program/installation.ts'
import { openStandIn, type Received, type StandIn } from '../helpers/providers/fake-provider.ts'
import { suite } from '../helpers/suite.ts'
import { meaningOf } from './meaning.ts'

const test = suite('exchanges replayed by a fake provider')

const written = fileURLToPath(new URL('./test/fixtures/dialects/', import.meta.resolve('#package')))
const folders: readonly (readonly [string, string | undefined])[] = [
  ['written by hand', written],
  ['recorded', testData('cassettes')],
]

for (const [how, folder] of folders) {
  const chats = folder === undefined ? [] : loadExchanges(folder).filter(isChat).filter(canBeAsked)
  const title = `${how} requests go out unchanged, and their answers come back whole through the router`
  const replayTest = chats.length > 0 ? test : test.skip
  replayTest(title, async () => {
    let playing: Exchange | undefined
    await using provider = await openStandIn((_request, response) => {
      const type = playing!.headers['content-type'] ?? 'application/json'
      response.writeHead(playing!.status, { 'content-type': type }).end(playing!.answer)
    })
    await using installation = openInstallation()
    for (const exchange of chats) {
      playing = exchange
      await replay(exchange, provider, installation).catch((error: unknown) => {
        if (error instanceof Error) error.message = `${exchange.name}: ${error.message}`
        throw error
      })
    }
    assert.is(provider.received.length, chats.length)
  })
}

async function replay(exchange: Exchange, provider: StandIn, { app }: Installation): Promise<void> {
  const request = requestOf(exchange)
  const model = request.model || 'a-model'
  const { pathname, search } = new URL(exchange.url)
  // One plugin for each: the circuit opened by one exchange must not stop the next.
  const id = `replayed-${provider.received.length}`
  await app.plugins.install({
    id,
    name: 'Replayed',
    type: 'chat',
    endpoint: `${provider.url}${pathname}${search}`,
    auth: { header: '', key_env: '' },
    model_map: [model],
    api: dialectOf(exchange).id,
    retry: { attempts: 1 },
  })
  const answer = await answerOf(exchange, { ...request, model }, id, app)
  await app.plugins.remove(id)
  if (clientDialectOf(exchange)) checkReceived(provider.received.at(-1)!, exchange)
  if (exchange.status >= 400) return checkRefusal(answer, exchange)
  if (failsInside(exchange) || exchange.expect.failure) return assert.instance(answer, AppError)
  if (answer instanceof AppError) throw answer
  assert.equal(factsOfReply(answer), factsOf(dialectOf(exchange).id, exchange.answer, isStreamed(exchange)))
}

async function answerOf(
  exchange: Exchange,
  request: ChatRequest,
  plugin: string,
  app: Installation['app'],
): Promise<ChatReply | AppError> {
  const call = { request, plugin, fallback: false }
  const { router } = await app.chat()
  try {
    if (!isStreamed(exchange)) return (await router.complete(call)).reply
    const chunks: ChatChunk[] = []
    for await (const chunk of (await router.stream(call)).chunks) chunks.push(chunk)
    return collectReply(chunks)
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

/** The received request means the recorded one, except for the router's additions: a model, and the request for token counts. */
function checkReceived(received: Received, exchange: Exchange): void {
  const { id } = dialectOf(exchange)
  const plain = (body: unknown) => {
    const { stream: _stream, stream_options: _options, model: _model, ...rest } = body as Record<string, unknown>
    return meaningOf(id, rest)
  }
  assert.equal(plain(JSON.parse(received.body)), plain(exchange.body))
  const { pathname } = new URL(exchange.url)
  const path = new URL(received.url, 'http://fake').pathname
  assert.is(decodeURIComponent(path), decodeURIComponent(pathname))
}

/** The provider's own words, or its status where it had none. */
function checkRefusal(answer: ChatReply | AppError, exchange: Exchange): void {
  assert.instance(answer, AppError)
  const { message, details } = answer as AppError
  const body = bodyOf(exchange)
  const words = dialectOf(exchange).readError(body)?.message.replace(/\s+/g, ' ').trim().slice(0, 60)
  const all = [message, ...details].join(' ')
  assert.ok(all.includes(words || String(exchange.status)), `the reason is missing: ${all}`)
}

function bodyOf({ answer }: Exchange): unknown {
  try {
    return JSON.parse(answer.toString('utf8'))
  } catch {
    return undefined
  }
}

/** A request that is refused before it is sent has been recorded with the provider's refusal; other tests show ours. */
function canBeAsked(exchange: Exchange): boolean {
  try {
    return requestOf(exchange).messages.length > 0
  } catch {
    return false
  }
}

test.run()
