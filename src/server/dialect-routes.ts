import type { Scope } from '../accounts/accounts.ts'
import type { App } from '../app/app.ts'
import { clientDialects, createCompletionWriter, promptsOf, readCompletion, writeCompletion } from '../chat/chat.ts'
import { AppError } from '../errors.ts'
import { nextStage } from '../formats/formats.ts'
import { chat, countTokens, parseInput } from '../operations/operations.ts'
import { readJson } from './body.ts'
import { answerChat, answerShaped, type ChatShape } from './dialect-chat.ts'
import { anthropicError, errorOfClient, openaiError } from './dialect-errors.ts'
import { answerModels } from './dialect-models.ts'
import type { Identify, Identity, Rule } from './identity.ts'
import { ollamaRoutes } from './ollama-routes.ts'
import { type ErrorBody, type RequestContext, sendJson } from './request-context.ts'
import { responsesRoutes } from './responses-routes.ts'
import { callOf, type Route, sendDownload, whileLoggedIn } from './routes.ts'

/** OpenAI's older completions of texts, as chats. */
const textCompletions: ChatShape = {
  id: 'openai-chat',
  readRequest: readCompletion,
  writeResponse: writeCompletion,
  createStreamWriter: createCompletionWriter,
  split: promptsOf,
}

type Answer = (context: RequestContext, identity: Identity) => Promise<void>

/** The routes for clients of OpenAI, Anthropic and Ollama: read the dialect, run the operation, write the answer. */
export function dialectRoutes(app: App, identify: Identify): readonly Route[] {
  return [
    openai('/v1/chat/completions', 'chat', (context, identity) => answerChat(app, context, identity, 'openai-chat')),
    ...responsesRoutes(app, identify),
    openai('/v1/completions', 'chat', complete),
    openai('/v1/moderations', 'chat', moderate),
    openai('/v1/audio/speech', 'speech', speak),
    openai('/v1/embeddings', 'embeddings', embed),
    ...['/v1/models', '/v1/models/**:id'].map((path) => route('GET', path, 'models', errorOfClient, models, true)),
    anthropic('/v1/messages', (context, identity) => answerChat(app, context, identity, 'anthropic-messages')),
    anthropic('/v1/messages/count_tokens', tokens),
    ...ollamaRoutes(app, identify),
  ]

  function openai(path: string, scope: Scope, answer: Answer): Route {
    return route('POST', path, scope, openaiError, answer)
  }

  /** Anthropic's clients may send the token or key as x-api-key. */
  function anthropic(path: string, answer: Answer): Route {
    return route('POST', path, 'chat', anthropicError, answer, true)
  }

  function route(
    method: string,
    path: string,
    scope: Scope,
    errorBody: ErrorBody,
    answer: Answer,
    apiKeyHeader?: true,
  ): Route {
    const rule: Rule = { access: 'user', scope, ...(apiKeyHeader && { apiKeyHeader }) }
    return {
      method,
      path,
      errorBody,
      handle(context) {
        // Anthropic's header beside ours: its libraries show it as `_request_id`.
        if (errorBody === anthropicError) context.response.setHeader('request-id', context.id)
        const identity = identify(context, rule)
        return identity instanceof Promise
          ? identity.then((known) => answer(context, known))
          : answer(context, identity)
      },
    }
  }

  function models(context: RequestContext, identity: Identity): Promise<void> {
    return answerModels(callOf(app, context, identity), context)
  }

  async function complete(context: RequestContext, identity: Identity): Promise<void> {
    const wire = await readJson(context.request, chat.limit!)
    await answerShaped(app, context, identity, textCompletions, wire)
  }

  async function speak(context: RequestContext, identity: Identity): Promise<void> {
    const { readSpeechBody, invalidNames } = await import('./speech-body.ts')
    const { speak: speakText } = await import('../operations/speech.ts')
    const body = await readSpeechBody(context.request)
    const speech = await invalidNames(() => speakText(callOf(app, context, identity), body))
    await whileLoggedIn(context, identity, () => sendDownload(context, speech))
  }

  async function embed(context: RequestContext, identity: Identity): Promise<void> {
    const { createEmbeddings, embeddingsInput, embeddingsLimit } = await import('../operations/embeddings.ts')
    const input = parseInput({ input: embeddingsInput }, await readJson(context.request, embeddingsLimit))
    sendJson(context, 200, await createEmbeddings(callOf(app, context, identity), input))
  }

  async function tokens(context: RequestContext, identity: Identity): Promise<void> {
    const body = clientDialects['anthropic-messages'].readRequest(await readJson(context.request, chat.limit!))
    await nextStage(body, { user: identity.caller?.id, isOver: () => context.response.destroyed })
    sendJson(context, 200, await countTokens.run(callOf(app, context, identity), parseInput(countTokens, body)))
  }
}

/** 404, which OpenAI's libraries do not repeat. */
async function moderate(): Promise<never> {
  throw new AppError('not_found', 'Moderations are not offered here', {
    details: ['No model here classifies texts: ask the provider itself'],
  })
}
