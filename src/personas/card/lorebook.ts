import { type Fields, isFields, withoutFields } from '../fields.ts'
import { isLore, loreLimits } from '../memory/lore.ts'
import { type MemoryEntry, maxContentLength, type NewMemory, wellFormed } from '../memory/memory.ts'

/** An entry of a lorebook as a memory, with the entry's own fields beside it. */
export type LoreMemory = Pick<NewMemory, 'content' | 'timestamp' | 'importance_score' | 'metadata'> & {
  readonly extra: Fields
}

/** Characters of JSON that an entry's keys may have, primary and secondary each: metadata has room for 10,000. */
const longestKeys = 4_000

/** Characters of JSON of an entry's other fields; a package may carry 64 Ki with a memory. */
const longestEntry = 60_000

/** The field of a memory's carried fields that holds the entry it came from. */
const carried = 'lorebook_entry'

/** The entries of a lorebook. Equal contents become one memory with the keys of all. */
export function readLorebook(given: unknown, now: number) {
  const book = isFields(given) ? given : {}
  const memories = new Map<string, LoreMemory>()
  /** Entries that cannot be memories; they stay with the card. */
  const kept: unknown[] = []
  /** Reasons of the kept entries, and keys beyond the limits, with their number. */
  const leftOut = new Map<string, number>()
  const leave = (reason: string, count = 1) => leftOut.set(reason, (leftOut.get(reason) ?? 0) + count)
  /** Entries with regular expressions, which are never run. */
  let patterns = 0
  for (const entry of entriesOf(book)) {
    const problem = problemOf(entry)
    if (problem !== undefined || !isFields(entry)) {
      leave(`${problem}, kept in the card`)
      kept.push(entry)
      continue
    }
    const content = wellFormed(String(entry['content'])).trim()
    const keys = boundedKeys(entry['keys'])
    const secondary = boundedKeys(entry['secondary_keys'])
    if (keys.over + secondary.over > 0) leave('lorebook keys beyond the limits of an entry', keys.over + secondary.over)
    if (entry['use_regex'] === true) patterns++
    const same = memories.get(content)
    if (same) {
      leave('lorebook entries with the content of another one, which has their keys now')
      const both = boundedKeys([...(same.metadata['keys'] as readonly string[]), ...keys.keys])
      memories.set(content, { ...same, metadata: { ...same.metadata, keys: both.keys } })
      continue
    }
    memories.set(content, {
      content,
      timestamp: now,
      importance_score: 0.5,
      metadata: {
        category: 'lore',
        pinned: true,
        source: 'card',
        keys: keys.keys,
        ...(secondary.keys.length > 0 && { secondary_keys: secondary.keys }),
        ...plainFields(entry),
        ...(typeof book['scan_depth'] === 'number' && { scan_depth: book['scan_depth'] }),
      },
      extra: { [carried]: withoutFields(entry, new Set(['content'])) },
    })
  }
  return { memories: [...memories.values()], kept, leftOut, patterns }
}

/** A list, or an object of entries as some programs write it. */
function entriesOf(book: Fields): readonly unknown[] {
  const { entries } = book
  if (Array.isArray(entries)) return entries
  return isFields(entries) ? Object.values(entries) : []
}

/** The reason why an entry cannot be a memory. */
function problemOf(entry: unknown): string | undefined {
  if (!isFields(entry) || typeof entry['content'] !== 'string') return 'lorebook entries without a text'
  const { content, ...others } = entry
  if (String(content).trim() === '') return 'lorebook entries without a text'
  if (String(content).trim().length > maxContentLength)
    return `lorebook entries longer than ${maxContentLength} characters`
  if (JSON.stringify(others).length > longestEntry)
    return `lorebook entries with more than ${longestEntry} characters beside their text`
  return undefined
}

const flags = ['constant', 'selective', 'case_sensitive', 'use_regex'] as const
const numbers = ['insertion_order', 'priority'] as const

/** The fields that steer an entry, where they have their type; `enabled` only where it is false. */
function plainFields(entry: Fields): Fields {
  return Object.fromEntries([
    ...flags.flatMap((name) => (entry[name] === true ? [[name, true] as const] : [])),
    ...numbers.flatMap((name) => (Number.isFinite(entry[name]) ? [[name, entry[name]] as const] : [])),
    ...(entry['enabled'] === false ? [['enabled', false] as const] : []),
  ])
}

/** Keys within the limits, each once, and how many were over. Some programs write secondary keys as one text with commas. */
function boundedKeys(value: unknown): { readonly keys: readonly string[]; readonly over: number } {
  const given = typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value : []
  const texts = given.filter((key): key is string => typeof key === 'string').map((key) => wellFormed(key).trim())
  const unique = [...new Set(texts)].filter((key) => key !== '')
  const keys: string[] = []
  let length = 0
  for (const key of unique) {
    const size = JSON.stringify(key).length + 1
    if (keys.length === loreLimits.keys || key.length > loreLimits.key || length + size > longestKeys) continue
    length += size
    keys.push(key)
  }
  return { keys, over: unique.length - keys.length }
}

/**
 * The lorebook of a persona's card: the memories with keys as entries, each with the fields it came with, and behind them the
 * entries that are no memories. Undefined where there is neither.
 * @param book the lorebook of the card that was imported
 */
export function writeLorebook(
  book: unknown,
  memories: Iterable<{ readonly entry: MemoryEntry; readonly extra: Fields }>,
): Fields | undefined {
  const known: Fields = isFields(book) ? book : { extensions: {} }
  const entries: unknown[] = []
  for (const { entry, extra } of memories) if (isLore(entry.metadata)) entries.push(writeEntry(entry, extra))
  if (entries.length === 0 && !isFields(book)) return undefined
  entries.sort((left, right) => orderOf(left) - orderOf(right))
  return { ...known, entries: [...entries, ...entriesOf(known)] }
}

/** The fields of an entry for a memory that came from no lorebook. */
const newEntry: Fields = { use_regex: false, extensions: {}, insertion_order: 100 }

function writeEntry({ content, metadata }: MemoryEntry, extra: Fields): Fields {
  const origin = isFields(extra[carried]) ? extra[carried] : newEntry
  const changed = ['keys', 'secondary_keys'].flatMap((name) => {
    const present = metadata[name] ?? []
    // Keys beyond the limits come back as long as the others are as they came.
    const isSame = JSON.stringify(boundedKeys(origin[name]).keys) === JSON.stringify(present)
    return isSame && origin[name] !== undefined
      ? []
      : name === 'keys' || metadata[name] !== undefined
        ? [[name, present]]
        : []
  })
  return {
    ...origin,
    ...Object.fromEntries([
      ...changed,
      ...flags.flatMap((name) => {
        const isOn = metadata[name] === true
        return isOn || origin[name] === true ? [[name, isOn]] : []
      }),
      ...numbers.flatMap((name) => (typeof metadata[name] === 'number' ? [[name, metadata[name]]] : [])),
    ]),
    content,
    enabled: metadata['enabled'] !== false,
  }
}

function orderOf(entry: unknown): number {
  const order = isFields(entry) ? entry['insertion_order'] : undefined
  return typeof order === 'number' ? order : 100
}
