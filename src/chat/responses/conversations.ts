import { weightOf } from '../../formats/formats.ts'
import { isObject } from '../protocol/json-object.ts'
import { isConversationId, isId, keptItems, mostItems, newConversationId, referencesIn } from './items.ts'
import { conversationNotFound, itemNotFound, wrongField } from './refusals.ts'
import { mostBytes, mostKept, type ResponseParts } from './responses.ts'
import type { Item, ItemPage, Reader, ResponseObject } from './store.ts'

export type Metadata = Readonly<Record<string, string>>

/** A conversation without its items. */
export interface Conversation {
  readonly id: string
  /** Seconds since 1970 UTC. */
  readonly created_at: number
  readonly metadata: Metadata
}

/** The conversations of the Responses API, which are kept as its responses are. Unknown ones are `not_found`. */
export type Conversations = ReturnType<typeof createConversations>

/** Items that OpenAI takes at a time. */
const mostAtOnce = 20

/** OpenAI's bounds of metadata: pairs, and characters of a name and a value. */
const mostLabels = { pairs: 16, name: 64, value: 512 }

/** Conversations in the store of responses. */
export function createConversations({ store, lifetime, bounds, clock }: ResponseParts) {
  const since = () => clock() - lifetime

  async function stored(reader: Reader, id: string): Promise<ResponseObject> {
    const isPossible = lifetime > 0 && isId(id) && isConversationId(id)
    const found = isPossible ? await store.find(reader, id, since()) : undefined
    if (!found) throw conversationNotFound(id)
    return found.response
  }

  return {
    /** Makes one with items, at most 20. Throws `invalid` for wrong labels or items. */
    async create(reader: Reader, given: unknown, labels: unknown): Promise<Conversation> {
      if (lifetime <= 0)
        throw wrongField('items', 'This server keeps no conversations', ['Its operator can set responses.keep_days'])
      const input = newItems(given ?? [])
      const metadata = metadataOf(labels)
      const at = clock()
      const fields = { id: newConversationId(), created_at: Math.floor(at / 1000), metadata }
      const response = { ...fields, status: 'completed', output: [] }
      await store.add({ owner: reader.owner, key: reader.key, response, input, created_at: at }, bounds)
      return fields
    },
    find: async (reader: Reader, id: string) => shown(await stored(reader, id)),
    /** Replaces its labels. */
    async update(reader: Reader, id: string, labels: unknown): Promise<Conversation> {
      const changed = { ...(await stored(reader, id)), metadata: metadataOf(labels) }
      if (!(await store.describe(reader, changed, since(), clock()))) throw conversationNotFound(id)
      return shown(changed)
    },
    async remove(reader: Reader, id: string) {
      await stored(reader, id)
      if (!(await store.remove(reader, id))) throw conversationNotFound(id)
    },
    /** Adds items, at most 20; resolves with them and their ids. Throws `invalid` for too long a conversation. */
    async add(reader: Reader, id: string, given: unknown): Promise<readonly Item[]> {
      await stored(reader, id)
      const most = { items: mostItems, bytes: mostBytes }
      const added = await store.append(reader, id, since(), { items: newItems(given), at: clock(), most }, bounds)
      if (added === 'absent') throw conversationNotFound(id)
      if (added !== 'too_long') return added
      throw wrongField('items', `A conversation holds at most ${mostItems} items and ${mostBytes} bytes`, [
        'Remove some of its items, or begin a new one',
      ])
    },
    /** A page of its items. Throws `invalid` for an unknown `after`. */
    async items(
      reader: Reader,
      id: string,
      page: ItemPage,
    ): Promise<{ readonly items: readonly Item[]; readonly more: boolean }> {
      await stored(reader, id)
      const found = await store.input(reader, id, since(), page)
      if (found) return found
      throw wrongField('after', `The conversation has no item with id '${page.after}'`)
    },
    async item(reader: Reader, id: string, item: string): Promise<Item> {
      await stored(reader, id)
      const found = isId(item) ? await store.item(reader, id, since(), item) : undefined
      if (!found) throw itemNotFound(id, item)
      return found
    },
    async removeItem(reader: Reader, id: string, item: string) {
      await stored(reader, id)
      if (!isId(item) || !(await store.removeItem(reader, id, since(), item))) throw itemNotFound(id, item)
    },
  }
}

function shown({ id, created_at, metadata }: ResponseObject): Conversation {
  return { id, created_at: created_at as number, metadata: metadata as Metadata }
}

/** The items that a client adds. Those of unknown types are kept as they are. */
function newItems(given: unknown): readonly Item[] {
  if (!Array.isArray(given) || !given.every(isObject)) throw wrongField('items', 'items must be a list of objects')
  if (given.length > mostAtOnce) throw wrongField('items', `items must hold at most ${mostAtOnce} items at a time`)
  if (referencesIn(given).length > 0) throw wrongField('items', 'items must be whole: an item_reference is none')
  if (weightOf(given, mostKept) > mostKept)
    throw wrongField('items', `items must have at most ${mostKept} characters together`)
  return keptItems(given)
}

function metadataOf(given: unknown): Metadata {
  if (given === undefined || given === null) return {}
  const pairs = isObject(given) ? Object.entries(given) : []
  const { pairs: most, name, value } = mostLabels
  const isGood = ([key, text]: [string, unknown]) =>
    key.length <= name && typeof text === 'string' && text.length <= value
  if (isObject(given) && pairs.length <= most && pairs.every(isGood)) return given as Metadata
  throw wrongField(
    'metadata',
    `metadata must be an object of at most ${most} texts, with ${name} characters in a name and ${value} in a text`,
  )
}
