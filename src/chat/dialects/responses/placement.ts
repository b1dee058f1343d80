import { AppError } from '../../../errors.ts'
import type { Dialect } from '../../protocol/dialect.ts'
import { isObject, type JsonObject, restOf } from '../../protocol/json-object.ts'
import type { ChatRequest, Message } from '../../protocol/messages.ts'
import { hostOf, isOpenai } from '../openai/hosts.ts'
import { withAllowedTools } from '../shared/plain-tools.ts'
import { type OpenReasoning, withOwnReasoning } from './reasoning.ts'

/** Marks a request of a client that gets its reasoning from aichat, sealed. */
const sealed = 'sealed'

/**
 * A client's request as the router gets it. Reasoning is sealed and answers are kept here, if at all: the provider
 * keeps none, and sends encrypted reasoning with the answer, to be returned with the next request.
 */
export function fromClient(request: ChatRequest): ChatRequest {
  const own = request.extra_content?.['responses'] ?? {}
  const asked = Array.isArray(own['include']) ? own['include'] : []
  const include = [...new Set([...asked, 'reasoning.encrypted_content'])]
  const kept = ['previous_response_id', 'conversation', 'background']
  return withOwn(request, { ...restOf(own, new Set(kept)), store: false, include, [sealed]: true })
}

/**
 * A request of the Responses dialect for the provider that is asked. Sealed reasoning goes back to where it came from, and
 * no other is sent. Throws an AppError `invalid` where the request forces a tool that only another provider runs. Any
 * other request is returned as it is.
 */
export function forPlace(request: ChatRequest, id: Dialect['id'], endpoint: string, open: OpenReasoning): ChatRequest {
  const own = request.extra_content?.['responses']
  if (own === undefined) return request
  const opened = own[sealed] === true ? withOwnReasoning(request, open) : request
  if (id === 'openai-responses') return opened
  refuseForced(request, own)
  if (id !== 'openai-chat') return opened
  const { tool_choice: choice, parallel_tool_calls: parallel, ...rest } = withAllowedTools(opened)
  // OpenAI's chats refuse both where there is nothing to choose from.
  const hasTools = rest.tools?.some(({ type }) => type === 'function')
  const asked = {
    ...rest,
    ...(hasTools && choice !== undefined && { tool_choice: choice }),
    ...(hasTools && parallel !== undefined && { parallel_tool_calls: parallel }),
  }
  if (isOpenai(hostOf(endpoint))) return { ...hintsOf(own), ...asked }
  return { ...asked, messages: asked.messages.map(withSystem) }
}

/** Services beside OpenAI know its newer name of the role only in part. */
function withSystem(message: Message): Message {
  return message.role === 'developer' ? { ...message, role: 'system' } : message
}

function withOwn(request: ChatRequest, own: JsonObject): ChatRequest {
  return { ...request, extra_content: { ...request.extra_content, responses: own } }
}

/** Fields that OpenAI's chats have under the same name and other services refuse. */
function hintsOf(own: JsonObject): JsonObject {
  const names = ['prompt_cache_key', 'prompt_cache_retention', 'safety_identifier', 'service_tier']
  const entries = names.map((name) => [name, own[name]] as const).filter(([, value]) => value != null)
  const verbosity = isObject(own['text']) ? own['text']['verbosity'] : undefined
  return { ...Object.fromEntries(entries), ...(typeof verbosity === 'string' && { verbosity }) }
}

const plainChoices: readonly unknown[] = ['function', 'custom', 'allowed_tools']

function refuseForced({ tools = [] }: ChatRequest, { tool_choice: choice }: JsonObject): void {
  const isHosted = isObject(choice) && !plainChoices.includes(choice['type'])
  const isRequired = choice === 'required' || (isObject(choice) && choice['mode'] === 'required')
  const hasHosted = tools.some(({ type }) => type === 'foreign')
  const isLeftEmpty = isRequired && hasHosted && !tools.some(({ type }) => type === 'function')
  if (!isHosted && !isLeftEmpty) return
  const name = isHosted ? String(choice['type']).slice(0, 60) : 'a hosted tool'
  throw new AppError('invalid', `The request forces ${name}, which only a provider of the Responses API can run`, {
    details: ['Set tool_choice to auto, or ask a plugin whose api is openai-responses'],
  })
}
