import { closeSync, fstatSync, openSync, readFileSync, statSync } from 'node:fs'
import { AppError } from '../../errors.ts'
import { type FileKind, fileChunks, memberSpans, textLines, validate } from '../../formats/formats.ts'
import { personaOfCard, unusedOf, withoutLore } from '../card/card.ts'
import { type CardFile, readCardFile } from '../card/card-file.ts'
import { entriesOf, readLorebook } from '../card/lorebook.ts'
import { type Fields, isFields, withoutFields } from '../fields.ts'
import { memoryInput } from '../memory/memory.ts'
import {
  type Arrival,
  type ArrivalOptions,
  type ArrivalReport,
  type ArrivedMemory,
  labelOf,
  parseForeign,
  timeOf,
} from './arrival.ts'
import { openConversationArchive, openConversationFile } from './conversations.ts'
import { isAgentFile, isJsonLines, isLorebook, longestLine } from './detect.ts'
import { openAgentFile } from './letta.ts'

/** Opens a plain file by its first bytes and its directory; undefined where only a whole look can tell it from a package. */
export function openByKind(path: string, kind: FileKind, options: ArrivalOptions): Arrival | undefined {
  if (kind === 'list') return openConversationFile(path, options)
  if (kind === 'json') return isJsonLines(path) ? openJsonLines(path, options) : undefined
  if (kind !== 'zip' && kind !== 'png') return undefined
  const card = readCardFile(path)
  if (card) return openCard(card, options)
  return kind === 'zip' ? openConversationArchive(path, options) : undefined
}

/** Opens a JSON object that is no package: a character card, a lorebook or an agent file; undefined for any other. */
export function openByNames(path: string, options: ArrivalOptions): Arrival | undefined {
  const names = namesOf(path)
  if (isAgentFile(names)) return openAgentFile(path, options)
  const book = isLorebook(names) || names.has('spec') ? standaloneLorebook(path) : undefined
  if (book) return openLorebook(book, options)
  const card = readCardFile(path)
  return card && openCard(card, options)
}

function namesOf(path: string): ReadonlyMap<string, unknown> {
  const file = openSync(path, 'r')
  try {
    return memberSpans(file, fstatSync(file).size)
  } finally {
    closeSync(file)
  }
}

function openCard({ card, portrait, assets }: CardFile, { now }: ArrivalOptions): Arrival {
  const book = readLorebook(card.data['character_book'], now, 'card')
  return {
    format: 'card',
    persona: personaOfCard(card),
    passthrough: { card: withoutLore(card, book.kept), ...(portrait !== undefined && { portrait }) },
    warnings: unusedOf(card, book.patterns),
    memories(report) {
      for (const [reason, count] of book.leftOut) report.leaveOut(reason, count)
      report.leaveOut('files of the archive, of which only a PNG icon is kept', assets)
      return book.memories
    },
  }
}

/** Bytes of the largest lorebook that is read: some ten thousand entries. */
const largest = 32 * 1024 ** 2

/**
 * The lorebook of a file that holds nothing else: world info of SillyTavern, the entries of a card's lorebook, or those with
 * the frame of version 3 (`lorebook_v3`); undefined for a file with another `spec`. Throws `too_large`.
 */
function standaloneLorebook(path: string): Fields | undefined {
  if (statSync(path).size > largest) throw new AppError('too_large', `A lorebook may have ${largest} bytes`)
  const file = parseForeign(readFileSync(path), 'the lorebook')
  if (!isFields(file)) return undefined
  if (file['spec'] === undefined) return file
  return file['spec'] === 'lorebook_v3' && isFields(file['data']) ? file['data'] : undefined
}

/** The entries of a lorebook as memories with keys. */
function openLorebook(book: Fields, { now }: ArrivalOptions): Arrival {
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

/** Memories as JSON lines: `{content, timestamp?, importance_score?, metadata?}`, the input of a new memory; the time may be a text. */
function openJsonLines(path: string, { after, now }: ArrivalOptions): Arrival {
  return {
    format: 'jsonl',
    persona: { name: 'Imported memories', memory_settings: { enabled: true } },
    passthrough: {},
    warnings: [],
    *memories(report) {
      const conversations = new Set<unknown>()
      let number = 0
      for (const line of textLines(fileChunks(path), longestLine)) {
        number++
        const memory = readLine(line, number, report)
        if (!memory) continue
        if (after !== undefined && memory.timestamp !== undefined && memory.timestamp < after) {
          report.leaveOut('memories before the given time')
          continue
        }
        conversations.add(memory.metadata['conversation'])
        conversations.delete(undefined)
        report.conversations = conversations.size
        yield { ...memory, timestamp: memory.timestamp ?? now }
      }
    },
  }
}

/** The input with its time in milliseconds where it is an ISO 8601 text, as most programs write it. */
function withTime(value: unknown): unknown {
  const { timestamp } = (value ?? {}) as { timestamp?: unknown }
  const time = typeof timestamp === 'string' ? timeOf(timestamp) : undefined
  return time === undefined ? value : { ...(value as object), timestamp: time }
}

type Line = Omit<ArrivedMemory, 'timestamp'> & { readonly timestamp?: number }

/** Undefined for an empty line, and for a faulty one, after its problem was put into the report. */
function readLine(bytes: Buffer | undefined, number: number, report: ArrivalReport): Line | undefined {
  if (!bytes) {
    report.problem(`line ${number} is longer than ${longestLine} bytes`)
    return undefined
  }
  if (bytes.toString('latin1').trim() === '') return undefined
  let value: unknown
  try {
    value = parseForeign(bytes, `line ${number}`)
  } catch (reason) {
    report.problem(reason instanceof Error ? reason.message : String(reason))
    return undefined
  }
  const valid = validate(memoryInput, withTime(value))
  if (valid.problems === undefined) return valid.data
  for (const problem of valid.problems) report.problem(`line ${number}: ${problem}`)
  return undefined
}
