import type { StreamWriter } from '../../protocol/dialect.ts'
import { isObject, type JsonObject } from '../../protocol/json-object.ts'
import {
  type ChatChunk,
  type ChatReply,
  type ChatRequest,
  contentOf,
  type FinishReason,
  type Message,
  textOf,
} from '../../protocol/messages.ts'
import { checkRequest } from '../shared/request-check.ts'
import { readRequest } from './request-reader.ts'
import { writeError } from './response.ts'

/** The most prompts of one request: each is a chat of its own. */
const mostPrompts = 20

/** Fields that only a model for the continuation of texts has. Values that ask for nothing are taken. */
const ofTextModels: Readonly<Record<string, readonly unknown[]>> = {
  suffix: ['', null],
  echo: [false, null],
  n: [1, null],
  best_of: [1, null],
  logprobs: [null],
}

/** Fields of a chat, which has a route of its own. */
const ofChats = ['messages', 'tools', 'tool_choice', 'functions', 'function_call', 'response_format']

/**
 * Reads a request of OpenAI's older /v1/completions (https://platform.openai.com/docs/api-reference/completions) as a
 * chat with a message for each prompt; `promptsOf` parts them. Throws an AppError `invalid` for features without an
 * equivalent in chats.
 */
export function readCompletion(body: unknown): ChatRequest {
  const { expect, done } = checkRequest()
  const fields = isObject(body) ? body : {}
  expect(isObject(body), 'The request', 'must be a JSON object')
  const { prompt, ...rest } = fields
  const prompts = Array.isArray(prompt) ? prompt : [prompt]
  expect(
    prompts.length > 0 && prompts.every((text) => typeof text === 'string' && text !== ''),
    'prompt',
    'must be a text that is not empty, or a list of such texts; lists of tokens are not read',
  )
  expect(prompts.length <= mostPrompts, 'prompt', `must hold at most ${mostPrompts} texts`)
  for (const [name, idle] of Object.entries(ofTextModels))
    expect(
      fields[name] === undefined || idle.includes(fields[name]),
      name,
      'is not supported: the models here answer chats and continue no texts',
    )
  for (const name of ofChats) expect(fields[name] === undefined, name, 'is a field of /v1/chat/completions')
  done()
  const kept = Object.fromEntries(Object.entries(rest).filter(([name]) => !Object.hasOwn(ofTextModels, name)))
  return readRequest({ ...kept, messages: prompts.map((content: unknown) => ({ role: 'user', content })) })
}

/** The chats of such a request: one for each prompt. */
export function promptsOf<T extends Pick<ChatRequest, 'messages'>>(request: T): readonly T[] {
  return request.messages.map((message) => ({ ...request, messages: [message] }))
}

/** Our answer as a text completion. */
export function writeCompletion(reply: ChatReply): Record<string, unknown> {
  const choices = reply.choices.map(({ index, message, finish_reason }) =>
    choiceOf(index, textIn(message), finish_reason),
  )
  return { ...outlineOf(reply), choices, ...(reply.usage && { usage: reply.usage }) }
}

/** Writes a stream of text completions. The chunk of token counts goes out only where the client asked for it. */
export function createCompletionWriter(request: ChatRequest): StreamWriter {
  const wantsUsage = request.stream_options?.include_usage === true
  return {
    push(chunk) {
      const choices = chunk.choices.flatMap(({ index, delta, finish_reason }) => {
        const text = `${delta.content ?? ''}${delta.refusal ?? ''}`
        return text === '' && !finish_reason ? [] : [choiceOf(index, text, finish_reason)]
      })
      const usage = wantsUsage && chunk.usage
      if (choices.length === 0 && !usage) return ''
      return `data: ${JSON.stringify({ ...outlineOf(chunk), choices, ...(usage && { usage }) })}\n\n`
    },
    end: () => 'data: [DONE]\n\n',
    fail: (error) => `data: ${JSON.stringify(writeError(error))}\n\n`,
  }
}

function outlineOf({ id, created, model }: ChatReply | ChatChunk): JsonObject {
  return { id: id.replace(/^chatcmpl-/, 'cmpl-'), object: 'text_completion', created, model }
}

function choiceOf(index: number, text: string, finish: FinishReason | null): JsonObject {
  return { text, index, logprobs: null, finish_reason: finish }
}

function textIn(message: Message): string {
  return textOf(contentOf(message))
}
