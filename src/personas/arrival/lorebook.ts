import { readFileSync, statSync } from 'node:fs'
import { AppError } from '../../errors.ts'
import { entriesOf, readLorebook } from '../card/lorebook.ts'
import { type Fields, isFields, withoutFields } from '../fields.ts'
import { type Arrival, type ArrivalOptions, labelOf, parseForeign } from './arrival.ts'

/** Bytes of the largest lorebook that is read: some ten thousand entries. */
const largest = 32 * 1024 ** 2

/**
 * The lorebook of a file that holds nothing else: world info of SillyTavern, the entries of a card's lorebook, or those with
 * the frame of version 3 (`lorebook_v3`); undefined for a file with another `spec`. Throws `too_large`.
 */
export function standaloneLorebook(path: string): Fields | undefined {
  if (statSync(path).size > largest) throw new AppError('too_large', `A lorebook may have ${largest} bytes`)
  const file = parseForeign(readFileSync(path), 'the lorebook')
  if (!isFields(file)) return undefined
  if (file['spec'] === undefined) return file
  return file['spec'] === 'lorebook_v3' && isFields(file['data']) ? file['data'] : undefined
}

/** The entries of a lorebook as memories with keys. */
export function openLorebook(book: Fields, { now }: ArrivalOptions): Arrival {
  const entries = entriesOf(book)
  const unmet = entries.filter((entry) => isFields(entry) && hasOtherLogic(entry)).length
  const read = readLorebook({ ...book, entries: entries.map(cardEntry) }, now, 'lorebook')
  return {
    format: 'lorebook',
    persona: { name: labelOf(book['name']) || 'Lorebook' },
    passthrough: {},
    warnings:
      read.patterns > 0
        ? [`${read.patterns} entries have regular expressions as keys, which are kept and never run`]
        : [],
    memories(report) {
      for (const [reason, count] of read.leftOut) report.leaveOut(reason, count)
      report.leaveOut('conditions of entries other than "any of the secondary keys"', unmet)
      return read.memories
    },
  }
}

/** The fields of SillyTavern's entries that have another name in a card. */
const renamed = new Set(['key', 'keysecondary', 'order', 'disable', 'caseSensitive', 'content', 'comment', 'constant'])

/** An entry of SillyTavern's as one of a card, its other fields as extensions; any other as it is. */
function cardEntry(entry: unknown): unknown {
  if (!isFields(entry) || !Array.isArray(entry['key'])) return entry
  const { key, keysecondary, order, disable, caseSensitive, content, comment, constant } = entry
  const isPattern = key.length > 0 && key.every((text) => /^\/.+\/[a-z]*$/.test(String(text)))
  return {
    keys: key,
    ...(Array.isArray(keysecondary) && { secondary_keys: keysecondary }),
    selective:
      entry['selective'] === true && Array.isArray(keysecondary) && keysecondary.length > 0 && !hasOtherLogic(entry),
    insertion_order: typeof order === 'number' ? order : 100,
    enabled: disable !== true,
    ...(caseSensitive === true && { case_sensitive: true }),
    ...(comment !== undefined && { comment }),
    constant: constant === true,
    use_regex: isPattern,
    content,
    extensions: withoutFields(entry, renamed),
  }
}

/** Whether secondary keys of an entry of SillyTavern's mean something else than that one of them must occur. */
function hasOtherLogic({ keysecondary, selective, selectiveLogic }: Fields): boolean {
  return selective === true && Boolean(selectiveLogic) && Array.isArray(keysecondary) && keysecondary.length > 0
}
