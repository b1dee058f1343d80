import type { Booking, ChatChunk, RoutedReply, RoutedStream, Usage } from '../chat/chat.ts'
import type { ReadyChat } from './chat-order.ts'
import type { Call } from './operation.ts'
import { completeChat, streamChat } from './prepare-chat.ts'

/** Chats that one request asks together: at least one. */
export type ReadyChats = readonly [ReadyChat, ...ReadyChat[]]

/** Asks chats in turn. Their answers are one's choices, the report is the first's; a failure fails all. */
export function completeEach(
  call: Pick<Call, 'app'>,
  chats: ReadyChats,
  signal: AbortSignal | undefined,
): Promise<RoutedReply> {
  return chats.length === 1 ? completeChat(call, chats[0], signal) : completeAll(call, chats, signal)
}

async function completeAll(
  call: Pick<Call, 'app'>,
  [first, ...others]: ReadyChats,
  signal: AbortSignal | undefined,
): Promise<RoutedReply> {
  const begun = await completeChat(call, first, signal)
  const replies = [begun.reply]
  for (const chat of others) replies.push((await completeChat(call, chat, signal)).reply)
  const usage = sumOf(replies.map((reply) => reply.usage))
  const choices = replies.flatMap((reply, index) => reply.choices.slice(0, 1).map((choice) => ({ ...choice, index })))
  return { ...begun, reply: { ...begun.reply, choices, ...(usage && { usage }) }, booking: partly(begun.booking) }
}

/** The same, streamed: the first answer from its commit point on, and then the others. */
export async function streamEach(
  call: Pick<Call, 'app'>,
  [first, ...others]: ReadyChats,
  signal: AbortSignal | undefined,
): Promise<RoutedStream> {
  const begun = await streamChat(call, first, signal)
  if (others.length === 0) return begun
  return { ...begun, chunks: inTurn(), booking: partly(begun.booking) }

  async function* inTurn(): AsyncGenerator<ChatChunk> {
    const counts: Usage[] = []
    let last: ChatChunk | undefined
    for (const [index, chat] of [undefined, ...others].entries()) {
      const { chunks } = chat ? await streamChat(call, chat, signal) : begun
      for await (const chunk of chunks) {
        if (chunk.usage) counts.push(chunk.usage)
        const choices = chunk.choices.filter((choice) => choice.index === 0).map((choice) => ({ ...choice, index }))
        last = { ...chunk, id: last?.id ?? chunk.id, choices, usage: null }
        if (choices.length > 0) yield last
      }
    }
    const usage = sumOf(counts)
    if (last && usage) yield { ...last, choices: [], usage }
  }
}

/** The account of several chats: only the cost of single ones is known. */
function partly(booking: Booking): Booking {
  return { cost: () => undefined, limitHeaders: (names) => booking.limitHeaders(names) }
}

function sumOf(counts: readonly (Usage | undefined)[]): Usage | undefined {
  const reported = counts.filter((usage) => usage !== undefined)
  if (reported.length === 0) return undefined
  const sum = (name: 'prompt_tokens' | 'completion_tokens' | 'total_tokens') =>
    reported.reduce((all, usage) => all + usage[name], 0)
  return {
    prompt_tokens: sum('prompt_tokens'),
    completion_tokens: sum('completion_tokens'),
    total_tokens: sum('total_tokens'),
  }
}
