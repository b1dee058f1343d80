import { createHash } from 'node:crypto'
import {
  compact,
  isObject,
  type JsonObject,
  objectOf,
  objectsOf,
  restOf,
  stringOf,
} from '../../protocol/json-object.ts'
import type { ChatRequest, ForeignPart, Tool } from '../../protocol/messages.ts'
import { extraOf, withExtra } from '../shared/alternation.ts'

/** The longest name of a function that OpenAI and Anthropic take. */
const longestName = 64

/** The name of a namespace's function: `ns__name`, or a shortened one where providers would refuse that. */
export function flatName(namespace: string | undefined, name: string): string {
  if (namespace === undefined || namespace === '') return name
  const joined = `${namespace}__${name}`
  if (joined.length <= longestName && /^[\w-]+$/.test(joined)) return joined
  const digest = createHash('sha256').update(joined).digest('hex').slice(0, 12)
  return `${joined.replace(/[^\w-]/g, '_').slice(0, longestName - 14)}__${digest}`
}

/** A client's own name for a tool of our shape. */
export interface ToolName {
  readonly name: string
  readonly namespace?: string
  /** Takes a text without a schema: its calls are `custom_tool_call`. */
  readonly isCustom: boolean
}

/** The client's names of a request's tools, by ours; those that are the same are left out. */
export function toolNames(request: ChatRequest | undefined): ReadonlyMap<string, ToolName> {
  const names = new Map<string, ToolName>()
  for (const tool of request?.tools ?? []) {
    if (tool.type !== 'function') continue
    const { custom, namespace, name } = extraOf(tool, 'responses')
    const space = stringOf(objectOf(namespace)['name'])
    if (custom === undefined && space === undefined) continue
    const own = stringOf(name) ?? tool.function.name
    names.set(tool.function.name, {
      name: own,
      isCustom: custom !== undefined,
      ...(space !== undefined && { namespace: space }),
    })
  }
  return names
}

/** A request's tools in our shape: a namespace as its functions, a custom tool as a function with one text. */
export function readTools(tools: unknown): readonly (Tool | ForeignPart)[] | undefined {
  if (!Array.isArray(tools)) return undefined
  return objectsOf(tools).flatMap((tool) => (isNamespace(tool) ? readNamespace(tool) : [readTool(tool)]))
}

function isNamespace(tool: JsonObject): boolean {
  return tool['type'] === 'namespace' && typeof tool['name'] === 'string' && Array.isArray(tool['tools'])
}

function readNamespace(namespace: JsonObject): readonly (Tool | ForeignPart)[] {
  const { tools, ...about } = namespace
  return objectsOf(tools).map((inner) => {
    const tool = readTool(inner)
    if (tool.type === 'foreign') return tool
    const own = { ...extraOf(tool, 'responses'), namespace: about, name: tool.function.name }
    const name = flatName(String(about['name']), tool.function.name)
    return { ...tool, function: { ...tool.function, name }, ...withExtra('responses', own) }
  })
}

const functionFields = new Set(['type', 'name', 'description', 'parameters', 'strict'])

function readTool(tool: JsonObject): Tool | ForeignPart {
  if (tool['type'] === 'custom' && typeof tool['name'] === 'string') return readCustom(tool)
  if (tool['type'] !== 'function') return { type: 'foreign', dialect: 'responses', value: tool }
  const { name, description, parameters, strict } = tool
  const described = compact({
    name,
    description: description ?? undefined,
    parameters: parameters ?? undefined,
    strict: strict === true ? true : undefined,
  })
  // Functions are strict by default here, and not so in our shape, which has no word for either left out.
  const unsaid = {
    ...(strict === undefined || strict === null ? { strict: null } : {}),
    ...(parameters === undefined || parameters === null ? { parameters: null } : {}),
  }
  const more = { ...restOf(tool, functionFields), ...unsaid }
  return {
    type: 'function',
    function: described as unknown as Tool['function'],
    ...withExtra('responses', Object.keys(more).length > 0 ? more : undefined),
  }
}

/** A custom tool takes a text, perhaps in a grammar, which the description tells a model that takes JSON only. */
function readCustom(tool: JsonObject): Tool {
  const { syntax, definition } = objectOf(tool['format'])
  const grammar =
    typeof definition === 'string'
      ? [`The input must match this ${stringOf(syntax) ?? ''} grammar:\n${definition}`]
      : []
  const description = [stringOf(tool['description']) ?? '', ...grammar].filter(Boolean).join('\n\n')
  const input = { type: 'string', description: 'The whole input of the tool, as plain text.' }
  const parameters = { type: 'object', properties: { input }, required: ['input'], additionalProperties: false }
  const name = String(tool['name'])
  return {
    type: 'function',
    function: { name, ...(description && { description }), parameters },
    ...withExtra('responses', { custom: tool }),
  }
}

/** Our tools as this dialect's. Its functions follow their schema strictly by default, so those of other dialects say so. */
export function writeTools(tools: ChatRequest['tools']): readonly JsonObject[] | undefined {
  if (!tools) return undefined
  const written: JsonObject[] = []
  let open: { readonly about: unknown; readonly tools: JsonObject[] } | undefined
  for (const tool of tools) {
    const { namespace } = tool.type === 'foreign' ? {} : (extraOf(tool, 'responses') as JsonObject)
    const wire = writeTool(tool)
    if (!wire) continue
    if (!isObject(namespace)) {
      open = undefined
      written.push(wire)
    } else if (open?.about === namespace) open.tools.push(wire)
    else {
      open = { about: namespace, tools: [wire] }
      written.push({ ...namespace, tools: open.tools })
    }
  }
  return written
}

function writeTool(tool: Tool | ForeignPart): JsonObject | undefined {
  if (tool.type === 'foreign') return tool.dialect === 'responses' ? tool.value : undefined
  if (tool.type !== 'function') return undefined
  const { custom, namespace: _namespace, name: ownName, ...extra } = extraOf(tool, 'responses')
  if (isObject(custom)) return custom
  const { name, description, parameters, strict } = tool.function
  return compact({
    ...extra,
    type: 'function',
    name: ownName ?? name,
    description,
    parameters: parameters ?? (extra['parameters'] === null ? undefined : { type: 'object', properties: {} }),
    strict: strict ?? (extra['strict'] === null ? undefined : false),
  })
}

/** The choice in our shape; undefined for a hosted tool's, which is kept with the request's own fields. */
export function readToolChoice(choice: unknown): ChatRequest['tool_choice'] | JsonObject {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice
  if (!isObject(choice)) return undefined
  if (isFunction(choice)) return named(choice)
  if (choice['type'] !== 'allowed_tools') return undefined
  const { mode, tools } = choice
  return { type: 'allowed_tools', allowed_tools: { mode: mode ?? 'auto', tools: objectsOf(tools).map(allowed) } }
}

function isFunction({ type, name }: JsonObject): boolean {
  return (type === 'function' || type === 'custom') && typeof name === 'string'
}

function named(choice: JsonObject): ChatRequest['tool_choice'] {
  const name = flatName(stringOf(choice['namespace']), String(choice['name']))
  return { type: 'function', function: { name } }
}

function allowed(tool: JsonObject): JsonObject {
  return isFunction(tool) ? (named(tool) as unknown as JsonObject) : tool
}

/** Our choice as this dialect's; `names` are the client's names of the tools. */
export function writeToolChoice(choice: unknown, names: ReadonlyMap<string, ToolName>): unknown {
  if (!isObject(choice)) return choice === 'any' ? 'required' : (choice ?? undefined)
  if (choice['type'] === 'allowed_tools') {
    const { mode, tools } = objectOf(choice['allowed_tools'])
    return { type: 'allowed_tools', mode, tools: objectsOf(tools).map((tool) => writeToolChoice(tool, names)) }
  }
  const flat = stringOf(objectOf(choice['function'])['name'])
  if (flat === undefined) return choice
  const { name, namespace, isCustom } = names.get(flat) ?? { name: flat, isCustom: false }
  return compact({ type: isCustom ? 'custom' : 'function', name, namespace })
}
