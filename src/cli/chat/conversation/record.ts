import { type Message, textOf } from '../../../chat/protocol/messages.ts'
import { appendToSession, showSession, undoSession } from '../../../operations/sessions.ts'
import type { Cli } from '../../terminal/cli.ts'

/** The messages of a conversation, in a saved session. */
export interface ConversationRecord {
  /** The id of the session. */
  readonly session: string
  /** Keeps a question and the beginning of its answer. */
  stopped(question: Message, text: string): Promise<void>
  /** Takes the last exchange away; resolves with its messages. Throws `invalid` where there is none. */
  undo(): Promise<readonly KeptMessage[]>
  /** Puts messages back that were taken away. */
  restore(messages: readonly KeptMessage[]): Promise<void>
  /** The last answer; undefined before the first. */
  lastAnswer(): Promise<string | undefined>
}

/** A message that was kept; `cut` for a stopped answer. */
export type KeptMessage = Message & { readonly cut?: boolean }

/** Timeout of keeping a stopped answer: milliseconds. */
const keepingMs = 10_000

/** The record of a session. The core keeps all but stopped answers by itself. */
export function savedRecord(cli: Cli, session: string): ConversationRecord {
  const append = async (messages: readonly KeptMessage[]) => {
    const kept = messages.map(({ role, content, cut = false }) => ({
      role: role as 'user' | 'assistant',
      content: typeof content === 'string' ? content : ((content ?? '') as never),
      cut,
    }))
    // Ctrl-C has aborted the signal of the answer.
    await cli.ask(appendToSession, { id: session, messages: kept }, AbortSignal.timeout(keepingMs))
  }
  return {
    session,
    stopped: (question, text) => append([question, { role: 'assistant', content: text, cut: true }]),
    undo: async () => (await cli.ask(undoSession, { id: session })).taken as unknown as readonly KeptMessage[],
    restore: (messages) => append(messages.filter(({ role }) => role === 'user' || role === 'assistant')),
    async lastAnswer() {
      const { messages } = await cli.ask(showSession, { id: session })
      const last = (messages as unknown as readonly Message[]).findLast(({ role }) => role === 'assistant')
      return last && textOf(last.content)
    },
  }
}
