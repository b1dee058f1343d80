import type { App } from '../app/app.ts'
import {
  compactionPlace,
  hasCompaction,
  isSealed,
  type JsonObject,
  type OpenedRequest,
  type Reader,
  type ResponseObject,
  withSummaries,
  wrongField,
} from '../chat/chat.ts'
import { toAppError } from '../errors.ts'
import type { Identity } from './identity.ts'
import type { RequestContext } from './request-context.ts'
import { chargeBody } from './request-holder.ts'

export interface WholeRequest {
  readonly body: JsonObject
  /** The items of its input as they came: `body` has the summaries among them as messages. */
  readonly items: readonly unknown[]
  /** Fields of the response object that the body no longer tells, such as `previous_response_id`. */
  readonly echo: JsonObject
  readonly opened: OpenedRequest
  readonly reader: Reader
  /** Whether the client waits for no answer. */
  readonly inBackground: boolean
}

/** Reads as the caller of a request: a login, or an API key. */
export function readerOf({ caller }: Identity): Reader {
  return { owner: caller!.id, key: caller!.key?.id }
}

/**
 * Completes a request from the responses that are kept: earlier items, and those that it refers to. Throws `invalid`.
 */
export async function completeRequest(
  app: App,
  context: RequestContext,
  identity: Identity,
  sent: unknown,
): Promise<WholeRequest> {
  const { responses } = await app.responses()
  const reader = readerOf(identity)
  const charge = (bytes: number) => chargeBody(context.request, bytes)
  const opened = await responses.open(sent, reader, charge)
  const { previous_response_id: previous, conversation: _, background, ...body } = opened.body
  if (background !== undefined && background !== null && typeof background !== 'boolean')
    throw wrongField('background', 'background must be true or false')
  const inBackground = background === true
  if (inBackground && !opened.keep)
    throw wrongField('background', 'A response in the background must be kept', [
      opened.isOff
        ? 'This server keeps no responses: ask without background'
        : 'Leave out store: false, or shorten input',
    ])
  const items = Array.isArray(body['input']) ? (body['input'] as readonly unknown[]) : []
  const input = Array.isArray(body['input']) ? await openedItems(app, reader.owner, items) : body['input']
  return {
    body: { ...body, input },
    items,
    echo: {
      previous_response_id: previous ?? null,
      store: opened.keep,
      ...(opened.conversation !== undefined && { conversation: { id: opened.conversation } }),
    },
    opened,
    reader,
    inBackground,
  }
}

/**
 * The items of a request with the summaries that this server made for its user as messages. Throws `invalid` for one that it
 * made for another user, or that another server made.
 */
async function openedItems(app: App, user: string, items: readonly unknown[]): Promise<readonly unknown[]> {
  if (!hasCompaction(items)) return items
  const { reasoning } = await app.chat()
  const open = reasoning.openFor(user, compactionPlace)
  return withSummaries(items, (sealed) => {
    const summary = open(sealed)
    if (summary || !isSealed(sealed)) return summary
    throw wrongField('input', 'A compaction item was made for another user or by another server, and cannot be read')
  })
}

/**
 * Keeps a response, unless it failed, before its end is sent. A failure to keep it is reported to the operator alone, since the
 * answer is there: false then, and for one that is too long.
 */
export async function keepResponse(app: App, { opened, reader }: WholeRequest, response: JsonObject): Promise<boolean> {
  if (response['status'] === 'failed') return true
  try {
    const { responses } = await app.responses()
    return await app.patiently(() => responses.keep(opened, response as ResponseObject, reader))
  } catch (reason) {
    const fields = { reason: toAppError(reason).message }
    for (const tell of app.remarkListeners) tell('a response could not be kept', fields)
    return false
  }
}
