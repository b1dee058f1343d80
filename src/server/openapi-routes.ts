import { z } from 'zod'
import { chatInput, countTokens, embeddingsInput, mostMessages } from '../operations/operations.ts'
import { speechBody } from './speech-body.ts'

/** The routes that are no operations, for the OpenAPI document: the service itself, the dialects of OpenAI, Anthropic and Ollama, and MCP. */

type Json = Record<string, unknown>

/** A route as the document shows it; `statuses` are those of its failures. */
interface DocumentedRoute {
  readonly route: string
  readonly summary: string
  readonly dialect?: 'openai' | 'anthropic' | 'ollama' | 'mcp'
  readonly body?: z.ZodType
  readonly answer?: z.ZodType
  readonly produces?: readonly string[]
  readonly statuses: readonly number[]
}

type RouteParts = Partial<Pick<DocumentedRoute, 'body' | 'answer' | 'produces' | 'statuses'>>

const json = ['application/json']
const jsonOrEvents = ['application/json', 'text/event-stream']

const status = z.object({ status: z.string() })
const openaiModel = z.object({
  id: z.string(),
  object: z.literal('model'),
  created: z.int(),
  owned_by: z.string(),
})
const anthropicModel = z.object({
  type: z.literal('model'),
  id: z.string(),
  display_name: z.string(),
  created_at: z.string(),
  max_input_tokens: z.number().nullable(),
  max_tokens: z.number().nullable(),
  capabilities: z.null(),
})
const modelLists = z.union([
  z.object({ object: z.literal('list'), data: z.array(openaiModel) }),
  z.object({
    data: z.array(anthropicModel),
    has_more: z.boolean(),
    first_id: z.string().nullable(),
    last_id: z.string().nullable(),
  }),
])
/** https://docs.anthropic.com/en/api/messages; its other fields are documented there. */
const anthropicBody = z.object({ messages: z.array(z.looseObject({})).max(mostMessages), max_tokens: z.int() })

/** https://platform.openai.com/docs/api-reference/responses/create; its other fields are documented there. */
const responsesBody = z.object({
  model: z.exactOptional(z.string()),
  input: z.union([z.string(), z.array(z.looseObject({})).max(mostMessages)]),
})

/** https://platform.openai.com/docs/api-reference/conversations */
const conversation = z.object({
  id: z.string(),
  object: z.literal('conversation'),
  created_at: z.int(),
  metadata: z.record(z.string(), z.string()),
})
const metadata = z.exactOptional(z.record(z.string(), z.string()).nullable())
const newItems = z.array(z.looseObject({})).max(20)
const item = z.looseObject({ type: z.string(), id: z.string() })
const itemList = z.object({
  object: z.literal('list'),
  data: z.array(item),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
})

const keptResponse = z.looseObject({ id: z.string(), object: z.literal('response'), status: z.string() })

/** The other fields of Ollama's bodies are documented at https://docs.ollama.com/api */
const jsonOrLines = ['application/json', 'application/x-ndjson']
const plainText = ['text/plain']

const named = z.object({ model: z.string(), keep_alive: z.union([z.string(), z.number()]).optional() })
const model = named.extend({ stream: z.boolean().default(true), options: z.looseObject({}).optional() })
const images = z.array(z.string()).max(1000).optional()

const listed = z.object({
  name: z.string(),
  model: z.string(),
  modified_at: z.string(),
  size: z.int(),
  digest: z.string(),
  details: z.looseObject({ family: z.string() }),
  capabilities: z.array(z.string()),
})

/** The failures of a model's answer, beside those of every route. */
const answering = [404, 408, 413, 415, 422, 429, 502, 504]

const ollamaRoutes: readonly DocumentedRoute[] = [
  ...['/ollama', '/ollama/'].map((path) => ({
    route: `GET ${path}`,
    summary: 'Says that Ollama’s API is served here.',
    produces: plainText,
    answer: z.string(),
    statuses: [],
  })),
  ollama('GET /ollama/api/version', 'The version of Ollama’s API that is followed.', {
    answer: z.object({ version: z.string() }),
    statuses: [],
  }),
  ollama('GET /ollama/api/tags', 'The models that a chat can name, and those that make embeddings.', {
    answer: z.object({ models: z.array(listed) }),
    statuses: [401, 429],
  }),
  ollama('GET /ollama/api/ps', 'The models in the memory of the runner on this machine.', {
    answer: z.object({ models: z.array(z.looseObject({ name: z.string() })) }),
    statuses: [401, 429],
  }),
  ollama('POST /ollama/api/show', 'Facts about a model.', {
    body: z.object({ model: z.string() }),
    answer: z.looseObject({ capabilities: z.array(z.string()), model_info: z.looseObject({}) }),
    statuses: [401, 404, 408, 413, 415, 429],
  }),
  ollama('POST /ollama/api/chat', 'A chat in the dialect of Ollama, streamed as lines of JSON by default.', {
    body: model.extend({ messages: z.array(z.looseObject({})).max(mostMessages) }),
    produces: jsonOrLines,
  }),
  ollama('POST /ollama/api/generate', 'The answer to one prompt, streamed as lines of JSON by default.', {
    body: model.extend({ prompt: z.string(), system: z.string().optional(), images }),
    produces: jsonOrLines,
  }),
  ollama('POST /ollama/api/embed', 'Embeddings of a text or a list of texts.', {
    body: named.extend({ input: z.union([z.string(), z.array(z.string()).max(2048)]), dimensions: z.int().optional() }),
  }),
  ollama('POST /ollama/api/embeddings', 'The embedding of one text: the older route.', {
    body: named.extend({ prompt: z.string() }),
  }),
  ...['POST pull', 'POST push', 'POST create', 'POST copy', 'DELETE delete', 'POST blobs/{digest}'].map((each) =>
    ollama(each.replace(' ', ' /ollama/api/'), 'Refused: models come from plugins and from `aichat models pull`.', {
      statuses: [401, 429],
    }),
  ),
]

const routes: readonly DocumentedRoute[] = [
  {
    route: 'GET /',
    summary: 'Names the service, and says whether it needs to be set up.',
    answer: z.object({
      name: z.string(),
      needs_setup: z.boolean(),
      installation: z.string(),
      documentation: z.string(),
      health: z.string(),
    }),
    statuses: [],
  },
  {
    route: 'GET /health',
    summary: 'Answers while the service lives; where several instances share a database, names this one.',
    answer: status.extend({
      instance: z.exactOptional(z.string()),
      database: z.exactOptional(z.object({ reachable: z.boolean() })),
    }),
    statuses: [],
  },
  {
    route: 'GET /ready',
    summary:
      'Answers 503 while the service starts or drains, and where the database of all instances is away for too long.',
    answer: status,
    statuses: [],
  },
  {
    route: 'GET /metrics',
    summary: 'Figures for Prometheus: for this machine and administrators.',
    produces: plainText,
    answer: z.string(),
    statuses: [401, 429],
  },
  { route: 'GET /openapi.json', summary: 'This document.', answer: z.looseObject({}), statuses: [] },
  openai(
    'POST /v1/chat/completions',
    'A chat in the dialect of OpenAI; the model may be `persona:NAME` (https://platform.openai.com/docs/api-reference/chat).',
    {
      body: chatInput.omit({ persona: true, session: true, memory: true, tool_turn: true, tool_steps: true }),
      produces: jsonOrEvents,
    },
  ),
  openai(
    'POST /v1/responses',
    'A chat in the Responses dialect of OpenAI (https://platform.openai.com/docs/api-reference/responses).',
    { body: responsesBody, produces: jsonOrEvents },
  ),
  openai(
    'POST /v1/completions',
    'The older completion of a text, answered as a chat (https://platform.openai.com/docs/api-reference/completions).',
    {
      body: z.object({
        prompt: z.union([z.string(), z.array(z.string()).max(20)]),
        model: z.string().optional(),
        stream: z.boolean().optional(),
      }),
      produces: jsonOrEvents,
    },
  ),
  openai('GET /v1/responses', 'Answers 426 to a WebSocket, so that its client sends POST, and 404 to anything else.', {
    statuses: [401, 404, 426, 429],
  }),
  openai('POST /v1/moderations', 'Refused with 404: no model here classifies texts.', { statuses: [401, 404, 429] }),
  openai('POST /v1/responses/input_tokens', 'Estimates the tokens of such a chat, with the conversation behind it.', {
    body: responsesBody.partial(),
    answer: z.object({ object: z.literal('response.input_tokens'), input_tokens: z.int() }),
  }),
  openai(
    'POST /v1/responses/compact',
    'A conversation in few items, for the next request: by its provider where that can, else by a summary.',
    {
      body: responsesBody.partial(),
      answer: z.object({
        id: z.string(),
        object: z.literal('response.compaction'),
        created_at: z.int(),
        output: z.array(item),
        usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int(), total_tokens: z.int() }),
      }),
    },
  ),
  openai(
    'GET /v1/responses/{id}',
    'A response that is kept; ?stream=true tells the events of one that was made with background: true, ?starting_after=N those after a number; after its end the last one alone.',
    { answer: keptResponse, produces: jsonOrEvents },
  ),
  openai('DELETE /v1/responses/{id}', 'Removes a response that is kept, and stops one in the background.', {
    answer: z.object({ id: z.string(), object: z.literal('response'), deleted: z.literal(true) }),
  }),
  openai('POST /v1/responses/{id}/cancel', 'Stops a response in the background.', {
    answer: keptResponse,
    statuses: [401, 404, 429],
  }),
  openai(
    'GET /v1/responses/{id}/input_items',
    'The items that a response was asked, in pages: ?limit=20&order=desc&after=ID.',
    { answer: itemList },
  ),
  openai(
    'POST /v1/conversations',
    'Makes a conversation for `conversation` of POST /v1/responses, with at most 20 items.',
    {
      body: z.object({ items: z.exactOptional(newItems.nullable()), metadata }),
      answer: conversation,
      statuses: [401, 413, 415, 429],
    },
  ),
  openai('GET /v1/conversations/{id}', 'A conversation, without its items.', { answer: conversation }),
  openai('POST /v1/conversations/{id}', 'Replaces the metadata of a conversation.', {
    body: z.object({ metadata }),
    answer: conversation,
    statuses: [401, 404, 413, 415, 429],
  }),
  openai(
    'DELETE /v1/conversations/{id}',
    'Removes a conversation with its items; responses that were made in it stay.',
    { answer: z.object({ id: z.string(), object: z.literal('conversation.deleted'), deleted: z.literal(true) }) },
  ),
  openai('POST /v1/conversations/{id}/items', 'Adds at most 20 items to a conversation.', {
    body: z.object({ items: newItems }),
    answer: itemList,
    statuses: [401, 404, 413, 415, 429],
  }),
  openai('GET /v1/conversations/{id}/items', 'The items of a conversation, in pages: ?limit=20&order=desc&after=ID.', {
    answer: itemList,
  }),
  openai('GET /v1/conversations/{id}/items/{item}', 'One item of a conversation.', { answer: item }),
  openai('DELETE /v1/conversations/{id}/items/{item}', 'Removes one item of a conversation.', { answer: conversation }),
  openai(
    'POST /v1/audio/speech',
    'Speech in the dialect of OpenAI; the answer is a WAV file. With `timestamps` it is server-sent events: speech.audio.delta (pieces of the WAV in base64), speech.audio.words (words with their start and end in seconds; `estimated` where the engine guesses), speech.audio.done.',
    { body: speechBody, produces: ['audio/wav', 'text/event-stream'] },
  ),
  openai('POST /v1/embeddings', 'Embeddings in the dialect of OpenAI.', { body: embeddingsInput }),
  openai(
    'GET /v1/models',
    'The models that a chat can name, personas among them, in the dialect of OpenAI, or of Anthropic for its clients.',
    { answer: modelLists, statuses: [401, 429] },
  ),
  openai('GET /v1/models/{id}', 'One of the models that a chat can name.', {
    answer: z.union([openaiModel, anthropicModel]),
  }),
  anthropic(
    'POST /v1/messages',
    'A chat in the dialect of Anthropic; the model may be `persona:NAME` (https://docs.anthropic.com/en/api/messages).',
    { body: anthropicBody, produces: jsonOrEvents },
  ),
  anthropic('POST /v1/messages/count_tokens', 'Estimates the tokens of such a chat.', {
    body: anthropicBody.omit({ max_tokens: true }),
    answer: countTokens.output,
  }),
  ...['/mcp', '/mcp/{persona}'].map((path) => ({
    route: `POST ${path}`,
    summary: `A message of the Model Context Protocol (https://modelcontextprotocol.io) to the memory of ${path === '/mcp' ? 'the only persona' : 'a persona'}; ?read_only=1 leaves out the tools that change it.`,
    dialect: 'mcp' as const,
    body: z.looseObject({ jsonrpc: z.literal('2.0') }),
    produces: jsonOrEvents,
    statuses: [401, 404, 406, 408, 413, 415, 429],
  })),
  ...ollamaRoutes,
]

/** Documents a route of a dialect, by default with the failures of a model's answer for a POST and of a look-up for others. */
function documented(
  dialect: NonNullable<DocumentedRoute['dialect']>,
  route: string,
  summary: string,
  more: RouteParts = {},
): DocumentedRoute {
  const statuses = route.startsWith('POST ') ? [401, ...answering] : [401, 404, 429]
  return { route, summary, dialect, statuses, ...more }
}

function openai(route: string, summary: string, more: RouteParts = {}): DocumentedRoute {
  return documented('openai', route, summary, more)
}

function anthropic(route: string, summary: string, more: RouteParts = {}): DocumentedRoute {
  return documented('anthropic', route, summary, more)
}

function ollama(route: string, summary: string, more?: RouteParts): DocumentedRoute {
  return documented('ollama', route, summary, more)
}

const text = z.string()

export const dialectErrors = {
  OpenaiError: z.looseObject({
    error: z.looseObject({ message: text, type: text, param: z.any().optional(), code: z.any().optional() }),
  }),
  OllamaError: z.looseObject({ error: text }),
  AnthropicError: z.looseObject({
    type: z.literal('error'),
    error: z.looseObject({ type: text, message: text }),
    request_id: text.optional(),
  }),
  McpError: z.looseObject({
    jsonrpc: z.literal('2.0'),
    id: z.any().optional(),
    error: z.looseObject({ code: z.int(), message: text, data: z.any().optional() }),
  }),
}

const shapes = {
  openai: 'OpenaiError',
  anthropic: 'AnthropicError',
  ollama: 'OllamaError',
  mcp: 'McpError',
} as const

/** The paths of these routes; `failures` describes answers of statuses in a named shape, `schemaOf` a body or an answer. */
export function otherPaths(
  failures: (statuses: readonly number[], schema: string) => Json,
  schemaOf: (schema: z.ZodType, io: 'input' | 'output') => Json,
): Record<string, Json> {
  const paths: Record<string, Json> = {}
  for (const { route, summary, dialect, body, answer, produces = json, statuses } of routes) {
    const [method, path] = route.split(' ') as [string, string]
    const shape = dialect ? shapes[dialect] : path.startsWith('/ollama') ? shapes.ollama : 'Error'
    const content = Object.fromEntries(
      produces.map((type) => [type, answer ? { schema: schemaOf(answer, 'output') } : {}]),
    )
    const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
    }))
    const operation = {
      operationId: operationId(method, path),
      summary,
      tags: [dialect ?? 'service'],
      security: dialect ? [{ bearer: [] }] : [],
      ...(parameters.length > 0 && { parameters }),
      ...(body && {
        requestBody: { required: true, content: { 'application/json': { schema: schemaOf(body, 'input') } } },
      }),
      responses: { 200: { description: 'Done', content }, ...failures([400, 403, 500, 503, ...statuses], shape) },
    }
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation }
  }
  return paths
}

/** `get_v1_models_id`; an address with a slash at its end has an underscore there. */
function operationId(method: string, path: string): string {
  const name = path.replace(/\W+(\w)?/g, (_, letter?: string) => (letter ? `_${letter}` : ''))
  return `${method.toLowerCase()}${name}${path.length > 1 && path.endsWith('/') ? '_' : ''}`
}
