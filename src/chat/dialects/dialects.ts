/**
 * Requests, answers and streams of five APIs, each into ours, and back into the four of them that clients speak here; for
 * other programs too: pure, bytes and JSON in and out. Of aichat they need this folder, `chat/protocol` and a few tools.
 *
 * @example
 * import { clientDialects } from './dialects.ts'
 *
 * const { 'openai-chat': openai, 'anthropic-messages': anthropic } = clientDialects
 * const asked = openai.readRequest({ model: 'claude-haiku-4-5', messages: [{ role: 'user', content: 'Hi' }] })
 * console.log(anthropic.writeRequest(asked, 'https://api.anthropic.com/v1/messages').body['messages'])
 *
 * const body = { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'Hello!' }], stop_reason: 'end_turn' }
 * console.log(openai.writeResponse(anthropic.readResponse(body))['choices'])
 */
import type { ClientDialect, Dialect } from '../protocol/dialect.ts'
import { anthropic } from './anthropic/dialect.ts'
import { gemini } from './gemini/dialect.ts'
import { ollama } from './ollama/dialect.ts'
import { openai } from './openai/dialect.ts'
import { responses } from './responses/dialect.ts'

/** The dialects that clients speak here. */
export const clientDialects: Readonly<Record<ClientDialect['id'], ClientDialect>> = {
  'anthropic-messages': anthropic,
  ollama,
  'openai-chat': openai,
  'openai-responses': responses,
}

export const dialects: readonly Dialect[] = [gemini, ...Object.values(clientDialects)]

/** The dialect of a plugin: named by its `api`, else recognised by its endpoint, else OpenAI's chat completions. */
export function dialectFor(api: string | undefined, endpoint: string): Dialect {
  const named = dialects.find((dialect) => dialect.id === api)
  return named ?? dialects.find((dialect) => dialect.matches(endpoint)) ?? openai
}
