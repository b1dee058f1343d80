import { extname } from 'node:path'
import type { ContentPart, Message } from '../../chat/protocol/messages.ts'
import { AppError } from '../../errors.ts'
import type { Settings } from '../../settings/settings.ts'
import type { Cli } from '../terminal/cli.ts'
import { readInput } from '../terminal/files.ts'
import { readStdin } from '../terminal/stdin.ts'
import type { ChatOptions } from './options.ts'

/** The largest file that is put before a question: bytes. */
const fileLimit = 20 * 1024 * 1024

const images: Record<string, string> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
}

/** How image files begin, for those that come without a name. */
const signatures: readonly (readonly [type: string, pattern: RegExp])[] = [
  ['image/png', /^\x89PNG\r\n\x1a\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF[\s\S]{4}WEBP/],
]

/** A chat request as the command line asks it. */
export type ChatQuestion = ReturnType<typeof questionOf>

/** The messages with what the flags, the environment and the settings say beside them. */
export function questionOf(
  messages: readonly Message[],
  options: ChatOptions,
  fallback: Pick<Settings, 'model' | 'persona'>,
) {
  const persona = options.persona ?? options.role ?? fallback.persona
  // A persona has a model of its own, which only a model named on the command line replaces.
  const model = options.model ?? (persona === undefined ? fallback.model : undefined)
  return {
    messages: messages.map((message) => ({
      ...message,
      content:
        typeof message.content === 'string' ? message.content : (message.content?.map((part) => ({ ...part })) ?? null),
    })),
    ...(model !== undefined && { model }),
    ...(persona !== undefined && { persona }),
    ...(options.session !== undefined && { session: options.session }),
    memory: options.memory,
    ...(options.temperature !== undefined && { temperature: options.temperature }),
    ...(options.maxTokens !== undefined && { max_tokens: options.maxTokens }),
    fallback: options.fallback,
    stream: options.stream,
  }
}

export function systemMessage(options: ChatOptions): readonly Message[] {
  return options.prompt === undefined ? [] : [{ role: 'system', content: options.prompt }]
}

export function userMessage(text: string, files: readonly ContentPart[] = []): Message {
  if (files.length === 0) return { role: 'user', content: text }
  return { role: 'user', content: [...files, ...(text === '' ? [] : [{ type: 'text' as const, text }])] }
}

/**
 * The text and the files of a question. stdin is read once: where `-` stands for it as the text or as a file, else behind
 * the text when something is piped in.
 */
export async function readQuestion(
  cli: Cli,
  words: string,
  paths: readonly string[],
): Promise<{ readonly text: string; readonly files: readonly ContentPart[] }> {
  const named = paths.filter((path) => path === '-').length + (words === '-' ? 1 : 0)
  if (named > 1) throw new AppError('usage', 'The standard input can be read only once: say - in one place')
  const files: ContentPart[] = []
  for (const path of paths) files.push(await filePart(cli, path))
  const isText = words === '-' || (named === 0 && cli.io.stdinIsGiven())
  const piped = isText ? (await readStdin(cli)).toString('utf8').trimEnd() : ''
  return { text: [words === '-' ? '' : words, piped].filter(Boolean).join('\n\n'), files }
}

/** An image as a data URL; anything else as text under its name. */
async function filePart(cli: Cli, path: string): Promise<ContentPart> {
  const name = path === '-' ? 'the standard input' : path
  const bytes = await readInput(cli, path, fileLimit)
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
