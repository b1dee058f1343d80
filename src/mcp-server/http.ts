import { createMcpHandler } from '@modelcontextprotocol/server'
import { createPersonaServer } from './persona-server.ts'
import type { Seat } from './seat.ts'

const sessionHeader = 'mcp-session-id'
const sessionForm = /^c-([\w-]{0,400})$/

/**
 * Answers a message that a client has posted to a persona's memory, its body parsed already, by the protocol of 2026 or those of 2025. Nothing is kept between requests: the
 * session that a client of 2025 gets with its first answer is the name that it gave itself, which no later request repeats.
 * Neither Origin, Host nor token is checked here.
 */
export async function answerMessage(seat: Seat, request: Request, body: unknown): Promise<Response> {
  const client = clientOf(request.headers.get(sessionHeader))
  const handler = createMcpHandler(() => createPersonaServer(seat, client), { maxSubscriptions: 0 })
  const response = await handler.fetch(request, { parsedBody: body })
  const named = initializedBy(body)
  if (response.ok && named !== undefined) response.headers.set(sessionHeader, sessionOf(named))
  return response
}

/** The name in an `initialize` request; undefined for other messages. */
function initializedBy(body: unknown): string | undefined {
  const { method, params } = (body ?? {}) as { readonly method?: unknown; readonly params?: unknown }
  if (method !== 'initialize') return undefined
  const { clientInfo } = (params ?? {}) as { readonly clientInfo?: { readonly name?: unknown } | null }
  return typeof clientInfo?.name === 'string' ? clientInfo.name : undefined
}

function sessionOf(name: string): string {
  return `c-${Buffer.from(name.slice(0, 80)).toString('base64url')}`
}

function clientOf(session: string | null): string | undefined {
  const encoded = sessionForm.exec(session ?? '')?.[1]
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64url').toString()
}
