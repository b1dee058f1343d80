import { collectReply } from '../../protocol/chunks.ts'
import type { Dialect } from '../../protocol/dialect.ts'
import type { ChatReply } from '../../protocol/messages.ts'
import { readWireError } from '../shared/wire-error.ts'
import { readRequest } from './request-reader.ts'
import { writeRequest } from './request-writer.ts'
import { readResponse, writeError, writeResponse } from './response.ts'
import { createStreamReader } from './stream-reader.ts'
import { createStreamWriter } from './stream-writer.ts'

/** Gemini's generateContent: https://ai.google.dev/api/generate-content */
export const gemini: Dialect = {
  id: 'gemini',
  matches: (endpoint) =>
    /:(?:stream)?generateContent(?:[?#]|$)/i.test(endpoint) || /\/v1(?:beta|alpha)?\/models\/\{model\}/.test(endpoint),
  readRequest,
  writeRequest,
  readResponse: (body, now) => (Array.isArray(body) ? readPieces(body, now) : readResponse(body, now)),
  writeResponse,
  readError: readWireError,
  writeError,
  createStreamReader,
  createStreamWriter,
}

/** The pieces of a stream in one array, which `streamGenerateContent` sends without `alt=sse`. */
function readPieces(pieces: readonly unknown[], now?: number): ChatReply {
  const reader = createStreamReader(now)
  return collectReply([...reader.push(Buffer.from(JSON.stringify(pieces))), ...reader.end()])
}
