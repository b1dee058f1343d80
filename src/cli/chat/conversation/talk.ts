import type { Message } from '../../../chat/chat.ts'
import type { Cli } from '../../terminal/cli.ts'
import type { Attached } from '../files/attachment.ts'
import type { Recall } from './recall.ts'
import type { ConversationRecord, KeptMessage } from './record.ts'
import type { Totals } from './totals.ts'

/** The options of the next question. */
export interface TalkOptions {
  readonly model?: string | undefined
  readonly persona?: string | undefined
  readonly prompt?: string | undefined
  /** Other parameters of the model. */
  readonly option?: Readonly<Record<string, unknown>> | undefined
  readonly memory: boolean
  readonly fallback: boolean
  readonly stream: boolean
  /** Shows what the model thinks before its answer. */
  readonly thinking?: boolean | undefined
  /** Speaks the answers while they come. */
  readonly speak?: boolean | undefined
}

export type Outcome = 'answered' | 'stopped' | 'failed'

export interface OfferedTool {
  readonly name: string
  readonly description: string
}

/** A conversation at a terminal, as its commands see and change it. */
export interface Talk {
  readonly cli: Cli
  /** Aborted by Ctrl-C while a command runs. */
  readonly signal: AbortSignal
  options: TalkOptions
  /** The files of the next question. */
  attached: Attached
  /** The last question as it was sent, and whether it is part of the conversation; undefined where that was taken away. */
  asked: { readonly question: Message; readonly isKept: boolean } | undefined
  record: ConversationRecord
  /** Whether the session stays after the conversation. */
  readonly isKept: boolean
  /** Keeps the session. Throws `usage` with --no-log. */
  keep(): void
  readonly totals: Totals
  /** What the persona's memory had to do with the last answer. */
  recall?: Recall | undefined
  /** True after a command that ends the conversation. */
  ended: boolean
  /** Asks a question, prints the answer and keeps both; `taken` is put back where no word of an answer came. */
  ask(question: Message, taken?: readonly KeptMessage[]): Promise<void>
  /** The options with `KEY=VALUE`. Throws `usage` for another form. */
  withParameter(text: string): Readonly<Record<string, unknown>>
  /** The request that a question would make, checked without sending it; throws as the question would. */
  preview(
    options: TalkOptions,
  ): Promise<{ readonly model: string; readonly plugin: string | null; readonly warnings: readonly string[] }>
  /** Begins a new conversation, or goes on with the saved one of this name. */
  begin(options: TalkOptions, session?: string): Promise<void>
  tools(): Promise<readonly OfferedTool[]>
  clearWindow(): void
  /** Hands the terminal to a question. */
  lend<T>(ask: () => Promise<T>): Promise<T>
}
