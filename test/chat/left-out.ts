import { dialectFor } from '../../src/chat/dialects/dialects.ts'
import { unsupportedFields } from '../../src/chat/dialects/unsupported.ts'
import type { Dialect } from '../../src/chat/protocol/dialect.ts'
import type { ChatRequest } from '../../src/chat/protocol/messages.ts'

/** The sentences on what a dialect leaves out of a request as it writes it. */
export function leftOutOf(
  request: ChatRequest,
  id: Dialect['id'],
  endpoint = 'https://example.org/v1',
): readonly string[] {
  return unsupportedFields(request, id, dialectFor(id, '').writeRequest(request, endpoint).body)
}
