import type { ContentPart } from '../../../chat/chat.ts'

/** One file of a question, as it goes into the request. */
export interface Attachment {
  /** The path or address as it was given, or found below a folder. */
  readonly name: string
  /** The media type; `text/plain` for any text. */
  readonly type: string
  /** Bytes of the file itself. */
  readonly bytes: number
  /** Tokens that it costs, estimated. */
  readonly tokens: number
  readonly parts: readonly ContentPart[]
}

/** A file that was met and is not sent. */
export interface LeftOut {
  readonly name: string
  readonly reason: string
}

/** The files of a question in the order in which they were given, and those left out. */
export interface Attached {
  readonly files: readonly Attachment[]
  readonly leftOut: readonly LeftOut[]
  /** True where a folder, a pattern or an address was given: its user has not named each file. */
  readonly isFound: boolean
}

export const nothingAttached: Attached = { files: [], leftOut: [], isFound: false }
