import type { Toolbox } from '../../chat/chat.ts'
import { showPersona } from '../../operations/operations.ts'
import type { Cli } from '../terminal/cli.ts'
import { note } from '../terminal/output.ts'
import { type Answer, answerQuestion } from './answer.ts'
import type { ChatOptions, ChatQuestion } from './question.ts'
import type { Lend } from './tools.ts'
import { openWaiting, silentWaiting } from './waiting.ts'

/** The tools of a command's chats; questions about them are asked through `lend`. */
export type ChatTools = Toolbox & { lend(lend: Lend): void }

/** Does something with the tools of the servers that the options and the persona name; undefined without any. */
export async function withTools(
  cli: Cli,
  options: ChatOptions,
  work: (tools: ChatTools | undefined) => Promise<void>,
): Promise<void> {
  const asked = options.mcp ?? []
  const wished = await serversOf(cli, options)
  if (asked.length + wished.length === 0) return work(undefined)
  const { openChatTools } = await import('./tools.ts')
  const tools = await openChatTools(cli, { asked, wished })
  try {
    await work(tools)
  } finally {
    await tools?.close()
  }
}

/**
 * The servers that a persona names; none for a persona that is not there, which the chat itself reports. A persona of a
 * daemon has the tools of the daemon: it may not start programs here.
 */
async function serversOf(cli: Cli, options: ChatOptions): Promise<readonly string[]> {
  const persona = options.persona ?? options.role ?? (await cli.settings()).persona
  if (persona === undefined || (await cli.backend()).server !== undefined) return []
  const { mcp_servers = [] } = await cli.ask(showPersona, { id: persona }).catch(() => ({ mcp_servers: [] }))
  return mcp_servers
}

/** Asks a question, with tools where there are some; resolves when an answer that is spoken has been heard. */
export async function askWith(
  cli: Cli,
  question: ChatQuestion,
  answer: Answer,
  signal: AbortSignal,
  tools: Toolbox | undefined,
): Promise<void> {
  const speech = answer.isSpoken ? await openSpeech(cli, signal) : undefined
  answer.speech = speech
  const waiting = answer.asEvents
    ? silentWaiting
    : openWaiting(cli, question.model ?? question.persona, answer.showsThinking)
  try {
    if (!tools) await answerQuestion(cli, question, answer, { signal, waiting })
    else {
      const { answerWithTools } = await import('./tool-rounds.ts')
      await answerWithTools(cli, question, answer, { signal, waiting }, tools)
    }
  } finally {
    waiting.end()
    // The answer is there, whether or not all of it was heard.
    await speech?.end().catch((reason: unknown) => {
      if (!signal.aborted) note(cli, `aichat: not spoken: ${reason instanceof Error ? reason.message : String(reason)}`)
    })
  }
}

async function openSpeech(cli: Cli, signal: AbortSignal) {
  const { openSpokenText } = await import('../speech/play-text.ts')
  return openSpokenText(cli, signal)
}
