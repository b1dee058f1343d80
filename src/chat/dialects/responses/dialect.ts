import type { ClientDialect } from '../../protocol/dialect.ts'
import { readRequest } from './request-reader.ts'
import { writeRequest } from './request-writer.ts'
import { readError, readResponse, writeError, writeResponse } from './response.ts'
import { createStreamReader } from './stream-reader.ts'
import { createStreamWriter } from './stream-writer.ts'

/** OpenAI's Responses API, which Azure, xAI and OpenRouter speak too: https://platform.openai.com/docs/api-reference/responses */
export const responses: ClientDialect = {
  id: 'openai-responses',
  matches: (endpoint) => /\/responses\/?(?:[?#]|$)/.test(endpoint),
  readRequest,
  writeRequest,
  readResponse,
  writeResponse,
  readError,
  writeError,
  createStreamReader,
  createStreamWriter,
}
