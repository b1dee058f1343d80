import { type Message, textOf } from '../../../chat/chat.ts'
import { appendToSession, showSession, undoSession } from '../../../operations/operations.ts'
import type { Cli } from '../../terminal/cli.ts'

export type ConversationRecord = ReturnType<typeof savedRecord>

/** A message that was kept; `cut` for a stopped answer. */
export type KeptMessage = Message & { readonly cut?: boolean }

/** Timeout of keeping a stopped answer: milliseconds. */
const keepingMs = 10_000

/** The messages at the end among which the last answer is looked for: questions may have none. */
const mostLooked = 20

/** The record of a session. */
export function savedRecord(cli: Cli, session: string) {
  return {
    session,
    /** Takes the last exchange away; resolves with its messages. Throws `invalid` where there is none. */
    undo: async () =>
      (await cli.ask(undoSession, { id: session, files: true })).taken as unknown as readonly KeptMessage[],
    /** Keeps messages: the core keeps none of an answer that was stopped. */
    async add(messages: readonly KeptMessage[]) {
      const kept = messages
        .filter(({ role }) => role === 'user' || role === 'assistant')
        .map(({ role, content, cut = false }) => ({
          role: role as 'user' | 'assistant',
          content: typeof content === 'string' ? content : ((content ?? '') as never),
          cut,
        }))
      // Ctrl-C has aborted the signal of the answer.
      await cli.ask(appendToSession, { id: session, messages: kept }, AbortSignal.timeout(keepingMs))
    },
    /** The last answer; undefined before the first. */
    async lastAnswer(): Promise<string | undefined> {
      const { messages } = await cli.ask(showSession, { id: session, last: mostLooked })
      const last = (messages as unknown as readonly Message[]).findLast(({ role }) => role === 'assistant')
      return last && textOf(last.content)
    },
  }
}
