import type { ModelFacts } from '../../plugins/facts.ts'
import type { Dialect } from '../protocol/dialect.ts'
import { type MediaKind, mediaKind, mediaNames } from '../protocol/media.ts'
import type { ChatRequest, ContentPart, Message } from '../protocol/messages.ts'
import { titles } from './shared/media-support.ts'

/** What a model takes beside text; undefined where nobody has said, and then it is sent. */
export type Senses = Readonly<Partial<Record<MediaKind, boolean | undefined>>>

/** The senses of a model by its facts. */
export function sensesOf({ images, audio }: Pick<ModelFacts, 'images' | 'audio'>): Senses {
  return { image: images, audio }
}

/** What the results of tools may hold in each dialect beside text. */
const inResults: Readonly<Record<Dialect['id'], readonly MediaKind[]>> = {
  'openai-chat': ['image', 'audio', 'file'],
  'openai-responses': ['image', 'file'],
  'anthropic-messages': ['image', 'file'],
  gemini: ['image', 'audio', 'file'],
  ollama: ['image'],
}

/**
 * A request without the pictures, sounds and files that its reader is known not to take, each replaced by a text that says
 * so: those that the model has no sense for, and in the results of tools those that the dialect has no place for. With one
 * sentence for each kind. What a user sends and a dialect cannot say is refused by the dialect, see media-support.ts.
 */
export function withoutUnseen(
  request: ChatRequest,
  id: Dialect['id'] | undefined,
  senses: Senses,
): { readonly request: ChatRequest; readonly warnings: readonly string[] } {
  const left = new Map<string, { readonly many: string; count: number }>()
  const messages = request.messages.map((message) => {
    const { content } = message
    if (!Array.isArray(content) || !content.some((part) => reasonAgainst(part, message))) return message
    return { ...message, content: content.map((part) => withReason(part, message)) }
  })
  if (left.size === 0) return { request, warnings: [] }
  const sentences = [...left].map(([sentence, { many, count }]) => (count === 1 ? sentence : `${count} ${many}`))
  return { request: { ...request, messages }, warnings: sentences }

  function withReason(part: ContentPart, message: Message): ContentPart {
    const reason = reasonAgainst(part, message)
    if (reason === undefined) return part
    const { one, many } = mediaNames(part)
    const sentence = `${one} was left out: ${reason}`
    left.set(sentence, { many: `${many} were left out: ${reason}`, count: (left.get(sentence)?.count ?? 0) + 1 })
    return { type: 'text', text: `[${sentence}]` }
  }

  function reasonAgainst(part: ContentPart, { role }: Message): string | undefined {
    const kind = part.type === 'text' ? undefined : mediaKind(part)
    if (kind === undefined) return undefined
    if (senses[kind] === false) return `${request.model} takes none`
    if (role !== 'tool' || id === undefined || inResults[id].includes(kind)) return undefined
    return `${titles[id]} takes none in the results of tools`
  }
}
