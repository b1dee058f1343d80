import { isObject, type JsonObject, objectOf, objectsOf, stringOf } from '../../protocol/json-object.ts'
import type { ChatRequest, ForeignPart, Message, Tool, ToolCall } from '../../protocol/messages.ts'
import { notExpressible } from './request-check.ts'

/**
 * Calls of OpenAI's custom tools, and a choice among some of the tools, rewritten as plain tools, for dialects that
 * know only these. Returns the request itself where it has none of them. Throws an AppError `invalid` for OpenAI's
 * first way to call functions (`functions`, `function_call`, the role `function`), which tools replaced in 2023.
 */
export function withTools(asked: ChatRequest): ChatRequest {
  const isOutdated = asked['functions'] != null || asked['function_call'] != null || asked.messages.some(isOutdatedTurn)
  if (isOutdated) throw notExpressible('Send tools, tool_choice and tool_calls in place of functions and function_call')
  const request = withAllowedTools(asked)
  if (!request.messages.some(({ tool_calls: calls }) => calls?.some(isCustom))) return request
  return { ...request, messages: request.messages.map(withPlainCalls) }
}

/** Keeps the allowed tools only: https://platform.openai.com/docs/guides/function-calling#tool-choice */
export function withAllowedTools(request: ChatRequest): ChatRequest {
  const choice = objectOf(request.tool_choice)
  if (choice['type'] !== 'allowed_tools') return request
  const { mode, tools } = objectOf(choice['allowed_tools'])
  const names = objectsOf(tools).map((tool) => objectOf(tool['function'])['name'])
  const isAllowed = (tool: Tool | ForeignPart) => tool.type !== 'function' || names.includes(tool.function.name)
  return {
    ...request,
    ...(request.tools && { tools: request.tools.filter(isAllowed) }),
    tool_choice: mode === 'required' ? 'required' : 'auto',
  }
}

function isOutdatedTurn(message: Message): boolean {
  return message.role === ('function' as string) || (isObject(message['function_call']) && !message.tool_calls?.length)
}

function isCustom(call: ToolCall): boolean {
  return !isObject(call.function)
}

function withPlainCalls(message: Message): Message {
  return message.tool_calls?.length ? { ...message, tool_calls: message.tool_calls.map(plainCall) } : message
}

/**
 * A custom tool's input is text without a format: https://platform.openai.com/docs/guides/function-calling#custom-tools
 */
function plainCall(call: ToolCall): ToolCall {
  if (!isCustom(call)) return call
  const { name, input } = objectOf((call as unknown as JsonObject)['custom'])
  const text = JSON.stringify({ input: stringOf(input) ?? '' })
  return { id: call.id, type: 'function', function: { name: stringOf(name) ?? '', arguments: text } }
}
