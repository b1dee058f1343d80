import type { Dialect } from '../../protocol/dialect.ts'
import { readWireError } from '../shared/wire-error.ts'
import { readOllamaRequest, writeOllamaRequest } from './request-writer.ts'
import {
  decodeOllamaStream,
  encodeOllamaStream,
  ollamaErrorBody,
  readOllamaReply,
  writeOllamaReply,
} from './response.ts'

/** Ollama's /api/chat: https://docs.ollama.com/api/chat */
export const ollama: Dialect = {
  id: 'ollama',
  matches: (endpoint) => /\/api\/chat\/?(?:[?#]|$)/.test(endpoint),
  writeRequest: writeOllamaRequest,
  readRequest: readOllamaRequest,
  readReply: (body, _request, now = Date.now()) => readOllamaReply(body, now),
  writeReply: writeOllamaReply,
  readError: readWireError,
  writeError: ollamaErrorBody,
  decodeStream: (_request, now = Date.now()) => decodeOllamaStream(now),
  encodeStream: encodeOllamaStream,
}
