import type { AppError } from '../../../errors.ts'
import type { Dialect } from '../../protocol/dialect.ts'
import { type JsonObject, objectOf } from '../../protocol/json-object.ts'
import type { ContentPart, Message } from '../../protocol/messages.ts'
import { notExpressible } from './request-check.ts'

/** Display names of the dialects. */
export const titles: Readonly<Record<Dialect['id'], string>> = {
  'openai-chat': "OpenAI's dialect",
  'openai-responses': "OpenAI's Responses dialect",
  'anthropic-messages': 'Anthropic',
  gemini: 'Gemini',
  ollama: 'Ollama',
}

/** The error for content of a user or a tool that a dialect cannot send to the model. */
export function unsupportedMedia(part: ContentPart, id: Dialect['id']): AppError {
  return notExpressible(`${titles[id]} takes no ${kindOf(part)}: ask without it, or ask another provider`)
}

/** Whether a message's parts must reach the model: those of users and tools. In the others they are history. */
export function isSupportedMedia({ role }: Message): boolean {
  return role === 'user' || role === 'tool'
}

function kindOf(part: ContentPart): string {
  const wire = part as JsonObject
  if (part.type !== 'foreign') return part.type === 'file' ? 'file of this kind' : part.type.slice(0, 60)
  const value = objectOf(wire['value'])
  const name = typeof value['type'] === 'string' ? value['type'] : (Object.keys(value)[0] ?? 'part')
  return `${typeof wire['dialect'] === 'string' ? wire['dialect'].slice(0, 20) : 'foreign'} ${name.slice(0, 60)}`
}
