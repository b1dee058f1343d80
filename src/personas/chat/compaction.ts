import { type Message, summaryWish, textOf } from '../../chat/chat.ts'
import type { SavedMessage } from './conversation.ts'

/**
 * Compaction of a saved conversation: a summary by a model stands in for its first messages when it goes on. The summary is a
 * message of its own kind at the place where it was made, with the number of messages that it replaces; all of them stay. A
 * later one replaces it, and one that replaces none brings the original back.
 */

/** The message of a summary that replaces the first `replaces` messages; 0 for one that takes the earlier ones back. */
export function compaction(text: string, replaces: number, about: Omit<SavedMessage, 'message' | 'timestamp'> = {}) {
  return {
    ...about,
    message: { role: 'system', content: text },
    answer: { ...about.answer, compacts: replaces },
  } as const satisfies Omit<SavedMessage, 'timestamp'>
}

/** Whether a saved message is a summary, or takes one back. */
export function isCompaction({ answer }: SavedMessage): boolean {
  return answer?.compacts !== undefined
}

/** The messages that a conversation goes on with: those behind the last summary, and it in place of the others. */
export function compacted(history: readonly SavedMessage[]): readonly SavedMessage[] {
  return compactedEnd(history, 0)!
}

/** The same from the messages behind the first `before` alone; undefined where it goes on with some of these. */
export function compactedEnd(history: readonly SavedMessage[], before: number): readonly SavedMessage[] | undefined {
  const last = history.findLast(isCompaction)
  const replaces = last?.answer?.compacts ?? 0
  if (replaces < before) return undefined
  if (!last) return history
  const spoken = history.map((saved, at) => ({ saved, at: at + before })).filter(({ saved }) => !isCompaction(saved))
  const rest = spoken.filter(({ at }) => at >= replaces).map(({ saved }) => saved)
  if (replaces === 0) return rest
  const content = `Summary of the conversation so far, in place of its first ${replaces} messages:\n\n${textOf(last.message.content)}`
  return [{ message: { role: 'assistant', content }, timestamp: last.timestamp }, ...rest]
}

/** How many messages a summary may replace: all before the last `turns` questions; 0 where they are few. */
export function replaceable(history: readonly SavedMessage[], turns: number): number {
  const questions = history.flatMap(({ message }, at) => (message.role === 'user' ? [at] : []))
  const before = history.findLast(isCompaction)?.answer?.compacts ?? 0
  const end = turns === 0 ? history.length : (questions.at(-turns) ?? 0)
  // One message gains nothing.
  return end - before > 1 ? end : 0
}

/** The request for a summary of the first `replaces` messages. */
export function summaryRequest(history: readonly SavedMessage[], replaces: number): Message[] {
  const messages = compacted(history.slice(0, replaces)).map(({ message }) => message)
  return [...messages, summaryWish]
}

/** The characters of the messages that a summary would replace. */
export function replacedLength(history: readonly SavedMessage[], replaces: number): number {
  return compacted(history.slice(0, replaces)).reduce((sum, { message }) => sum + textOf(message.content).length, 0)
}
