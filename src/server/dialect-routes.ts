import type { App } from '../app.ts'
import type { Dialect } from '../chat/dialects/dialect.ts'
import { dialectFor } from '../chat/dialects/dialects.ts'
import { AppError } from '../errors.ts'
import { parseInput } from '../operations/ask.ts'
import { type ChatInput, chat, openChatStream, reportHeaders, routed } from '../operations/chat.ts'
import type { Call } from '../operations/operation.ts'
import { readJson } from './body.ts'
import { type Exchange, failureOf, openEvents, sendJson } from './exchange.ts'
import { callOf, type Identify, type Route, sendDownload, whileLoggedIn } from './routes.ts'

/** How a dialect calls a failure of this HTTP status, in the words its clients know. */
const openaiTypes: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'invalid_request_error',
  429: 'rate_limit_error',
}
const anthropicTypes: Record<number, string> = { ...openaiTypes, 413: 'request_too_large', 503: 'overloaded_error' }

const user = { access: 'user' } as const
/** Anthropic's clients send their key under a name of their own. */
const userWithApiKey = { access: 'user', apiKey: true } as const

/**
 * The routes of other people's clients: OpenAI's and Anthropic's. Each reads its dialect, asks the same chat operation,
 * and answers, also in failure, in its dialect.
 */
export function dialectRoutes(app: App, identify: Identify): readonly Route[] {
  const openaiError = (error: AppError) => ({
    error: { message: sentence(error), type: openaiTypes[error.status] ?? 'api_error', param: null, code: error.code },
  })
  const anthropicError = (error: AppError, requestId: string) => ({
    type: 'error',
    error: { type: anthropicTypes[error.status] ?? 'api_error', message: sentence(error) },
    request_id: requestId,
  })
  return [
    {
      method: 'POST',
      path: '/v1/chat/completions',
      handle: (exchange) => converse(exchange, 'openai-chat'),
      errorBody: openaiError,
    },
    { method: 'POST', path: '/v1/audio/speech', handle: speakText, errorBody: openaiError },
    { method: 'POST', path: '/v1/embeddings', handle: embedTexts, errorBody: openaiError },
    { method: 'GET', path: '/v1/models', handle: listModels, errorBody: openaiError },
    { method: 'GET', path: '/v1/models/:id', handle: showModel, errorBody: openaiError },
    {
      method: 'POST',
      path: '/v1/messages',
      handle: (exchange) => converse(exchange, 'anthropic-messages'),
      errorBody: anthropicError,
    },
    { method: 'POST', path: '/v1/messages/count_tokens', handle: countTokens, errorBody: anthropicError },
  ]

  async function converse(exchange: Exchange, id: 'openai-chat' | 'anthropic-messages'): Promise<void> {
    const identified = identify(exchange, id === 'anthropic-messages' ? userWithApiKey : user)
    const identity = identified instanceof Promise ? await identified : identified
    const dialect = dialectFor(id, '')
    const input = parseInput(chat, dialect.readRequest(await readJson(exchange.request, chat.limit!)))
    if (input.stream)
      return whileLoggedIn(exchange, identity, () => stream(exchange, callOf(app, exchange, identity), dialect, input))
    const { router } = await app.chat()
    const { reply, report } = await router.complete(routed(input), exchange.gone)
    const headers = reportHeaders(report)
    for (const name in headers) exchange.response.setHeader(name, headers[name]!)
    sendJson(exchange, 200, dialect.writeReply(reply))
  }

  async function stream(exchange: Exchange, call: Call, dialect: Dialect, input: ChatInput): Promise<void> {
    const { chunks, report } = await openChatStream(call, input)
    const encoder = dialect.encodeStream(routed(input).request as Parameters<Dialect['encodeStream']>[0])
    const events = openEvents(exchange, reportHeaders(report))
    try {
      for await (const chunk of chunks) {
        const wait = events.write(encoder.push(chunk))
        if (wait) await wait
        exchange.signal.throwIfAborted()
      }
      events.end(encoder.end())
    } catch (thrown) {
      const error = failureOf(exchange, thrown)
      events.end(
        encoder.fail({
          message: sentence(error),
          code: error.code,
          status: error.status,
          type: anthropicTypes[error.status] ?? 'api_error',
        }),
      )
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

  /** The active plugin's models by name, those of other usable plugins as `plugin:model`, and the local runner's. */
  async function models(): Promise<readonly { id: string; owned_by: string }[]> {
    const chatPlugins = app.plugins
      .list()
      .filter(
        (plugin) =>
          (plugin.type === 'chat' || plugin.type === 'completion') && (plugin.active || plugin.state === 'ready'),
      )
    const named = chatPlugins.flatMap((plugin) =>
      plugin.model_map.map((id) => ({ id: plugin.active ? id : `${plugin.id}:${id}`, owned_by: plugin.id })),
    )
    const { ollama, embedded } = await app.chat()
    const running = ((await ollama.models()) ?? []).filter((model) => !model.embedding).map((model) => model.name)
    const local = [...running, ...embedded.models()].map((id) => ({ id, owned_by: 'local' }))
    return [...named, ...local]
  }

  async function listModels(exchange: Exchange): Promise<void> {
    await identify(exchange, user)
    const data = (await models()).map((model) => ({ ...model, object: 'model', created: 0 }))
    sendJson(exchange, 200, { object: 'list', data })
  }

  async function showModel(exchange: Exchange): Promise<void> {
    await identify(exchange, user)
    const found = (await models()).find((model) => model.id === exchange.params['id'])
    if (!found) throw new AppError('not_found', 'There is no such model')
    sendJson(exchange, 200, { ...found, object: 'model', created: 0 })
  }

  /** An estimate, since nobody is asked: about four characters are a token of English text. */
  async function countTokens(exchange: Exchange): Promise<void> {
    await identify(exchange, userWithApiKey)
    const body = await readJson(exchange.request, chat.limit!)
    const request = parseInput(chat, dialectFor('anthropic-messages', '').readRequest(body))
    sendJson(exchange, 200, { input_tokens: estimateTokens(request) })
  }
}

/** The length in tokens at four UTF-8 bytes each (OpenAI's rule of thumb for English), plus a few for each message. */
function estimateTokens(request: ChatInput): number {
  const bytes = Buffer.byteLength(
    JSON.stringify([request.messages.map((message) => message.content), request['tools'] ?? null]),
  )
  return Math.ceil(bytes / 4) + 3 * request.messages.length
}

/** What a foreign client shows is one text: the sentence, and what can be done about it. */
function sentence(error: AppError): string {
  return error.details.length === 0 ? error.message : `${error.message} (${error.details.join('; ')})`
}
