import type { Refused } from '../../wire/client.ts'
import type { Persona, WholeSession } from '../../wire/types.ts'
import { type Attachment, type Part, readContent } from './attachments.ts'

/** Who answers in a chat: a persona, or a model alone. */
export interface Partner {
  readonly name: string
  readonly persona?: Persona
  /** Of a chat without a persona: `PLUGIN:MODEL`, or '' for the default model of the active plugin. */
  readonly model?: string
  /** The parts of the address at which the chat is shown. */
  readonly place: readonly string[]
}

/** The API's report about an answer. */
export interface Report {
  readonly plugin?: string | null
  readonly runner?: string | null
  readonly model?: string
  readonly fallback?: boolean
  readonly warnings?: readonly string[]
  readonly attempts?: readonly {
    readonly outcome: string
    readonly plugin: string | null
    readonly runner: string | null
    readonly error?: string
  }[]
  readonly memories?: readonly { readonly id: string; readonly score: number }[]
  readonly cost?: {
    readonly cost_usd: string | null
    readonly tokens?: { readonly input: number; readonly output: number }
  }
}

/** A call of a tool that the server makes. */
export interface ToolCall {
  readonly id: string
  readonly server: string
  readonly tool: string
  readonly description?: string
  /** JSON in which nothing is invisible. */
  readonly arguments: string
  /** While it `asks`, it waits for the person's answer. */
  readonly state: 'asks' | 'runs' | 'done' | 'failed' | 'refused'
  readonly result?: string
}

export interface ChatMessage {
  readonly id: number
  readonly role: 'user' | 'assistant'
  readonly text: string
  readonly attachments?: readonly Attachment[]
  /** Of a saved message: its content as the server keeps it. */
  readonly content?: unknown
  /** Its place in the saved conversation, counted from 0, as far as it is known. */
  readonly at?: number
  /** The model's thinking, where the provider sends it. */
  readonly thinking?: string
  readonly calls?: readonly ToolCall[]
  /** The words with which the model refused. */
  readonly refusal?: string
  /** Why the answer ended, in OpenAI's dialect. */
  readonly finish?: string
  readonly isWriting?: boolean
  /** Stopped by the person. */
  readonly isStopped?: boolean
  /** Of a saved question: no answer follows it. */
  readonly isUnanswered?: boolean
  readonly problem?: Refused
  readonly report?: Report
}

/** The state of an answer, or of a question without one, in a word and a sentence; undefined where it is complete. */
export function flawOf(message: ChatMessage): { readonly word: string; readonly sentence: string } | undefined {
  const { role, text, refusal, finish, isStopped, isUnanswered, isWriting, problem } = message
  if (isUnanswered) return { word: 'unanswered', sentence: 'This question has no answer' }
  if (isWriting || role === 'user') return undefined
  if (problem) return { word: 'failed', sentence: 'The answer is incomplete' }
  if (isStopped)
    return text.trim() === ''
      ? { word: 'stopped', sentence: 'Stopped before its first word: the question stands without an answer' }
      : { word: 'stopped', sentence: 'The answer was stopped and is incomplete' }
  if (refusal) return { word: 'refused', sentence: 'The model refused to answer' }
  if (finish === 'content_filter')
    return { word: 'filtered', sentence: 'A filter of the provider ended the answer, or the model refused' }
  if (finish === 'length') return { word: 'cut', sentence: 'The answer reached its greatest length and is incomplete' }
  if (finish === 'tool_calls' || finish === 'function_call')
    return { word: 'unfinished', sentence: 'The model called a tool in the place of an answer' }
  if (finish === 'error') return { word: 'failed', sentence: 'The provider failed during the answer' }
  if (text.trim() === '') return { word: 'empty', sentence: 'The model answered nothing' }
  return undefined
}

/** The content of a question as a request has it. */
export function contentOf({ text, attachments = [], content }: ChatMessage): string | readonly Part[] {
  if (typeof content === 'string' || Array.isArray(content)) return content
  if (attachments.length === 0) return text
  return [...attachments.flatMap(({ parts }) => parts), ...(text === '' ? [] : [{ type: 'text', text }])]
}

/** The text of a question as the server shows it without its files. */
export function keptText(question: ChatMessage): string {
  return textOf(contentOf(question))
}

/** The messages of a saved conversation. */
export function savedMessages(saved: WholeSession['messages']): readonly ChatMessage[] {
  return saved.flatMap((message, at) => {
    const { role, content, cut, answer, refusal, reasoning_content } = message as typeof message & {
      readonly content?: unknown
      readonly refusal?: string | null
      readonly reasoning_content?: string
    }
    if (role !== 'user' && role !== 'assistant') return []
    return [
      {
        // Below every id that this page gives out.
        id: at - saved.length,
        at,
        role,
        ...readContent(content),
        content,
        ...(role === 'user' && saved[at + 1]?.role !== 'assistant' && { isUnanswered: true }),
        ...(cut && { isStopped: true }),
        ...(refusal && { refusal }),
        ...(reasoning_content && { thinking: reasoning_content }),
        ...(answer?.finish_reason !== undefined && { finish: answer.finish_reason }),
        ...(answer?.calls && { calls: answer.calls.map((call, number) => ({ ...call, id: `${number}` })) }),
        ...(answer?.model !== undefined && {
          report: { model: answer.model, plugin: answer.plugin ?? null, runner: answer.runner ?? null },
        }),
      },
    ]
  })
}

/** The text of a message's content; other parts by their type. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return (content as readonly Part[]).map(({ type, text }) => text ?? `[${type}]`).join('\n')
}
