import type { OpenRequest } from '../personas/personas.ts'
import { mostMessages, mostParts, mostTools, roles } from './chat.ts'
import type { ChatOrder } from './chat-order.ts'

/** The fields of a request that are addressed to aichat: any of them has the whole input validated. */
const ours: ReadonlySet<string> = new Set([
  ...['plugin', 'persona', 'session', 'memory', 'fallback', 'local_only', 'keep', 'tool_turn', 'tool_steps', 'speech'],
])

const roleNames: ReadonlySet<unknown> = new Set(roles)

/**
 * The order of a request with none of aichat's own fields, where a look at each field shows that `chatInput` would take
 * it unchanged. Undefined for every other request, and for an invalid one: the schema then names the problems. Saves a
 * small chat a tenth of its time, the cost of the schema and its copies.
 */
export function plainOrder(request: OpenRequest): ChatOrder | undefined {
  const { messages } = request
  if (!Array.isArray(messages) || messages.length === 0 || messages.length > mostMessages) return undefined
  for (const message of messages) if (!isPlainMessage(message)) return undefined
  for (const name in request) if (!isPlainField(name, request[name])) return undefined
  return { request, plugin: undefined, fallback: true, memory: true, toolTurn: false, localOnly: false }
}

function isPlainField(name: string, value: unknown): boolean {
  if (value === undefined || ours.has(name)) return false
  switch (name) {
    case 'model':
      return typeof value === 'string' && value.length <= 300
    case 'stream':
      return typeof value === 'boolean' || value === null
    case 'tools':
      return value === null || (Array.isArray(value) && value.length <= mostTools)
    case 'temperature':
      return value === null || isWithin(value, 0, 2)
    case 'top_p':
      return value === null || isWithin(value, 0, 1)
    case 'max_tokens':
    case 'max_completion_tokens':
    case 'n':
      return value === null || (Number.isSafeInteger(value) && (value as number) >= 1)
    default:
      return true
  }
}

function isWithin(value: unknown, least: number, most: number): boolean {
  return typeof value === 'number' && value >= least && value <= most
}

function isPlainMessage(message: unknown): boolean {
  if (typeof message !== 'object' || message === null) return false
  const { role, content } = message as { readonly role?: unknown; readonly content?: unknown }
  if (!roleNames.has(role)) return false
  return typeof content === 'string' || content === null || isPlainParts(content)
}

function isPlainParts(content: unknown): boolean {
  if (!Array.isArray(content) || content.length > mostParts) return false
  for (const part of content) {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return false
    if (typeof (part as { readonly type?: unknown }).type !== 'string') return false
  }
  return true
}
