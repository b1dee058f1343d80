import { AppError } from '../../errors.ts'
import { weightOf } from '../../formats/formats.ts'
import { isObject } from '../protocol/json-object.ts'
import { isConversationId, isId, itemsOf, keptItems, mostItems, referencesIn, withoutReferences } from './items.ts'
import { bothBehind, conversationNotFound, previousNotFound, responseNotFound, wrongField } from './refusals.ts'
import type { Appended, Chain, Item, ItemPage, Reader, ResponseBounds, ResponseObject, ResponseStore } from './store.ts'

/** The fields of a request, as its JSON says them. */
type Body = Readonly<Record<string, unknown>>

/** A request with the whole conversation as its `input`. */
export interface OpenedRequest {
  readonly body: Body
  /** The items that it adds to the conversation; each has an id. */
  readonly own: readonly Item[]
  readonly previous: string | undefined
  /** The id of the conversation to which its input and output are added. */
  readonly conversation: string | undefined
  /** The id of the first response of the conversation that it continues with. */
  readonly thread: string | undefined
  /** Whether its response is to be kept; `body.store` says the same. */
  readonly keep: boolean
  /** Whether no response is ever kept here. */
  readonly isOff: boolean
  readonly warnings: readonly string[]
}

/** The responses that clients of the Responses API go on with. */
export type Responses = ReturnType<typeof createResponses>

export interface ResponseParts {
  readonly store: ResponseStore
  /** How long a response is kept: milliseconds. 0 keeps none. */
  readonly lifetime: number
  readonly bounds: ResponseBounds
  /** Milliseconds since 1970 UTC. */
  readonly clock: () => number
}

/** Responses behind one: each step is a lookup, and a provider reads few conversations of more turns. */
const mostBehind = 1_000

/** Bytes of a conversation: as much as a request may send. */
export const mostBytes = 32 * 1024 * 1024

/** Characters of an input, or of an output, that is kept: to write more in one go would hold up others. */
export const mostKept = 8 * 1024 * 1024

/** No answer takes longer: milliseconds. */
const longestAnswer = 3_600_000

export function createResponses({ store, lifetime, bounds, clock }: ResponseParts) {
  const isOn = lifetime > 0
  const since = () => (isOn ? clock() - lifetime : Number.MAX_SAFE_INTEGER)
  const sureOf = <T>(found: T | undefined, id: string): T => {
    if (found === undefined) throw responseNotFound(id)
    return found
  }

  return {
    /**
     * Reads the conversation behind a request: `previous_response_id` or `conversation`, and references to items.
     * Throws `invalid` for one that is not there (`not_found` for a `conversation`), and for a conversation that is too
     * long; `charge` gets the bytes before they are read.
     */
    async open(body: unknown, reader: Reader, charge?: (bytes: number) => void): Promise<OpenedRequest> {
      const fields = body as Body
      if (typeof body !== 'object' || body === null || Array.isArray(body))
        throw new AppError('invalid', 'The body must be a JSON object')
      const { previous, conversation } = behindOf(fields)
      const id = previous ?? conversation
      const chain = id === undefined ? undefined : await chainOf(id, reader, charge)
      const { items: behind, first } = chain ?? { items: [], first: undefined }
      const thread = previous === undefined ? undefined : first
      const place = { previous, conversation, thread, isOff: !isOn }
      const given =
        itemsOf(fields['input']) ?? (id !== undefined && (fields['input'] ?? undefined) === undefined ? [] : undefined)
      // The reader of the request refuses it, with all other problems.
      if (given === undefined) return { body: fields, own: [], ...place, keep: false, warnings: [] }
      const own = await wholeItems(given, behind, reader, charge)
      const input = [...behind, ...own]
      if (input.length > mostItems) throw tooLong(`input and the items behind it are more than ${mostItems}`)
      const keep = isOn && fields['store'] !== false
      const isLarge = (keep || conversation !== undefined) && weightOf(own, mostKept) > mostKept
      if (isLarge && conversation !== undefined)
        throw wrongField('input', `input must have at most ${mostKept} characters to be added to a conversation`)
      return {
        body: { ...fields, input, ...(isOn && !isLarge ? {} : { store: false }) },
        own: (keep || conversation !== undefined) && !isLarge ? keptItems(own) : [],
        ...place,
        keep: keep && !isLarge,
        warnings: isLarge ? [`The response is not kept: its input has more than ${mostKept} characters`] : [],
      }
    },
    /**
     * Keeps a finished response of an opened request, if it is to be kept, and adds it to its conversation; false where
     * it is too long for that.
     */
    async keep(opened: OpenedRequest, response: ResponseObject, reader: Reader): Promise<boolean> {
      const { own, previous, keep } = opened
      const appended = appendedBy(opened, response)
      if (!keep && !appended) return true
      if (weightOf(response.output, mostKept) > mostKept) return false
      const created = { created_at: clock(), owner: reader.owner, key: reader.key }
      if (keep) await store.add({ ...created, previous, response, input: own, appended }, bounds)
      else if (appended) {
        const most = { items: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER }
        await store.append(reader, appended.conversation, since(), { ...appended, at: clock(), most }, bounds)
      }
      return true
    },
    /** Keeps a response that is answered in the background. */
    async begin({ own, previous }: OpenedRequest, response: ResponseObject, reader: Reader) {
      const created = { created_at: clock(), owner: reader.owner, key: reader.key }
      await store.add({ ...created, previous, response, input: own, unfinished: true }, bounds)
    },
    /** Ends it, and adds an answer to its conversation; false when it was removed, or has ended, meanwhile. */
    finish: (owner: string, response: ResponseObject, opened?: OpenedRequest) =>
      store.finish(owner, response, opened && appendedBy(opened, response)),
    /** Throws `not_found`. */
    find: async (reader: Reader, id: string) =>
      sureOf(isResponseId(id) ? await store.find(reader, id, since()) : undefined, id),
    /** A page of a response's input, besides what is behind it. Throws `not_found`, or `invalid` for `after`. */
    async input(
      reader: Reader,
      id: string,
      page: ItemPage,
    ): Promise<{ readonly items: readonly Item[]; readonly more: boolean }> {
      const found = isResponseId(id) ? await store.input(reader, id, since(), page) : undefined
      if (found) return found
      sureOf(isResponseId(id) ? await store.find(reader, id, since()) : undefined, id)
      throw wrongField('after', `The response has no item with id '${page.after}'`)
    },
    /** Throws `not_found`. */
    async remove(reader: Reader, id: string) {
      if (!isResponseId(id) || !(await store.remove(reader, id))) throw responseNotFound(id)
    },
    extent: (owner: string) => store.extent(owner),
    /** Removes all of an owner's; resolves with their number. */
    removeAll: (owner: string) => store.removeAll(owner),
    /** Fails the responses that ended processes left unfinished. */
    async failOrphans() {
      for (const { owner, response } of await store.orphans(clock() - longestAnswer))
        await store.finish(owner, interrupted(response))
    },
    expire: () => store.expire(since()),
  }

  /** What stands behind a response, or in a conversation. */
  async function chainOf(id: string, reader: Reader, charge: ((bytes: number) => void) | undefined): Promise<Chain> {
    const notFound = isConversationId(id) ? conversationNotFound : previousNotFound
    if (!isOn) throw notFound(id, ['This server keeps no responses: send the whole conversation as input'])
    const limits = { responses: mostBehind, items: mostItems, bytes: mostBytes, charge }
    const chain = await store.chain(reader, id, since(), limits)
    if (chain === 'absent') throw notFound(id)
    if (chain === 'too_long')
      throw tooLong(`${id} has more than ${mostBehind} responses, ${mostItems} items or ${mostBytes} bytes`)
    if (chain === 'unfinished')
      throw wrongField('previous_response_id', `Previous response with id '${id}' is not finished yet.`)
    return chain
  }

  async function wholeItems(
    given: readonly unknown[],
    behind: readonly Item[],
    reader: Reader,
    charge: ((bytes: number) => void) | undefined,
  ): Promise<readonly unknown[]> {
    const ids = referencesIn(given)
    if (ids.length === 0) return given
    const known = new Set(behind.flatMap(({ id }) => (id === undefined ? [] : [id])))
    const asked = ids.filter((id) => !known.has(id))
    const found = await store.items(reader, asked, since(), { bytes: mostBytes, charge })
    if (found === 'too_long') throw tooLong(`input refers to items of more than ${mostBytes} bytes`)
    return withoutReferences(given, found, known)
  }
}

/** The response as it ends when the process that answered it was stopped. */
export function interrupted(response: ResponseObject): ResponseObject {
  const error = { code: 'server_error', message: 'The server was stopped before the answer was whole.' }
  return { ...response, status: 'failed', error }
}

/** Whether a value can be the id of a response, which a conversation's is not. */
function isResponseId(value: unknown): value is string {
  return isId(value) && !isConversationId(value)
}

/** The response, or the conversation, that a request continues with. */
function behindOf(fields: Body): { readonly previous?: string; readonly conversation?: string } {
  const previous = fields['previous_response_id'] ?? undefined
  const named = fields['conversation'] ?? undefined
  if (named !== undefined && previous !== undefined) throw bothBehind()
  if (named === undefined) {
    if (previous === undefined) return {}
    if (isId(previous) && isConversationId(previous)) throw previousNotFound(previous)
    if (isId(previous)) return { previous }
    throw wrongField('previous_response_id', 'previous_response_id must be the id of a response')
  }
  const conversation = isObject(named) ? named['id'] : named
  if (!isId(conversation)) throw wrongField('conversation', 'conversation must be the id of a conversation')
  if (!isConversationId(conversation)) throw conversationNotFound(conversation)
  return { conversation }
}

/** What an answer adds to the conversation of its request: nothing where it failed or was cancelled. */
function appendedBy({ conversation, own }: OpenedRequest, { status, output }: ResponseObject): Appended | undefined {
  if (conversation === undefined || (status !== 'completed' && status !== 'incomplete')) return undefined
  return { conversation, items: [...own, ...keptItems(output)] }
}

function tooLong(extent: string): AppError {
  return wrongField('input', `The conversation is too long: ${extent}`, ['Begin a new one'], 'context_length_exceeded')
}
