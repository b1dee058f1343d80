import { extname } from 'node:path'
import { personaIn } from '../../chat/model-address.ts'
import type { ContentPart, Message } from '../../chat/protocol/messages.ts'
import { AppError } from '../../errors.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Cli } from '../terminal/cli.ts'
import { readInput } from '../terminal/files.ts'
import { given } from '../terminal/parsers.ts'
import { emptyInput, readStdin } from '../terminal/stdin.ts'

/** The options of `chat`. */
export interface ChatOptions {
  readonly model?: string
  readonly persona?: string
  readonly role?: string
  readonly session?: string
  readonly continue?: boolean
  readonly memory: boolean
  readonly file?: readonly string[]
  readonly prompt?: string
  readonly temperature?: number
  readonly maxTokens?: number
  readonly stream: boolean
  readonly fallback: boolean
  readonly dryRun?: boolean
  /** Servers whose tools the model may call. */
  readonly mcp?: readonly string[]
}

/** The largest file put before a question: bytes. */
const fileLimit = 20 * 1024 * 1024

const images: Record<string, string> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
}

/** Signatures of image files, for stdin. */
const signatures: readonly (readonly [type: string, pattern: RegExp])[] = [
  ['image/png', /^\x89PNG\r\n\x1a\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF[\s\S]{4}WEBP/],
]

/** The chat request of a command line. */
export type ChatQuestion = ReturnType<typeof questionOf>

/** The request for messages, with the options and the default model or persona. */
export function questionOf(
  messages: readonly Message[],
  options: ChatOptions,
  fallback: Pick<Settings, 'model' | 'persona'>,
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
    fallback: options.fallback,
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

export function systemMessage(options: ChatOptions): readonly Message[] {
  return options.prompt === undefined ? [] : [{ role: 'system', content: options.prompt }]
}

export function userMessage(text: string, files: readonly ContentPart[] = []): Message {
  if (files.length === 0) return { role: 'user', content: text }
  return { role: 'user', content: [...files, ...(text === '' ? [] : [{ type: 'text' as const, text }])] }
}

/**
 * Reads the text and the files of a question. stdin is read once: in the place of `-` (as the text or as a file), else a
 * pipe follows the text. Throws `usage` for a second `-`.
 */
export async function readQuestion(
  cli: Cli,
  words: string,
  paths: readonly string[],
): Promise<{ readonly text: string; readonly files: readonly ContentPart[] }> {
  const named = paths.filter((path) => path === '-').length + (words === '-' ? 1 : 0)
  if (named > 1) throw new AppError('usage', 'Standard input can be read only once: use - in one place')
  const files: ContentPart[] = []
  for (const path of paths) files.push(await filePart(cli, path))
  const isText = words === '-' || (named === 0 && cli.io.stdinIsPiped())
  const piped = isText ? (await readStdin(cli)).toString('utf8').trimEnd() : ''
  if (words === '-' && piped === '') throw emptyInput('ask')
  return { text: [words === '-' ? '' : words, piped].filter(Boolean).join('\n\n'), files }
}

/** An image as a data URL; any other file as text under its name. */
async function filePart(cli: Cli, path: string): Promise<ContentPart> {
  const name = path === '-' ? 'standard input' : path
  const bytes = await readInput(cli, path, fileLimit)
  if (path === '-' && bytes.length === 0) throw emptyInput('ask')
  const type = path === '-' ? imageTypeOf(bytes) : images[extname(path).toLowerCase()]
  if (type) return { type: 'image_url', image_url: { url: `data:${type};base64,${bytes.toString('base64')}` } }
  try {
    return { type: 'text', text: `${name}:\n\n${new TextDecoder('utf-8', { fatal: true }).decode(bytes)}` }
  } catch (cause) {
    throw new AppError('invalid', `${name} is neither text nor an image (png, jpg, gif, webp)`, { cause })
  }
}

function imageTypeOf(bytes: Buffer): string | undefined {
  const beginning = bytes.subarray(0, 16).toString('latin1')
  return signatures.find(([, pattern]) => pattern.test(beginning))?.[0]
}
