import type { App } from '../app.ts'
import { badEnding } from '../chat/dialects/anthropic-reply.ts'
import type { Dialect } from '../chat/dialects/dialect.ts'
import { dialectFor } from '../chat/dialects/dialects.ts'
import type { ChatRequest } from '../chat/messages.ts'
import { type Countable, estimateRequestTokens } from '../chat/token-estimate.ts'
import { AppError } from '../errors.ts'
import { nextStage } from '../json-writer.ts'
import { parseInput } from '../operations/ask.ts'
import { boundText, type ChatInput, chat, openChatStream, reportHeaders, routed } from '../operations/chat.ts'
import type { Call } from '../operations/operation.ts'
import { readJson } from './body.ts'
import { anthropicError, askedError, clientError, type Inbound, openaiError } from './dialect-errors.ts'
import { listModels, showModel } from './dialect-models.ts'
import { type Exchange, failureOf, openEvents, sendJson } from './exchange.ts'
import { callOf, type Identify, type Route, sendDownload, whileLoggedIn } from './routes.ts'

const user = { access: 'user' } as const
/** Anthropic's clients send their key under a name of their own. */
const userWithApiKey = { access: 'user', apiKey: true } as const

/**
 * The routes of other people's clients: OpenAI's and Anthropic's. Each reads its dialect's request, asks the core, and
 * answers, also in failure, in its dialect. A chat goes to the router itself: personas and sessions are for /api/chat.
 */
export function dialectRoutes(app: App, identify: Identify): readonly Route[] {
  return [
    {
      method: 'POST',
      path: '/v1/chat/completions',
      handle: (exchange) => converse(exchange, 'openai-chat'),
      errorBody: openaiError,
    },
    { method: 'POST', path: '/v1/audio/speech', handle: speakText, errorBody: openaiError },
    { method: 'POST', path: '/v1/embeddings', handle: embedTexts, errorBody: openaiError },
    {
      method: 'GET',
      path: '/v1/models',
      handle: async (exchange) => {
        await identify(exchange, userWithApiKey)
        await listModels(app, exchange)
      },
      errorBody: askedError,
    },
    {
      method: 'GET',
      path: '/v1/models/**:id',
      handle: async (exchange) => {
        await identify(exchange, userWithApiKey)
        await showModel(app, exchange)
      },
      errorBody: askedError,
    },
    {
      method: 'POST',
      path: '/v1/messages',
      handle: (exchange) => converse(exchange, 'anthropic-messages'),
      errorBody: anthropicError,
    },
    { method: 'POST', path: '/v1/messages/count_tokens', handle: countTokens, errorBody: anthropicError },
  ]

  async function converse(exchange: Exchange, id: Inbound): Promise<void> {
    const identified = identify(exchange, id === 'anthropic-messages' ? userWithApiKey : user)
    const identity = identified instanceof Promise ? await identified : identified
    const dialect = dialectFor(id, '')
    const body = dialect.readRequest(await readJson(exchange.request, chat.limit!))
    await nextStage(body, () => exchange.response.destroyed)
    const input = parseInput(chat, withBetas(body, exchange))
    boundText(app.settings, input)
    await nextStage(input, () => exchange.response.destroyed)
    if (input.stream)
      return whileLoggedIn(exchange, identity, () => stream(exchange, callOf(app, exchange, identity), id, input))
    const { router } = await app.chat()
    const { reply, report } = await router.complete(routed(input), exchange.gone)
    const [choice] = reply.choices
    // Anthropic's messages have no word for such an end; a stream of them ends with an error event.
    if (id === 'anthropic-messages' && choice?.finish_reason === 'error')
      throw new AppError('protocol', badEnding(choice))
    const headers = reportHeaders(report)
    for (const name in headers) exchange.response.setHeader(name, headers[name]!)
    sendJson(exchange, 200, dialect.writeReply(reply))
  }

  async function stream(exchange: Exchange, call: Call, id: Inbound, input: ChatInput): Promise<void> {
    const { chunks, report } = await openChatStream(call, input)
    const encoder = dialectFor(id, '').encodeStream(routed(input).request as Parameters<Dialect['encodeStream']>[0])
    const events = openEvents(exchange, reportHeaders(report))
    try {
      for await (const chunk of chunks) {
        const wait = events.write(encoder.push(chunk))
        if (wait) await wait
        exchange.signal.throwIfAborted()
      }
      events.end(encoder.end())
    } catch (thrown) {
      events.end(encoder.fail(clientError(failureOf(exchange, thrown), id)))
    }
  }

  async function speakText(exchange: Exchange): Promise<void> {
    const identity = await identify(exchange, user)
    const { readSpeechBody, refusingNames } = await import('./speech-body.ts')
    const { speak } = await import('../operations/speech.ts')
    const body = await readSpeechBody(exchange.request)
    const speech = await refusingNames(() => speak(callOf(app, exchange, identity), body))
    await whileLoggedIn(exchange, identity, () => sendDownload(exchange, speech))
  }

  async function embedTexts(exchange: Exchange): Promise<void> {
    await identify(exchange, user)
    const { createEmbeddings, embeddingsInput, embeddingsLimit } = await import('../operations/embeddings.ts')
    const input = parseInput({ input: embeddingsInput }, await readJson(exchange.request, embeddingsLimit))
    sendJson(exchange, 200, await createEmbeddings(app, input, exchange.signal))
  }

  /** An estimate, since nobody is asked; see token-estimate.ts. */
  async function countTokens(exchange: Exchange): Promise<void> {
    await identify(exchange, userWithApiKey)
    const body = dialectFor('anthropic-messages', '').readRequest(await readJson(exchange.request, chat.limit!))
    await nextStage(body, () => exchange.response.destroyed)
    const request = parseInput(chat, body)
    boundText(app.settings, request)
    await nextStage(request, () => exchange.response.destroyed)
    sendJson(exchange, 200, { input_tokens: estimateRequestTokens(request as unknown as Countable) })
  }
}

/** The request with the betas of Anthropic's that its client asks for in a header, as a list with commas. */
function withBetas(request: ChatRequest, { request: { headers } }: Exchange): ChatRequest {
  const asked = headers['anthropic-beta']
  if (asked === undefined) return request
  const betas = asked
    .toString()
    .split(',')
    .map((name) => name.trim())
  const anthropic = { ...request.extra_content?.['anthropic'], betas: betas.filter(Boolean).slice(0, mostBetas) }
  return { ...request, extra_content: { ...request.extra_content, anthropic } }
}

/** Claude Code asks for about ten. */
const mostBetas = 50
