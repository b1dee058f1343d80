import type { ClientError } from '../../protocol/dialect.ts'
import { countOf, isoTime, type JsonObject, objectOf, restOf, stringOf } from '../../protocol/json-object.ts'
import {
  type ChatReply,
  type Choice,
  contentOf,
  type FinishReason,
  type Message,
  textOf,
  type Usage,
} from '../../protocol/messages.ts'
import { extraOf, withExtra } from '../shared/alternation.ts'
import { choiceLogprobs, logprobsOf, readTokens } from '../shared/logprobs.ts'
import { generatedId } from '../shared/tool-ids.ts'
import { malformedResponse, throwIfError } from '../shared/wire-error.ts'
import { readCalls, writeCall } from './content.ts'

/** Reads an answer of Ollama's. */
export function readResponse(body: unknown, now = Date.now()): ChatReply {
  throwIfError(body)
  const fields = objectOf(body)
  const outline = outlineOf(fields, now)
  if (typeof fields['message'] !== 'object') throw malformedResponse('it holds no message')
  const message = readMessage(objectOf(fields['message']), outline.id, 0)
  const choice: Choice = {
    index: 0,
    message,
    finish_reason: readFinish(fields, message.tool_calls !== undefined),
    ...choiceLogprobs(readTokens(fields['logprobs'])),
  }
  const usage = readUsage(fields)
  return {
    ...outline,
    object: 'chat.completion',
    choices: [choice],
    ...(usage && { usage }),
    ...withExtra('ollama', restOf(fields, replyFields)),
  }
}

/** Our answer as Ollama's. */
export function writeResponse(reply: ChatReply): Record<string, unknown> {
  const [choice] = reply.choices
  const logprobs = choice ? logprobsOf(choice) : []
  return {
    model: reply.model,
    created_at: isoTime(reply.created),
    message: writeMessage(choice?.message),
    done: true,
    ...endOf(reply),
    ...(logprobs.length > 0 && { logprobs }),
  }
}

/** `{error:"text"}`. */
export function writeError(error: ClientError): { error: string } {
  return { error: error.message }
}

export const replyFields = new Set(['model', 'message', 'done'])

/** Ollama gives its answers no id: the time they were made at, to the nanosecond, tells them apart. */
export function outlineOf(fields: JsonObject, now: number): Pick<ChatReply, 'id' | 'created' | 'model'> {
  const at = stringOf(fields['created_at']) ?? ''
  const time = Date.parse(at)
  return {
    id: `chatcmpl-${at.replace(/\D/g, '') || now}`,
    created: Math.floor((Number.isNaN(time) ? now : time) / 1000),
    model: stringOf(fields['model']) ?? '',
  }
}

/** Reads a message of an answer; `where` and `begun` make ids of calls unique. Throws `protocol` without a name. */
export function readMessage(wire: JsonObject, where: string, begun: number): Message {
  let count = begun
  const calls = readCalls(wire['tool_calls'], () => generatedId(where, count++))
  if (calls?.some((call) => call.function.name === '')) throw malformedResponse('a call has no name')
  const thinking = stringOf(wire['thinking'])
  return {
    role: 'assistant',
    content: stringOf(wire['content']) ?? '',
    ...(thinking && { reasoning_content: thinking }),
    ...(calls && { tool_calls: calls }),
  }
}

function writeMessage(message: Message | undefined): JsonObject {
  return {
    role: 'assistant',
    content: message ? textOf(contentOf(message)) : '',
    ...(message?.reasoning_content && { thinking: message.reasoning_content }),
    ...(message?.tool_calls && { tool_calls: message.tool_calls.map(writeCall) }),
  }
}

/** Ollama's reasons are `stop`, `length`, and `load`; ours are written in the same place where it has none. */
export function readFinish(fields: JsonObject, calls: boolean): FinishReason {
  const reason = fields['done_reason']
  if (reason === 'length' || reason === 'content_filter' || reason === 'error') return reason
  return calls ? 'tool_calls' : 'stop'
}

/** Ollama leaves out a count of 0. */
export function readUsage(fields: JsonObject): Usage | undefined {
  if (fields['prompt_eval_count'] === undefined && fields['eval_count'] === undefined) return undefined
  const prompt = countOf(fields['prompt_eval_count'])
  const completion = countOf(fields['eval_count'])
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
}

/** The last fields of an answer: the reason of its end, and the counts of tokens where they are known. */
export function endOf(reply: ChatReply): JsonObject {
  const reason = reply.choices[0]?.finish_reason
  const { usage } = reply
  return {
    ...extraOf(reply, 'ollama'),
    done_reason: reason === 'tool_calls' ? 'stop' : (reason ?? 'stop'),
    ...(usage && { prompt_eval_count: usage.prompt_tokens, eval_count: usage.completion_tokens }),
  }
}
