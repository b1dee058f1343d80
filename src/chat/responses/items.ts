import { randomUUID } from 'node:crypto'
import { isObject } from '../protocol/json-object.ts'
import { wrongField } from './refusals.ts'
import type { Item } from './store.ts'

/** The most items of a conversation, those behind it included. */
export const mostItems = 5_000

/** The most references to kept items in one request. */
const mostReferences = 2_000

/** Unknown items that an error names in addition to the first. */
const mostNamed = 9

/** The longest id: OpenAI's have some 60 characters. */
const longestId = 200

/**
 * The items of a request's `input`: a text is one message of the user. Entries that are no objects stay for the reader of
 * the request, which refuses them with all other problems; undefined for an input that is neither text nor list.
 */
export function itemsOf(input: unknown): readonly unknown[] | undefined {
  if (typeof input === 'string')
    return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }]
  if (!Array.isArray(input)) return undefined
  if (input.length > mostItems) throw wrongField('input', `input must hold at most ${mostItems} items`)
  return input
}

/** The id that an item refers to, where it is a reference; OpenAI's may have no type. Throws `invalid` for a wrong id. */
function referenceOf(item: unknown): string | undefined {
  if (!isObject(item)) return undefined
  const { type, id } = item
  const isBare = (type === undefined || type === null) && item['role'] === undefined && id !== undefined
  if (type !== 'item_reference' && !isBare) return undefined
  if (isId(id)) return id
  throw wrongField('input', `The id of an item_reference must be text of at most ${longestId} characters`)
}

/** Whether a value can be the id of a response or an item. */
export function isId(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0 && value.length <= longestId
}

/** Whether an id is a conversation's: those of responses begin otherwise. */
export function isConversationId(id: string): boolean {
  return id.startsWith('conv_')
}

/** A new, unguessable id of a conversation. */
export function newConversationId(): string {
  return newId('conv')
}

/** The ids that a request refers to. Throws `invalid` for too many, a wrong one, or one twice. */
export function referencesIn(items: readonly unknown[]): readonly string[] {
  const ids = new Set<string>()
  for (const item of items) {
    const id = referenceOf(item)
    if (id === undefined) continue
    if (ids.has(id)) throw wrongField('input', `Duplicate item found with id '${id}'.`)
    ids.add(id)
  }
  if (ids.size > mostReferences) throw wrongField('input', `input must refer to at most ${mostReferences} items`)
  return [...ids]
}

/**
 * The items with the kept ones instead of references. A reference to an item that stands before them (`behind`) goes, as
 * does one to unknown reasoning, which only its provider could use. Throws `invalid` for any other unknown one.
 */
export function withoutReferences(
  items: readonly unknown[],
  kept: ReadonlyMap<string, Item>,
  behind: ReadonlySet<string>,
): readonly unknown[] {
  const unknown = new Set<string>()
  const whole = items.flatMap((item) => {
    const id = referenceOf(item)
    if (id === undefined) return [item]
    if (behind.has(id)) return []
    const found = kept.get(id)
    if (found) return [found]
    if (!id.startsWith('rs_')) unknown.add(id)
    return []
  })
  if (unknown.size === 0) return whole
  const [first, ...others] = [...unknown].map((id) => `Item with id '${id}' not found.`)
  const rest = others.length > mostNamed ? [`${others.length - mostNamed} more were not found`] : []
  const advice = 'Send the items themselves, as with store: false'
  throw wrongField('input', first!, [...others.slice(0, mostNamed), ...rest, advice])
}

/** The beginnings of the ids of items, by their type. */
const prefixes: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  function_call_output: 'fco',
  custom_tool_call: 'ctc',
  custom_tool_call_output: 'ctco',
  compaction: 'cmp',
}

/** The items as they are kept: each has a type and an id. */
export function keptItems(items: readonly unknown[]): readonly Item[] {
  return items.filter(isObject).map((item) => {
    const type = typeof item['type'] === 'string' ? item['type'] : 'message'
    if (isId(item['id'])) return { ...item, type, id: item['id'] }
    return { ...item, type, id: newId(prefixes[type] ?? 'item') }
  })
}

/** A new, unguessable id. */
function newId(prefix: string): string {
  return `${prefix}_${randomUUID().replaceAll('-', '')}`
}
