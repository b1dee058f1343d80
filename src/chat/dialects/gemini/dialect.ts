import { collectReply } from '../../protocol/chunks.ts'
import type { Dialect } from '../../protocol/dialect.ts'
import { readWireError } from '../shared/wire-error.ts'
import { readGeminiRequest } from './request-reader.ts'
import { writeGeminiRequest } from './request-writer.ts'
import { geminiErrorBody, readGeminiReply, writeGeminiReply } from './response.ts'
import { decodeGeminiStream } from './stream-reader.ts'
import { encodeGeminiStream } from './stream-writer.ts'

/** Gemini's generateContent: https://ai.google.dev/api/generate-content */
export const gemini: Dialect = {
  id: 'gemini',
  matches: (endpoint) =>
    /:(?:stream)?generateContent(?:[?#]|$)/i.test(endpoint) || /\/v1(?:beta|alpha)?\/models\/\{model\}/.test(endpoint),
  writeRequest: writeGeminiRequest,
  readRequest: readGeminiRequest,
  readReply: (body, _request, now = Date.now()) =>
    Array.isArray(body) ? readArray(body, now) : readGeminiReply(body, now),
  writeReply: writeGeminiReply,
  readError: readWireError,
  writeError: geminiErrorBody,
  decodeStream: (_request, now = Date.now()) => decodeGeminiStream(now),
  encodeStream: encodeGeminiStream,
}

/** The pieces of a stream, collected in one array already. */
function readArray(pieces: readonly unknown[], now: number): ReturnType<Dialect['readReply']> {
  const decoder = decodeGeminiStream(now)
  const chunks = decoder.push(Buffer.from(JSON.stringify(pieces)))
  return collectReply([...chunks, ...decoder.end()])
}
