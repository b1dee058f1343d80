import { type Message, personaIn } from '../../chat/chat.ts'
import { AppError } from '../../errors.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Cli } from '../terminal/cli.ts'
import type { Parameters, Variables } from '../terminal/parameters.ts'
import { given } from '../terminal/parsers.ts'
import { emptyInput, readStdinText } from '../terminal/stdin.ts'
import { type Attached, nothingAttached } from './files/attachment.ts'

export interface ChatOptions {
  readonly model?: string
  readonly persona?: string
  readonly role?: string
  readonly session?: string
  readonly continue?: boolean
  /** False keeps nothing. */
  readonly log: boolean
  readonly memory: boolean
  readonly file?: readonly string[]
  readonly prompt?: string
  readonly temperature?: number
  readonly maxTokens?: number
  readonly option?: Parameters
  readonly stream: boolean
  /** Shows what the model thinks before its answer. */
  readonly thinking?: boolean
  readonly speak?: boolean
  readonly fallback: boolean
  readonly localOnly?: boolean
  readonly dryRun?: boolean
  /** Prints the tokens and the price of the question, and sends nothing. */
  readonly count?: boolean
  /** The most that the question may cost: USD. */
  readonly maxCost?: string
  /** Prints the answer as events in JSON, one a line. */
  readonly jsonStream?: boolean
  readonly schema?: string
  readonly jsonObject?: boolean
  readonly templateSchema?: unknown
  /** True for one that the user is to pick. */
  readonly template?: string | true
  readonly var?: Variables
  /** Servers with tools that the model may call. */
  readonly mcp?: readonly string[]
}

export type ChatQuestion = ReturnType<typeof questionOf>

/** The request for messages, with the options and the default model or persona. */
export function questionOf(
  messages: readonly Message[],
  options: ChatOptions,
  fallback: Pick<Settings, 'model' | 'persona'> & Partial<Pick<Settings, 'localOnly'>>,
) {
  const persona = personaOf(options, fallback)
  // A persona has its own model; only --model overrides it.
  const model = options.model ?? (persona === undefined ? fallback.model : undefined)
  return {
    messages: messages.map((message) => ({
      ...message,
      content:
        typeof message.content === 'string' ? message.content : (message.content?.map((part) => ({ ...part })) ?? null),
    })),
    ...given({ model, persona, session: options.session }),
    memory: options.memory,
    ...given({ temperature: options.temperature, max_tokens: options.maxTokens }),
    ...options.option,
    fallback: options.fallback,
    ...((options.localOnly || fallback.localOnly) && { local_only: true }),
    stream: options.stream,
  }
}

/** The persona of a chat: that of the options, else the default one unless the model is a persona itself. */
export function personaOf(
  { persona, role, model }: ChatOptions,
  fallback: Pick<Settings, 'persona'>,
): string | undefined {
  return persona ?? role ?? (personaIn(model) === undefined ? fallback.persona : undefined)
}

/** The system prompt as a message; none without a prompt. */
export function systemMessage(options: ChatOptions): readonly Message[] {
  return options.prompt === undefined ? [] : [{ role: 'system', content: options.prompt }]
}

/** A question with its files in front of the text. */
export function userMessage(text: string, { files }: Pick<Attached, 'files'> = nothingAttached): Message {
  if (files.length === 0) return { role: 'user', content: text }
  return {
    role: 'user',
    content: [...files.flatMap(({ parts }) => parts), ...(text === '' ? [] : [{ type: 'text' as const, text }])],
  }
}

/**
 * Reads the text and the files of a question. stdin is read once: in the place of `-` (as the text or as a file), else a
 * pipe follows the text. Throws `usage` for a second `-`, and the errors of `readFiles`.
 */
export async function readQuestion(
  cli: Cli,
  words: string,
  files: readonly string[],
): Promise<{ readonly text: string; readonly attached: Attached }> {
  const named = files.filter((file) => file === '-').length + (words === '-' ? 1 : 0)
  if (named > 1) throw new AppError('usage', 'Standard input can be read only once: use - in one place')
  const attached = await attachedOf(cli, files)
  const isText = words === '-' || (named === 0 && cli.io.stdinIsPiped())
  const piped = isText ? (await readStdinText(cli)).trimEnd() : ''
  if (words === '-' && piped === '') throw emptyInput('ask')
  return { text: [words === '-' ? '' : words, piped].filter(Boolean).join('\n\n'), attached }
}

async function attachedOf(cli: Cli, files: readonly string[]): Promise<Attached> {
  if (files.length === 0) return nothingAttached
  const { readFiles } = await import('./files/read-files.ts')
  return readFiles(cli, files, cli.signal())
}
