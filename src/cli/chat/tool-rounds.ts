import { type Message, mostRounds, type Tool, type Toolbox } from '../../chat/chat.ts'
import type { Cli } from '../terminal/cli.ts'
import { note } from '../terminal/output.ts'
import { type Answer, type Asking, answerQuestion } from './answer.ts'
import type { ChatQuestion } from './question.ts'

/** The fields of a request that offers tools; after the last round the model has to answer without. */
export function offering(question: ChatQuestion, tools: readonly Tool[], messages: readonly Message[], isLast = false) {
  return {
    ...question,
    messages: [...question.messages, ...messages.map((message) => ({ ...message, content: contentOf(message) }))],
    ...(tools.length > 0 && { tools: [...tools], ...(isLast && { tool_choice: 'none' }) }),
    tool_turn: true,
  }
}

/** Asks and calls tools until the model answers. `answer` is filled as text arrives; its cost is of all rounds. */
export async function answerWithTools(
  cli: Cli,
  question: ChatQuestion,
  answer: Answer,
  asking: Asking,
  toolbox: Toolbox,
): Promise<void> {
  const { tools, warnings } = await toolbox.offer()
  for (const warning of warnings) note(cli, `aichat: ${warning}`)
  const messages: Message[] = []
  let cost: number | undefined
  for (let round = 1; ; round++) {
    const isLast = round > mostRounds
    if (isLast) note(cli, `aichat: the model called tools ${mostRounds} times; now it has to answer`)
    answer.calls.length = 0
    answer.cost = undefined
    await answerQuestion(cli, offering(question, tools, messages, isLast), answer, asking, true)
    cost = answer.cost === undefined ? cost : (cost ?? 0) + answer.cost
    answer.cost = cost
    const { message } = answer
    const calls = message?.tool_calls ?? []
    // Calls that nobody makes any more are no answer.
    if (isLast) answer.calls.length = 0
    if (!message || calls.length === 0 || isLast || cli.io.outClosed) return
    const names = new Set(calls.map(({ function: { name } }) => name))
    asking.waiting.step(`tool ${[...names].join(', ')}`)
    messages.push(message, ...(await toolbox.run(calls, asking.signal)))
    asking.waiting.step('connecting')
  }
}

function contentOf({ content }: Message) {
  return typeof content === 'string' ? content : (content?.map((part) => ({ ...part })) ?? null)
}
