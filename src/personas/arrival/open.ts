import { closeSync, fstatSync, openSync } from 'node:fs'
import { type FileKind, fileChunks, memberSpans, textLines, validate } from '../../formats/formats.ts'
import { personaOfCard, unusedOf, withoutLore } from '../card/card.ts'
import { type CardFile, readCardFile } from '../card/card-file.ts'
import { readLorebook } from '../card/lorebook.ts'
import { memoryInput } from '../memory/memory.ts'
import {
  type Arrival,
  type ArrivalOptions,
  type ArrivalReport,
  type ArrivedMemory,
  parseForeign,
  timeOf,
} from './arrival.ts'
import { openConversationArchive, openConversationFile } from './conversations.ts'
import { isAgentFile, isJsonLines, longestLine } from './detect.ts'
import { openAgentFile } from './letta.ts'

/** Opens a plain file by its first bytes and its directory; undefined where only a whole look can tell it from a package. */
export function openByKind(path: string, kind: FileKind, options: ArrivalOptions): Arrival | undefined {
  if (kind === 'list') return openConversationFile(path, options)
  if (kind === 'json') return isJsonLines(path) ? openJsonLines(path, options) : undefined
  if (kind === 'zip') return openConversationArchive(path, options)
  const card = kind === 'png' ? readCardFile(path) : undefined
  return card && openCard(card, options)
}

/** Opens a JSON object that is no package: a character card or an agent file; undefined for any other. */
export function openByNames(path: string, options: ArrivalOptions): Arrival | undefined {
  if (isAgentFile(namesOf(path))) return openAgentFile(path, options)
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

function openCard({ card, portrait }: CardFile, { now }: ArrivalOptions): Arrival {
  const book = readLorebook(card.data['character_book'], now)
  return {
    format: 'card',
    persona: personaOfCard(card),
    passthrough: { card: withoutLore(card, book.kept), ...(portrait !== undefined && { portrait }) },
    warnings: unusedOf(card, book.patterns),
    memories(report) {
      for (const [reason, count] of book.leftOut) report.leaveOut(reason, count)
      return book.memories
    },
  }
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
