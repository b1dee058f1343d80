import { isObject, type JsonObject, objectOf, objectsOf, stringOf } from '../../protocol/json-object.ts'
import type { ChatRequest, ContentPart, ExtraContent, Message } from '../../protocol/messages.ts'
import { isHarmless } from './harmless-fields.ts'
import { includedLogprobs } from './request-fields.ts'

/** The keys of dialects' own fields in `extra_content`. */
export type Owner = 'anthropic' | 'ollama' | 'responses'

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
    if (isHarmless(owner, name) || !isAsked(name, value)) return []
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
