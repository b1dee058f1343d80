import type { CompletedWord } from '../../line/completion.ts'
import type { Cli } from '../../terminal/cli.ts'
import type { Talk } from './talk.ts'

/** A command of a conversation, such as `/model`. */
export interface TalkCommand {
  readonly name: string
  readonly aliases?: readonly string[]
  /** Its arguments, as help shows them. */
  readonly usage?: string
  readonly what: string
  /** Runs it with the rest of the text. Throws an AppError, which is shown. */
  run(talk: Talk, rest: string): Promise<void> | void
  /** The words that may stand in place of the last one of the rest. */
  complete?(cli: Cli, rest: string, signal: AbortSignal): Promise<readonly CompletedWord[]>
}

/** Removes a value that a command set: `/system -`. */
export const nothing = '-'

/** The words of a kind of the command line, as completed words. */
export async function wordsOfKind(cli: Cli, kind: string, beginning: string): Promise<readonly CompletedWord[]> {
  const { wordsOf } = await import('../../completion/words.ts')
  return beginningWith(await wordsOf(cli, kind), beginning)
}

export function beginningWith(words: readonly string[], beginning: string): readonly CompletedWord[] {
  return words
    .filter((word) => word.startsWith(beginning))
    .sort()
    .map((text) => ({ text }))
}
