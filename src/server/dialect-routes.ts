import type { App } from '../app/app.ts'
import { badEnding } from '../chat/dialects/anthropic/response.ts'
import { dialectFor } from '../chat/dialects/dialects.ts'
import type { Dialect } from '../chat/protocol/dialect.ts'
import type { ChatRequest } from '../chat/protocol/messages.ts'
import { type Countable, estimateRequestTokens } from '../chat/token-estimate.ts'
import { AppError } from '../errors.ts'
import { nextStage } from '../formats/json-writer.ts'
import { parseInput } from '../operations/ask.ts'
import { boundText, type ChatInput, chat, openChatStream, reportHeaders, routed } from '../operations/chat.ts'
import type { Call } from '../operations/operation.ts'
import { readJson } from './body.ts'
import { anthropicError, askedError, clientError, type Inbound, openaiError } from './dialect-errors.ts'
import { listModels, showModel } from './dialect-models.ts'
import { failureOf, openEvents, type RequestContext, sendJson } from './request-context.ts'
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
      handle: (context) => converse(context, 'openai-chat'),
      errorBody: openaiError,
    },
    { method: 'POST', path: '/v1/audio/speech', handle: speakText, errorBody: openaiError },
    { method: 'POST', path: '/v1/embeddings', handle: embedTexts, errorBody: openaiError },
    {
      method: 'GET',
      path: '/v1/models',
      handle: async (context) => {
        await identify(context, userWithApiKey)
        await listModels(app, context)
      },
      errorBody: askedError,
    },
    {
      method: 'GET',
      path: '/v1/models/**:id',
      handle: async (context) => {
        await identify(context, userWithApiKey)
        await showModel(app, context)
      },
      errorBody: askedError,
    },
    {
      method: 'POST',
      path: '/v1/messages',
      handle: (context) => converse(context, 'anthropic-messages'),
      errorBody: anthropicError,
    },
    { method: 'POST', path: '/v1/messages/count_tokens', handle: countTokens, errorBody: anthropicError },
  ]

  async function converse(context: RequestContext, id: Inbound): Promise<void> {
    const identified = identify(context, id === 'anthropic-messages' ? userWithApiKey : user)
    const identity = identified instanceof Promise ? await identified : identified
    const dialect = dialectFor(id, '')
    const body = dialect.readRequest(await readJson(context.request, chat.limit!))
    await nextStage(body, () => context.response.destroyed)
    const input = parseInput(chat, withBetas(body, context))
    boundText(app.settings, input)
    await nextStage(input, () => context.response.destroyed)
    if (input.stream)
      return whileLoggedIn(context, identity, () => stream(context, callOf(app, context, identity), id, input))
    const { router } = await app.chat()
    const { reply, report } = await router.complete(routed(input), context.gone)
    const [choice] = reply.choices
    // Anthropic's messages have no word for such an end; a stream of them ends with an error event.
    if (id === 'anthropic-messages' && choice?.finish_reason === 'error')
      throw new AppError('protocol', badEnding(choice))
    const headers = reportHeaders(report)
    for (const name in headers) context.response.setHeader(name, headers[name]!)
    sendJson(context, 200, dialect.writeResponse(reply))
  }

  async function stream(context: RequestContext, call: Call, id: Inbound, input: ChatInput): Promise<void> {
    const { chunks, report } = await openChatStream(call, input)
    const encoder = dialectFor(id, '').createStreamWriter(
      routed(input).request as Parameters<Dialect['createStreamWriter']>[0],
    )
    const events = openEvents(context, reportHeaders(report))
    try {
      for await (const chunk of chunks) {
        const wait = events.write(encoder.push(chunk))
        if (wait) await wait
        context.signal.throwIfAborted()
      }
      events.end(encoder.end())
    } catch (thrown) {
      events.end(encoder.fail(clientError(failureOf(context, thrown), id)))
    }
  }

  async function speakText(context: RequestContext): Promise<void> {
    const identity = await identify(context, user)
    const { readSpeechBody, refusingNames } = await import('./speech-body.ts')
    const { speak } = await import('../operations/speech.ts')
    const body = await readSpeechBody(context.request)
    const speech = await refusingNames(() => speak(callOf(app, context, identity), body))
    await whileLoggedIn(context, identity, () => sendDownload(context, speech))
  }

  async function embedTexts(context: RequestContext): Promise<void> {
    await identify(context, user)
    const { createEmbeddings, embeddingsInput, embeddingsLimit } = await import('../operations/embeddings.ts')
    const input = parseInput({ input: embeddingsInput }, await readJson(context.request, embeddingsLimit))
    sendJson(context, 200, await createEmbeddings(app, input, context.signal))
  }

  /** An estimate, since nobody is asked; see token-estimate.ts. */
  async function countTokens(context: RequestContext): Promise<void> {
    await identify(context, userWithApiKey)
    const body = dialectFor('anthropic-messages', '').readRequest(await readJson(context.request, chat.limit!))
    await nextStage(body, () => context.response.destroyed)
    const request = parseInput(chat, body)
    boundText(app.settings, request)
    await nextStage(request, () => context.response.destroyed)
    sendJson(context, 200, { input_tokens: estimateRequestTokens(request as unknown as Countable) })
  }
}

/** The request with the betas of Anthropic's that its client asks for in a header, as a list with commas. */
function withBetas(request: ChatRequest, { request: { headers } }: RequestContext): ChatRequest {
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
