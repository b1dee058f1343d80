import type { Dialect } from '../../protocol/dialect.ts'
import { decodeWholeResponse, withJsonBody } from '../shared/whole-response.ts'
import { readWireError } from '../shared/wire-error.ts'
import { readAnthropicRequest } from './request-reader.ts'
import { writeAnthropicRequest } from './request-writer.ts'
import { anthropicErrorBody, readAnthropicReply, writeAnthropicReply } from './response.ts'
import { decodeAnthropicStream } from './stream-reader.ts'
import { encodeAnthropicStream } from './stream-writer.ts'

/** Anthropic's messages: https://docs.anthropic.com/en/api/messages */
export const anthropic: Dialect = {
  id: 'anthropic-messages',
  matches: (endpoint) => /\/messages\/?(?:[?#]|$)/.test(endpoint),
  writeRequest: writeAnthropicRequest,
  readRequest: readAnthropicRequest,
  readReply: (body, _request, now = Date.now()) => readAnthropicReply(body, now),
  writeReply: writeAnthropicReply,
  readError: readWireError,
  writeError: anthropicErrorBody,
  decodeStream: (_request, now = Date.now()) =>
    withJsonBody(
      decodeAnthropicStream(now),
      decodeWholeResponse((body) => readAnthropicReply(body, now)),
    ),
  encodeStream: encodeAnthropicStream,
}
