import type { ClientDialect } from '../../protocol/dialect.ts'
import { sourceOf } from '../../protocol/source.ts'
import { readWireError } from '../shared/wire-error.ts'
import { readRequest } from './request-reader.ts'
import { writeRequest } from './request-writer.ts'
import { readResponse, writeError, writeResponse } from './response.ts'
import { createStreamReader } from './stream-reader.ts'
import { createStreamWriter } from './stream-writer.ts'

/** OpenAI's chat completions, which Groq, Mistral, GitHub, OpenRouter and most local servers speak too. */
export const openai: ClientDialect = {
  id: 'openai-chat',
  matches: (endpoint) => /\/chat\/completions\/?(?:[?#]|$)/.test(endpoint),
  readRequest,
  writeRequest,
  readResponse,
  writeResponse,
  sourceOf,
  readError: readWireError,
  writeError,
  createStreamReader,
  createStreamWriter,
}
