import type { Dialect } from './dialect.ts'
import { encodeOpenaiStream, openaiErrorBody } from './openai-encoder.ts'
import { readOpenaiReply, writeOpenaiReply } from './openai-reply.ts'
import { readOpenaiRequest, writeOpenaiRequest } from './openai-request.ts'
import { decodeOpenaiStream } from './openai-stream.ts'
import { decodeWhole, withJsonBody } from './whole-body.ts'
import { readWireError } from './wire-error.ts'

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
  decodeStream: () => withJsonBody(decodeOpenaiStream(), decodeWhole(readOpenaiReply)),
  encodeStream: encodeOpenaiStream,
}
