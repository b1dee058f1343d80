import { isObject, parseObject } from '../chat/chat.ts'
import type { RequestContext } from './request-context.ts'

/** The most characters that are read of a client's name for its conversation. */
const longestName = 1000

/**
 * The client's own name for the conversation of a request: of the header `x-aichat-conversation`, else of the fields
 * that clients of OpenAI and Anthropic have for it; undefined for none. It groups messages and does not identify their
 * sender.
 */
export function conversationOf({ request: { headers } }: Pick<RequestContext, 'request'>, body: unknown) {
  const fields = isObject(body) ? body : {}
  const { conversation, metadata } = fields
  const candidates = [
    headers['x-aichat-conversation'],
    fields['prompt_cache_key'],
    isObject(conversation) ? conversation['id'] : conversation,
    isObject(metadata) ? sessionIn(metadata['user_id']) : undefined,
    fields['previous_response_id'],
  ]
  const name = candidates.find((each): each is string => typeof each === 'string' && each.trim() !== '')
  return name?.trim().slice(0, longestName)
}

/** Claude Code sends JSON as `user_id`, with the id of its session in it. */
function sessionIn(user: unknown): unknown {
  if (typeof user !== 'string' || !user.startsWith('{') || user.length > longestName) return user
  return parseObject(user)?.['session_id'] ?? user
}
