import { encodeAnthropicStream } from './anthropic-encoder.ts'
import { readAnthropicRequest } from './anthropic-inbound.ts'
import { anthropicErrorBody, readAnthropicReply, writeAnthropicReply } from './anthropic-reply.ts'
import { writeAnthropicRequest } from './anthropic-request.ts'
import { decodeAnthropicStream } from './anthropic-stream.ts'
import type { Dialect } from './dialect.ts'
import { decodeWhole, withJsonBody } from './whole-body.ts'
import { readWireError } from './wire-error.ts'

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
      decodeWhole((body) => readAnthropicReply(body, now)),
    ),
  encodeStream: encodeAnthropicStream,
}
