import type { Dialect } from '../../protocol/dialect.ts'
import { decodeWholeResponse, withJsonBody } from '../shared/whole-response.ts'
import { readWireError } from '../shared/wire-error.ts'
import { readOpenaiRequest, writeOpenaiRequest } from './request-writer.ts'
import { readOpenaiReply, writeOpenaiReply } from './response.ts'
import { decodeOpenaiStream } from './stream-reader.ts'
import { encodeOpenaiStream, openaiErrorBody } from './stream-writer.ts'

/** OpenAI's chat completions, which Groq, Mistral, GitHub, OpenRouter and most local servers speak too. */
export const openai: Dialect = {
  id: 'openai-chat',
  matches: (endpoint) => /\/chat\/completions\/?(?:[?#]|$)/.test(endpoint),
  writeRequest: writeOpenaiRequest,
  readRequest: readOpenaiRequest,
  readReply: readOpenaiReply,
  writeReply: writeOpenaiReply,
  readError: readWireError,
  writeError: openaiErrorBody,
  decodeStream: () => withJsonBody(decodeOpenaiStream(), decodeWholeResponse(readOpenaiReply)),
  encodeStream: encodeOpenaiStream,
}
