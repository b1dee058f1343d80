import type { ClientDialect } from '../../protocol/dialect.ts'
import { readWireError } from '../shared/wire-error.ts'
import { readRequest } from './request-reader.ts'
import { writeRequest } from './request-writer.ts'
import { readResponse, writeError, writeResponse } from './response.ts'
import { createStreamReader } from './stream-reader.ts'
import { createStreamWriter } from './stream-writer.ts'

/** Anthropic's messages: https://docs.anthropic.com/en/api/messages */
export const anthropic: ClientDialect = {
  id: 'anthropic-messages',
  matches: (endpoint) => /\/messages\/?(?:[?#]|$)/.test(endpoint),
  readRequest,
  writeRequest,
  readResponse,
  writeResponse,
  readError: readWireError,
  writeError,
  createStreamReader,
  createStreamWriter,
}
