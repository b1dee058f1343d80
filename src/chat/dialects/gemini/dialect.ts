import { collectReply } from '../../protocol/chunks.ts'
import type { Dialect } from '../../protocol/dialect.ts'
import type { ChatReply } from '../../protocol/messages.ts'
import { readWireError } from '../shared/wire-error.ts'
import { writeRequest } from './request-writer.ts'
import { readResponse } from './response.ts'
import { createStreamReader } from './stream-reader.ts'

/** Gemini's generateContent: https://ai.google.dev/api/generate-content */
export const gemini: Dialect = {
  id: 'gemini',
  matches: (endpoint) =>
    /:(?:stream)?generateContent(?:[?#]|$)/i.test(endpoint) || /\/v1(?:beta|alpha)?\/models\/\{model\}/.test(endpoint),
  writeRequest,
  readResponse: (body, now) => (Array.isArray(body) ? readPieces(body, now) : readResponse(body, now)),
  readError: readWireError,
  createStreamReader,
}

/** The pieces of a stream in one array, which `streamGenerateContent` sends without `alt=sse`. */
function readPieces(pieces: readonly unknown[], now?: number): ChatReply {
  const reader = createStreamReader(now)
  return collectReply([...reader.push(Buffer.from(JSON.stringify(pieces))), ...reader.end()])
}
