import { isObject, type JsonObject, objectOf, objectsOf, stringOf } from '../../protocol/json-object.ts'
import type { ChatRequest, ContentPart, ExtraContent, Message } from '../../protocol/messages.ts'
import { includedLogprobs } from './request-fields.ts'

/** The keys of dialects' own fields in `extra_content`. */
export type Owner = 'anthropic' | 'ollama' | 'responses'

/**
 * Fields that may be left out unnamed, by their dialect, each with the reason: it changes nothing in an answer, or our own
 * shape holds it too.
 */
export const harmlessForeign: Readonly<Record<Owner, Readonly<Record<string, string>>>> = {
  anthropic: {
    cache_control: 'a cache hint: lower cost, same answer',
    metadata: 'labels for the provider’s own records',
    diagnostics: 'reports of the provider’s cache',
    billing_policy: 'billing',
    fallback_credit_token: 'billing',
    user_profile_id: 'the user or workspace, for the provider’s own records',
    workspace_id: 'the user or workspace, for the provider’s own records',
    // A tool that would be loaded later is there from the start, and arguments that come early come in time.
    defer_loading: 'when a tool is shown to the model',
    eager_input_streaming: 'how early arguments are streamed',
    type: 'the type of a tool that is nothing but a function',
    title: 'read as the name of a file',
    temperature: 'read as the sampling of our shape',
    top_p: 'read as the sampling of our shape',
    top_k: 'read as the sampling of our shape',
    output_format: 'read as the format of our shape',
    is_error: 'written as words',
    content: 'its blocks are named one by one',
    turn: 'its fields are named one by one',
  },
  ollama: {
    keep_alive: 'how long a model stays in memory',
    tools: 'an empty list',
    format: 'no format',
    index: 'the number of a call',
    type: 'the type of a call that is nothing but a function',
  },
  responses: {
    instructions: 'read as a system message',
    tools: 'each is named by itself',
    tool_choice: 'read as the choice of our shape',
    parallel_tool_calls: 'read as a field of our shape',
    text: 'read as the format of our shape; its other fields are named by themselves',
    reasoning: 'read as the effort of our shape; summaries are shown where a provider thinks aloud',
    temperature: 'read as the sampling of our shape',
    top_p: 'read as the sampling of our shape',
    max_output_tokens: 'read as the limit of our shape',
    user: 'read as a field of our shape',
    metadata: 'labels that are repeated in the answer',
    client_metadata: 'labels for the provider’s own records',
    safety_identifier: 'the end user, for the provider’s abuse detection',
    prompt_cache_key: 'a cache hint: lower cost, same answer',
    prompt_cache_retention: 'a cache hint: lower cost, same answer',
    prompt_cache_options: 'a cache hint: lower cost, same answer',
    stream_options: 'which pieces of a stream are shown: ours to do',
    include: 'its values are named one by one',
    top_logprobs: 'named with the logprobs that it belongs to',
    store: 'whether an answer is kept: ours to do',
    previous_response_id: 'an answer kept here: ours to do',
    conversation: 'a conversation kept here: ours to do',
    background: 'whether the client waits: ours to do',
    sealed: 'how reasoning is read: ours to do',
    compact: 'whether a provider compacts by itself: ours to do',
    truncation: 'what is left out of a long conversation: ours to do',
    // Beside messages, parts, calls and tools:
    id: 'the name of an item',
    status: 'how an item ended',
    phase: 'a hint which of an answer’s texts is the last',
    items: 'they are named one by one',
    before: 'they are named one by one',
    after: 'they are named one by one',
    custom: 'written as a function',
    namespace: 'written in the name of a function',
    name: 'written in the name of a function',
    output_schema: 'the shape of a tool’s output, which its output shows',
    defer_loading: 'when a tool is shown to the model',
    annotations: 'sources of an earlier text',
    logprobs: 'facts about an earlier text',
  },
}

/** Fields with other fields inside: each is named by itself. */
const nested: ReadonlySet<string> = new Set(['output_config', 'options'])

/** Nested fields that our shape holds too. */
const ofConfig: ReadonlySet<string> = new Set(['effort', 'format'])

/** Names of the fields that a request, its messages, parts and tools hold for another dialect than `owner`. */
export function foreignFields(request: ChatRequest, owner: Owner | undefined): readonly string[] {
  if (!mayHoldForeign(request)) return []
  const others = (['anthropic', 'ollama', 'responses'] as const).filter((name) => name !== owner)
  const found = others.flatMap((name) => [
    ...fieldsIn(request.extra_content, name).filter((field) => request[field] === undefined),
    ...(name === 'responses' ? responsesValues(request) : []),
    ...(request.tools ?? []).flatMap((tool) =>
      tool.type === 'foreign' ? [] : fieldsIn(tool.extra_content, name).map((field) => `${field} of a tool`),
    ),
    ...request.messages.flatMap((message) => inMessage(message, name)),
  ])
  return [...new Set(found)]
}

/** Values inside the Responses dialect's fields that our shape has not. */
function responsesValues(request: ChatRequest): readonly string[] {
  const { include, text, top_logprobs: top } = objectOf(request.extra_content?.['responses'])
  const verbosity = objectOf(text)['verbosity']
  const isVerbose = typeof verbosity === 'string' && verbosity !== 'medium' && request['verbosity'] === undefined
  const listed = Array.isArray(include) ? include.filter((name) => !ownIncludes.has(name)) : []
  return [
    ...listed.map((name) => `include ${String(name).slice(0, 60)}`),
    ...(isVerbose ? ['verbosity'] : []),
    ...(typeof top === 'number' && top > 0 && request['logprobs'] !== true ? ['top_logprobs'] : []),
  ]
}

/** Reasoning is sealed here for each client, and logprobs are a field of our shape. */
const ownIncludes: ReadonlySet<unknown> = new Set(['reasoning.encrypted_content', includedLogprobs])

/** False for most requests: texts alone. Looks at each message once, where the search for every dialect looks three times. */
function mayHoldForeign({ extra_content: extra, tools, messages }: ChatRequest): boolean {
  if (extra !== undefined) return true
  if (tools) for (const tool of tools) if (tool.type === 'foreign' || tool.extra_content !== undefined) return true
  for (const message of messages) if (message.extra_content !== undefined || Array.isArray(message.content)) return true
  return false
}

function fieldsIn(extra: ExtraContent | undefined, owner: Owner): readonly string[] {
  return Object.entries(objectOf(extra?.[owner])).flatMap(([name, value]) => {
    if (Object.hasOwn(harmlessForeign[owner], name) || !isAsked(name, value)) return []
    if (name === 'betas') return objectOrList(value).map((beta) => `the beta ${beta}`)
    if (!nested.has(name)) return [name]
    return Object.keys(objectOf(value)).filter((inner) => !ofConfig.has(inner))
  })
}

function objectOrList(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map((item) => (stringOf(item) ?? '').slice(0, 60)) : []
}

/** Thinking that is turned off or of a level, which our shape has, and a tier that is the usual one, ask for nothing. */
function isAsked(name: string, value: unknown): boolean {
  if (value === null || value === undefined) return false
  if (name === 'think') return value === true
  if (name === 'thinking') return objectOf(value)['type'] !== 'disabled'
  return !(name === 'service_tier' && ['auto', 'default', 'standard_only'].includes(value as string))
}

function inMessage(message: Message, owner: Owner): readonly string[] {
  const parts: readonly ContentPart[] = Array.isArray(message.content) ? message.content : []
  const extra = objectOf(message.extra_content?.[owner])
  const isShown = message.role === 'user' || message.role === 'tool'
  return [
    ...fieldsIn(message.extra_content, owner),
    ...Object.keys(objectOf(extra['turn'])).map((name) => `${name} of a message`),
    ...objectsOf(extra['content']).flatMap(unsupportedBlock),
    ...(owner === 'responses' ? ['items', 'before', 'after'].flatMap((name) => unsupportedItems(extra[name])) : []),
    ...parts.flatMap((part) => {
      // Content shown to the model is passed through or refused; see media-support.ts.
      if (part.type === 'foreign') return isShown || part['dialect'] !== owner ? [] : [`a ${kindOf(part)} in a message`]
      const own = (part as { readonly extra_content?: ExtraContent }).extra_content
      return fieldsIn(own, owner).map((name) => `${name} of a part`)
    }),
  ]
}

const expressible: ReadonlySet<unknown> = new Set(['text', 'thinking', 'redacted_thinking', 'tool_use'])

/** A block of the model's own turn that only Anthropic can read again, such as search results. */
function unsupportedBlock(block: JsonObject): readonly string[] {
  return expressible.has(block['type']) ? [] : [`a ${(stringOf(block['type']) ?? 'block').slice(0, 60)} in a message`]
}

const expressibleItems: ReadonlySet<unknown> = new Set([
  ...['message', 'reasoning', 'function_call', 'custom_tool_call', 'item_reference'],
])

/** Items that only a provider of the Responses dialect can read again, such as searches that it made. */
function unsupportedItems(items: unknown): readonly string[] {
  const others = objectsOf(items).filter(({ type }) => !expressibleItems.has(type))
  return others.map(({ type }) => `a ${(stringOf(type) ?? 'nameless item').slice(0, 60)} among the items`)
}

function kindOf(part: ContentPart): string {
  const value = objectOf((part as JsonObject)['value'])
  const [first = 'part'] = Object.keys(value)
  return (typeof value['type'] === 'string' ? value['type'] : first).slice(0, 60)
}

/** Fields of messages in OpenAI's dialect that the others do not have and that are no echo of an answer. */
export function unknownInMessages({ messages }: ChatRequest): readonly string[] {
  const found = messages.flatMap((message) => {
    if (message.role === 'assistant') return message.name === undefined ? [] : ['name of a message']
    const own = Object.keys(message).filter((name) => !messageFields.has(name) && message[name] != null)
    const named = message.name === undefined || namesCalls.has(message.role) ? [] : ['name']
    const parts: readonly ContentPart[] = Array.isArray(message.content) ? message.content : []
    return [...[...own, ...named].map((name) => `${name} of a message`), ...parts.flatMap(detailOf)]
  })
  return [...new Set(found)]
}

const messageFields: ReadonlySet<string> = new Set([
  ...['role', 'content', 'name', 'tool_calls', 'tool_call_id', 'refusal', 'extra_content', 'cache_control'],
])

/** Roles with the name of a function: it assigns the answer to its call. */
const namesCalls: ReadonlySet<string> = new Set(['tool', 'function'])

function detailOf(part: ContentPart): readonly string[] {
  const image = part.type === 'image_url' ? (part as JsonObject)['image_url'] : undefined
  const detail = isObject(image) ? image['detail'] : undefined
  return detail === undefined || detail === null || detail === 'auto' ? [] : ['detail of an image']
}
