import type { Dialect } from '../../src/chat/protocol/dialect.ts'

type Json = ReturnType<typeof JSON.parse>

/**
 * The meaning of a request's body to the provider: two bodies with equal meanings ask for the same. Only spellings that
 * the provider's own pages call equal are made one: a text and a list of one text, neighbours of one role, a field left
 * out and its stated default, Gemini's two cases of names and types. Every other field stays and is compared.
 */
export function meaningOf(id: Dialect['id'], body: unknown): unknown {
  const copy = JSON.parse(JSON.stringify(body), (_name, value) => (value === null ? undefined : value))
  if (id === 'openai-chat') return openaiMeaning(copy)
  if (id === 'openai-responses') return responsesMeaning(copy)
  if (id === 'anthropic-messages') return anthropicMeaning(copy)
  return id === 'gemini' ? geminiMeaning(copy) : ollamaMeaning(copy)
}

/** Fields that say nothing where they hold their default. */
function withoutDefaults(body: Json, defaults: Record<string, unknown>): Json {
  const entries = Object.entries(body).filter(([name, value]) => {
    return !(name in defaults && JSON.stringify(value) === JSON.stringify(defaults[name]))
  })
  return Object.fromEntries(entries)
}

function asParts(content: Json): Json {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])
}

/** Arguments are JSON inside JSON: their spacing means nothing. */
function parsed(text: Json): Json {
  try {
    return JSON.parse(text || '{}')
  } catch {
    return text
  }
}

function openaiMeaning({ max_tokens: old, max_completion_tokens: limit = old, ...body }: Json): Json {
  const messages = body.messages.map((message: Json) => ({
    ...message,
    role: message.role === 'developer' ? 'system' : message.role,
    content: asParts(message.content),
    tool_calls: (message.tool_calls ?? []).map((call: Json) => ({
      ...call,
      function: { ...call.function, arguments: parsed(call.function?.arguments) },
    })),
  }))
  return withoutDefaults({ ...body, limit, messages }, { stream: false, n: 1, tools: [] })
}

/** An item without a type is a message; a text has three names; empty lists beside a text say nothing. */
function responsesMeaning({ input, ...body }: Json): Json {
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : input
  const text = ({ type, annotations = [], logprobs = [], ...part }: Json) => ({
    ...part,
    type: type?.endsWith('_text') ? 'text' : type,
    ...(annotations.length > 0 && { annotations }),
    ...(logprobs.length > 0 && { logprobs }),
  })
  const asTexts = (content: Json) => asParts(content).map(text)
  const defaults = { stream: false, tools: [], tool_choice: 'auto', parallel_tool_calls: true }
  const read = items.map((item: Json) => ({
    ...item,
    type: item.type ?? 'message',
    ...(item.content !== undefined && { content: asTexts(item.content) }),
    ...(item.output !== undefined && item.type.endsWith('call_output') && { output: asTexts(item.output) }),
    ...(item.arguments !== undefined && { arguments: parsed(item.arguments) }),
  }))
  return withoutDefaults({ ...body, input: read }, defaults)
}

function anthropicMeaning(body: Json): Json {
  const turns: Json[] = []
  for (const { role, content } of body.messages) {
    const last = turns.at(-1)
    const blocks = asParts(content).map((block: Json) =>
      block.type === 'tool_result' ? { ...block, content: asParts(block.content) } : block,
    )
    if (last?.role === role) last.content.push(...blocks)
    else turns.push({ role, content: blocks })
  }
  return withoutDefaults({ ...body, system: asParts(body.system), messages: turns }, { stream: false, tools: [] })
}

function geminiMeaning(body: Json): Json {
  const { contents, tools, generationConfig = {}, ...rest } = inCamelCase(body)
  const turns: Json[] = []
  for (const { role = 'user', parts: told = [] } of asList(contents)) {
    const parts = asList(told)
    const last = turns.at(-1)
    const side = role === 'function' ? 'user' : role
    if (last?.role === side) last.parts.push(...parts)
    else turns.push({ role: side, parts: [...parts] })
  }
  const functions = asList(tools).flatMap((tool: Json) => asList(tool.functionDeclarations))
  const others = asList(tools).map(({ functionDeclarations: _functions, ...tool }: Json) => tool)
  const { role: _role, parts, ...system } = rest.systemInstruction ?? {}
  const systemInstruction = { ...system, parts: asList(parts) }
  return {
    ...rest,
    systemInstruction,
    generationConfig: withoutDefaults(generationConfig, { candidateCount: 1 }),
    contents: turns,
    functions: functions.map((declaration: Json) => ({
      ...declaration,
      parameters: inLowerCase(declaration.parameters),
    })),
    tools: others.filter((tool: Json) => Object.keys(tool).length > 0),
  }
}

/** Google's JSON takes one thing for a list of one. */
function asList(value: Json): Json[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value]
}

/** Names in Google's JSON may be written in either case; names chosen by callers stay as they are. */
function inCamelCase(value: Json): Json {
  if (Array.isArray(value)) return value.map(inCamelCase)
  if (typeof value !== 'object') return value
  const theirs = ['args', 'response', 'properties', 'parameters', 'parametersJsonSchema', 'responseJsonSchema']
  const entries = Object.entries(value).map(([name, field]) => {
    const camel = name.replace(/_([a-z])/g, (_match, letter) => letter.toUpperCase())
    return [camel, theirs.includes(camel) ? field : inCamelCase(field)]
  })
  return Object.fromEntries(entries)
}

function inLowerCase(schema: Json): Json {
  return JSON.parse(JSON.stringify(schema ?? {}), (name, value) =>
    name === 'type' && typeof value === 'string' ? value.toLowerCase() : value,
  )
}

function ollamaMeaning(body: Json): Json {
  return withoutDefaults(body, { stream: true, tools: [], options: {}, format: '' })
}
