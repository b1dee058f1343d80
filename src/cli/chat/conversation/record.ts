import { type Message, textOf } from '../../../chat/protocol/messages.ts'
import { AppError } from '../../../errors.ts'
import { appendToSession, showSession, undoSession } from '../../../operations/sessions.ts'
import type { Cli } from '../../terminal/cli.ts'

/** What was said: in a saved session, or in memory alone. */
export interface ConversationRecord {
  /** The id of the saved session; undefined where nothing is saved. */
  readonly session: string | undefined
  /** The messages that the core does not add by itself. */
  earlier(): readonly Message[]
  /** Called after each answer. */
  answered(question: Message, text: string): void
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

/** The record of a saved session, or one in memory where there is none. */
export function recordOf(cli: Cli, session: string | undefined): ConversationRecord {
  return session === undefined ? heldRecord() : savedRecord(cli, session)
}

/** The record of a saved session, which the core keeps itself, but for what was stopped. */
function savedRecord(cli: Cli, session: string): ConversationRecord {
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
    earlier: () => [],
    answered: () => {},
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

/** Marks a stopped answer in the next request. */
const cutMark = '[The answer was cut off here.]'

/** A record in memory, whose messages are sent with each question. */
function heldRecord(): ConversationRecord {
  let held: readonly KeptMessage[] = []
  return {
    session: undefined,
    earlier: () =>
      held.map(({ cut, ...message }) =>
        cut ? { ...message, content: `${textOf(message.content).trimEnd()}\n\n${cutMark}` } : message,
      ),
    answered(question, text) {
      held = [...held, question, { role: 'assistant', content: text }]
    },
    async stopped(question, text) {
      held = [...held, question, { role: 'assistant', content: text, cut: true }]
    },
    async undo() {
      const at = held.findLastIndex(({ role }) => role === 'user')
      if (at === -1) throw new AppError('invalid', 'Nothing was asked yet')
      const taken = held.slice(at)
      held = held.slice(0, at)
      return taken
    },
    async restore(messages) {
      held = [...held, ...messages]
    },
    async lastAnswer() {
      const last = held.findLast(({ role }) => role === 'assistant')
      return last && textOf(last.content)
    },
  }
}
