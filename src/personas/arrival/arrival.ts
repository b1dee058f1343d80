import { AppError } from '../../errors.ts'
import { isoTime, parseJson, printableLine } from '../../formats/formats.ts'
import type { CardPersona } from '../card/card.ts'
import type { Fields } from '../fields.ts'
import { type Metadata, maxContentLength, wellFormed } from '../memory/memory.ts'

/** The formats of other programs, beside packages. */
export type ArrivalFormat = 'card' | 'letta' | 'chatgpt' | 'claude' | 'jsonl'

/** A memory of another program's file, as the store keeps it. */
export interface ArrivedMemory {
  readonly content: string
  /** Milliseconds since 1970 UTC. */
  readonly timestamp: number
  readonly importance_score: number
  readonly metadata: Metadata
  /** Fields of its source without a place here; exported again. */
  readonly extra?: Fields
}

export interface ArrivalOptions {
  /** Leaves out older memories: milliseconds since 1970 UTC. */
  readonly after?: number | undefined
  /** Takes the assistant's turns of exported conversations, too. */
  readonly withAnswers?: boolean | undefined
  /** The time of memories without one: milliseconds since 1970 UTC. */
  readonly now: number
}

/** Parts of a file that an import leaves out, with the reason. */
export interface LeftOut {
  readonly what: string
  readonly count: number
}

/** A file of another program, ready to be imported. */
export interface Arrival {
  readonly format: ArrivalFormat
  /** The persona that the file describes, or that its memories get when they come as a new one. */
  readonly persona: CardPersona
  /** Parts without a place in the store, which an export writes again: the card, and its picture as a PNG in base64. */
  readonly passthrough: { readonly card?: Fields; readonly portrait?: string }
  /** Sentences about parts that are kept or changed. */
  readonly warnings: readonly string[]
  /** Reads the memories, anew with each call; omissions and faults go into the report. */
  memories(report: ArrivalReport): Iterable<ArrivedMemory>
}

/** Problems after which a file is not read on. */
const mostProblems = 1000

/** Counts the conversations of a file and the parts that are left out of it, and gathers its problems. */
export class ArrivalReport {
  conversations = 0
  readonly problems: string[] = []
  readonly #leftOut = new Map<string, number>()

  /** Counts parts that are left out, by their reason. */
  leaveOut(what: string, count = 1): void {
    if (count > 0) this.#leftOut.set(what, (this.#leftOut.get(what) ?? 0) + count)
  }

  /** Notes a problem that refuses the file. Throws `invalid` when there are too many to read on. */
  problem(text: string): void {
    this.problems.push(text)
    if (this.problems.length >= mostProblems)
      throw new AppError('invalid', 'The file cannot be imported', {
        details: [...this.problems.slice(0, 50), `and ${mostProblems - 50} more: the rest was not looked at`],
      })
  }

  /** The parts that are left out, the most frequent first. */
  leftOut(): readonly LeftOut[] {
    return [...this.#leftOut]
      .map(([what, count]) => ({ what, count }))
      .sort((left, right) => right.count - left.count || (left.what < right.what ? -1 : 1))
  }
}

/** Parses JSON of another program, with U+FFFD for half a surrogate pair. Throws `invalid` for bad or too deep JSON. */
export function parseForeign(bytes: Uint8Array, name: string): unknown {
  return parseJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'), name)
}

/** A label for metadata: one printable line of at most 200 characters; '' where nothing is left. */
export function labelOf(value: unknown): string {
  return typeof value === 'string' ? printableLine(wellFormed(value)).trim().slice(0, 200).trim() : ''
}

/** The id of a conversation as a label. */
export function idOf(...values: readonly unknown[]): string {
  return values.map(labelOf).find((id) => id !== '') ?? ''
}

/** The latest time that a memory may have: the end of the year 9999. */
const latest = 253_402_300_799_999

/** A time in seconds (with fractions) or as an ISO text of at most 40 characters, in milliseconds; undefined for anything else. */
export function timeOf(value: unknown): number | undefined {
  const time =
    typeof value === 'number'
      ? Math.round(value * 1000)
      : typeof value === 'string' && value.length <= 40
        ? isoTime(value)
        : undefined
  return time !== undefined && Number.isSafeInteger(time) && time >= 0 && time <= latest ? time : undefined
}

/** A text as contents of memories: itself, or cut at paragraphs, lines or spaces; none for an empty one. */
export function* contentsOf(text: string): Generator<string> {
  let rest = wellFormed(text).trim()
  while (rest.length > maxContentLength) {
    const start = rest.slice(0, maxContentLength)
    const breaks = ['\n\n', '\n', ' '].map((mark) => start.lastIndexOf(mark))
    const end = breaks.find((at) => at > maxContentLength / 2) ?? maxContentLength
    // Half a surrogate pair stays with its other half.
    const cut = /[\ud800-\udbff]/.test(rest[end - 1]!) ? end - 1 : end
    yield rest.slice(0, cut).trim()
    rest = rest.slice(cut).trim()
  }
  if (rest !== '') yield rest
}

export interface Turn {
  readonly speaker: 'user' | 'assistant'
  readonly text: string
  /** Milliseconds since 1970 UTC; undefined where the export has none. */
  readonly timestamp: number | undefined
}

export interface ExportedConversation {
  readonly id: string
  readonly title: string
  readonly turns: readonly Turn[]
}
