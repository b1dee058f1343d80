import { isObject, type JsonObject, objectOf, objectsOf, stringOf } from '../../protocol/json-object.ts'
import type { ChatRequest, ForeignPart, Message, Tool, ToolCall, ToolChoice } from '../../protocol/messages.ts'
import { generatedId } from './tool-ids.ts'

/**
 * OpenAI's first way to call functions (`functions`, `function_call`, the role `function`), calls of its custom tools, and
 * a choice among some of the tools, rewritten as plain tools, for dialects that know only these. Returns the request itself
 * where it has none of them.
 */
export function withTools(asked: ChatRequest): ChatRequest {
  const request = withAllowedTools(asked)
  const functions = objectsOf(request['functions'])
  const isLegacy = functions.length > 0 || request['function_call'] != null || request.messages.some(isLegacyTurn)
  if (!isLegacy) return request
  const { functions: _functions, function_call: legacyChoice, ...rest } = request
  const choice = choiceOf(legacyChoice)
  return {
    ...rest,
    messages: withCalls(request.messages),
    ...(functions.length > 0 && { tools: [...(request.tools ?? []), ...functions.map(toolOf)] }),
    ...(choice !== undefined && { tool_choice: choice }),
  }
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

/** A call in the old field as one of today's, or undefined where there is none. */
function legacyCall(call: unknown, id: string): ToolCall | undefined {
  if (!isObject(call) || typeof call['name'] !== 'string') return undefined
  return { id, type: 'function', function: { name: call['name'], arguments: stringOf(call['arguments']) ?? '' } }
}

function isLegacyTurn(message: Message): boolean {
  const isCustom = message.tool_calls?.some((call) => !isObject(call.function)) ?? false
  return isCustom || message.role === ('function' as string) || isObject(message['function_call'])
}

/** A custom tool's input is text without a format: https://platform.openai.com/docs/guides/function-calling#custom-tools */
function plainCall(call: ToolCall): ToolCall {
  if (isObject(call.function)) return call
  const { name, input } = objectOf((call as unknown as JsonObject)['custom'])
  const text = JSON.stringify({ input: stringOf(input) ?? '' })
  return { id: call.id, type: 'function', function: { name: stringOf(name) ?? '', arguments: text } }
}

/** An answer belongs to the call before it: there was one at a time. */
function withCalls(messages: readonly Message[]): readonly Message[] {
  let count = 0
  return messages.map((message): Message => {
    if (message.role === ('function' as string))
      return { ...message, role: 'tool', tool_call_id: generatedId('function', Math.max(0, count - 1)) }
    if (message.tool_calls?.length) return { ...message, tool_calls: message.tool_calls.map(plainCall) }
    if (!isObject(message['function_call'])) return message
    const { function_call: wire, ...rest } = message
    const call = legacyCall(wire, generatedId('function', count++))
    return call ? { ...rest, tool_calls: [call] } : message
  })
}

function toolOf(wire: JsonObject): Tool {
  return { type: 'function', function: wire as unknown as Tool['function'] }
}

function choiceOf(choice: unknown): ToolChoice | undefined {
  if (choice === 'auto' || choice === 'none') return choice
  const name = isObject(choice) ? stringOf(choice['name']) : undefined
  return name === undefined ? undefined : { type: 'function', function: { name } }
}
