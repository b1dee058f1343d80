import type { App } from '../app/app.ts'
import { responses as dialect, type Item, type ItemPage, wrongField } from '../chat/chat.ts'
import { nextStage } from '../formats/formats.ts'
import { chat, countTokens, parseInput } from '../operations/operations.ts'
import { readJson } from './body.ts'
import { compactResponse } from './compact-response.ts'
import { responsesErrorBody } from './dialect-errors.ts'
import type { Identify, Identity } from './identity.ts'
import { type RequestContext, sendJson } from './request-context.ts'
import { completeRequest, readerOf } from './response-state.ts'
import { sendTexts } from './response-stream.ts'
import { callOf, type Route } from './routes.ts'

type Answer = (context: RequestContext, identity: Identity, id: string) => Promise<void>

/** The routes to responses that are kept or made in the background. */
export function responseStateRoutes(app: App, identify: Identify): readonly Route[] {
  return [
    route('POST', '/input_tokens', count),
    route('POST', '/compact', compact),
    route('GET', '/:id', retrieve),
    route('DELETE', '/:id', remove),
    route('POST', '/:id/cancel', cancel),
    route('GET', '/:id/input_items', inputItems),
  ]

  function route(method: string, path: string, answer: Answer): Route {
    return {
      method,
      path: `/v1/responses${path}`,
      errorBody: responsesErrorBody,
      async handle(context) {
        const identity = await identify(context, { access: 'user', scope: 'chat' })
        await answer(context, identity, context.params['id'] ?? '')
      },
    }
  }

  async function retrieve(context: RequestContext, identity: Identity, id: string): Promise<void> {
    const { background } = await app.responses()
    const reader = readerOf(identity)
    if (!flagIn(context, 'stream')) return sendJson(context, 200, await background.find(reader, id))
    const after = numberIn(context, 'starting_after', 0, Number.MAX_SAFE_INTEGER) ?? -1
    const events = await background.follow(reader, id, after)
    await sendTexts(context, identity, events)
  }

  async function remove(context: RequestContext, identity: Identity, id: string): Promise<void> {
    await (await app.responses()).background.remove(readerOf(identity), id)
    sendJson(context, 200, { id, object: 'response', deleted: true })
  }

  async function cancel(context: RequestContext, identity: Identity, id: string): Promise<void> {
    sendJson(context, 200, await (await app.responses()).background.cancel(readerOf(identity), id))
  }

  async function inputItems(context: RequestContext, identity: Identity, id: string): Promise<void> {
    const { responses } = await app.responses()
    const { items, more } = await responses.input(readerOf(identity), id, pageIn(context))
    sendJson(context, 200, listOf(items, more))
  }

  async function compact(context: RequestContext, identity: Identity): Promise<void> {
    const sent = await readJson(context.request, chat.limit!)
    await nextStage(sent, { user: identity.caller?.id, isOver: () => context.response.destroyed })
    await compactResponse(app, context, identity, await completeRequest(app, context, identity, sent))
  }

  async function count(context: RequestContext, identity: Identity): Promise<void> {
    const sent = await readJson(context.request, chat.limit!)
    const work = { user: identity.caller?.id, isOver: () => context.response.destroyed }
    await nextStage(sent, work)
    const { body } = await completeRequest(app, context, identity, sent)
    const request = dialect.readRequest(body)
    await nextStage(request, work)
    const { input_tokens } = await countTokens.run(callOf(app, context, identity), parseInput(countTokens, request))
    sendJson(context, 200, { object: 'response.input_tokens', input_tokens })
  }
}

/** The page of items that a request asks for. Throws `invalid`. */
export function pageIn(context: RequestContext): ItemPage {
  const limit = numberIn(context, 'limit', 1, 100) ?? 20
  const order = context.query.get('order') ?? 'desc'
  if (order !== 'asc' && order !== 'desc') throw wrongField('order', 'order must be asc or desc')
  return { limit, order, after: context.query.get('after') ?? undefined }
}

/** Items as OpenAI lists them. */
export function listOf(items: readonly Item[], more: boolean) {
  const ends = { first_id: items[0]?.id ?? null, last_id: items.at(-1)?.id ?? null }
  return { object: 'list', data: items, ...ends, has_more: more }
}

function flagIn({ query }: RequestContext, name: string): boolean {
  const given = query.get(name)
  if (given === null || given === 'false') return false
  if (given === 'true') return true
  throw wrongField(name, `${name} must be true or false`)
}

function numberIn({ query }: RequestContext, name: string, least: number, most: number): number | undefined {
  const given = query.get(name)
  if (given === null) return undefined
  const value = Number(given)
  if (/^\d+$/.test(given) && value >= least && value <= most) return value
  throw wrongField(name, `${name} must be a whole number from ${least} to ${most}`)
}
