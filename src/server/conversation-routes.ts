import type { App } from '../app/app.ts'
import {
  type Conversation,
  type Conversations,
  responses as dialect,
  type Item,
  isObject,
  objectOf,
  type Reader,
  wrongField,
} from '../chat/chat.ts'
import { toAppError } from '../errors.ts'
import { chat } from '../operations/operations.ts'
import { readJson } from './body.ts'
import { responsesErrorBody } from './dialect-errors.ts'
import type { Identify } from './identity.ts'
import { type RequestContext, sendJson } from './request-context.ts'
import { readerOf } from './response-state.ts'
import { listOf, pageIn } from './response-state-routes.ts'
import type { Route } from './routes.ts'

interface Asked {
  readonly context: RequestContext
  readonly reader: Reader
  /** The ids in the path, "" where it has none. */
  readonly id: string
  readonly item: string
}

/** The conversations of OpenAI: https://platform.openai.com/docs/api-reference/conversations */
export function conversationRoutes(app: App, identify: Identify): readonly Route[] {
  return [
    route('POST', '', async (kept, { context, reader }) => {
      const { items, metadata } = await bodyOf(context)
      checkItems(items)
      return shown(await kept.create(reader, items, metadata))
    }),
    route('GET', '/:id', async (kept, { reader, id }) => shown(await kept.find(reader, id))),
    route('POST', '/:id', async (kept, { context, reader, id }) => {
      const { metadata } = await bodyOf(context)
      return shown(await kept.update(reader, id, metadata))
    }),
    route('DELETE', '/:id', async (kept, { reader, id }) => {
      await kept.remove(reader, id)
      return { id, object: 'conversation.deleted', deleted: true }
    }),
    route('POST', '/:id/items', async (kept, { context, reader, id }) => {
      const { items } = await bodyOf(context)
      checkItems(items)
      return listOf((await kept.add(reader, id, items)).map(shownItem), false)
    }),
    route('GET', '/:id/items', async (kept, { context, reader, id }) => {
      const { items, more } = await kept.items(reader, id, pageIn(context))
      return listOf(items.map(shownItem), more)
    }),
    route('GET', '/:id/items/:item', async (kept, { reader, id, item }) =>
      shownItem(await kept.item(reader, id, item)),
    ),
    route('DELETE', '/:id/items/:item', async (kept, { reader, id, item }) => {
      await kept.removeItem(reader, id, item)
      return shown(await kept.find(reader, id))
    }),
  ]

  function route(method: string, path: string, answer: (kept: Conversations, asked: Asked) => Promise<object>): Route {
    return {
      method,
      path: `/v1/conversations${path}`,
      errorBody: responsesErrorBody,
      async handle(context) {
        const reader = readerOf(await identify(context, { access: 'user', scope: 'chat' }))
        const { id = '', item = '' } = context.params
        const { conversations } = await app.responses()
        sendJson(context, 200, await answer(conversations, { context, reader, id, item }))
      },
    }
  }
}

async function bodyOf({ request }: RequestContext) {
  return objectOf(await readJson(request, chat.limit!))
}

/** Throws `invalid` for items that no later request could send: a message without a role, a call without a name. */
function checkItems(items: unknown): void {
  if (!Array.isArray(items) || !items.every(isObject)) return
  try {
    dialect.readRequest({ input: items, conversation: '' })
  } catch (thrown) {
    const { details } = toAppError(thrown)
    throw wrongField(
      'items',
      'Invalid items',
      details.map((detail) => detail.replace(/^input/, 'items')),
    )
  }
}

function shown(conversation: Conversation) {
  return { ...conversation, object: 'conversation' }
}

/** An item as OpenAI gives it back: the text of a message is a part, and its status is given. Any other is as it was sent. */
function shownItem(item: Item): Item {
  if (item.type !== 'message') return item
  const { content, role } = item
  const type = role === 'assistant' ? 'output_text' : 'input_text'
  const parts = typeof content === 'string' ? [textPart(type, content)] : content
  return { status: 'completed', ...item, content: parts }
}

function textPart(type: string, text: string) {
  return { type, text, ...(type === 'output_text' && { annotations: [], logprobs: [] }) }
}
