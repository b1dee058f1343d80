import type { StreamWriter } from '../../protocol/dialect.ts'
import { isObject, type JsonObject } from '../../protocol/json-object.ts'
import type { ChatReply, ChatRequest } from '../../protocol/messages.ts'
import { checkRequest } from '../shared/request-check.ts'
import { readRequest } from './request-reader.ts'
import { writeResponse } from './response.ts'
import { createLineWriter } from './stream-writer.ts'

/**
 * Reads a request of /api/generate (https://docs.ollama.com/api/generate) as a chat of a system prompt and one message.
 * Throws an AppError `invalid` for features without an equivalent in chats: a prompt that bypasses the model's
 * template, and text to be filled in.
 */
export function readGenerate(body: unknown): ChatRequest {
  const { expect, done } = checkRequest()
  const fields = isObject(body) ? body : {}
  expect(isObject(body), 'The request', 'must be a JSON object')
  const { prompt = '', system = '', images, suffix, template, context, raw, ...rest } = fields
  expect(typeof prompt === 'string', 'prompt', 'must be text')
  expect(typeof system === 'string', 'system', 'must be text')
  for (const [name, value] of Object.entries({ suffix, template, context, raw }))
    expect(isEmpty(value), name, 'is not supported: send the conversation to /api/chat')
  done()
  const messages = [
    ...(system === '' ? [] : [{ role: 'system', content: system }]),
    { role: 'user', content: prompt, ...(images !== undefined && { images }) },
  ]
  return readRequest({ ...rest, messages })
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '' || value === false || isEmptyList(value)
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

/** Our answer as that of /api/generate. */
export function writeGenerated(reply: ChatReply): Record<string, unknown> {
  const { message, ...rest } = writeResponse(reply)
  return { ...rest, ...textFields(message as JsonObject) }
}

/** Writes a stream as the lines of /api/generate. */
export function createGenerateWriter(): StreamWriter {
  return createLineWriter(textFields)
}

function textFields({ content, thinking }: JsonObject): JsonObject {
  return { response: content, ...(thinking !== undefined && { thinking }) }
}
