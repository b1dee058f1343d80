import type { JsonObject } from '../../protocol/json-object.ts'
import type { ChatRequest } from '../../protocol/messages.ts'
import { checkedRequest, requestBody } from '../shared/request-check.ts'

/** Reads a request in OpenAI's dialect: the same body, checked. Azure's has no model in its body; its URL does. */
export function readRequest(body: unknown): ChatRequest {
  const { fields, turns } = requestBody(body, 'messages')
  // Most requests are read as they are: a copy of each would cost more than its check.
  if (fields['tools'] === undefined && typeof fields['model'] === 'string' && !turns.some(hasNulls))
    return checkedRequest(fields)
  const model = fields['model'] ?? ''
  const { tools, ...rest } = fields
  const messages = turns.some(hasNulls) ? turns.map(withoutNulls) : turns
  return checkedRequest({ ...rest, messages, ...(tools !== null && tools !== undefined && { tools }), model })
}

/** Some clients send every field that a message can have, and null in those that it has not. */
function hasNulls(message: JsonObject): boolean {
  for (const name in message) if (message[name] === null && name !== 'content') return true
  return false
}

function withoutNulls(message: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(message).filter(([name, value]) => value !== null || name === 'content'))
}
