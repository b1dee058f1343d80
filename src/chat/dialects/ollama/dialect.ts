import type { ClientDialect } from '../../protocol/dialect.ts'
import { readWireError } from '../shared/wire-error.ts'
import { readRequest } from './request-reader.ts'
import { writeRequest } from './request-writer.ts'
import { readResponse, writeError, writeResponse } from './response.ts'
import { createStreamReader } from './stream-reader.ts'
import { createStreamWriter } from './stream-writer.ts'

/** Ollama's /api/chat: https://docs.ollama.com/api/chat */
export const ollama: ClientDialect = {
  id: 'ollama',
  matches: (endpoint) => /\/api\/chat\/?(?:[?#]|$)/.test(endpoint),
  readRequest,
  writeRequest,
  readResponse,
  writeResponse,
  readError: readWireError,
  writeError,
  createStreamReader,
  createStreamWriter,
}
