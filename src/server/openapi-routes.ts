/**
 * The routes that are no operations, for the OpenAPI document: what tells of the service itself, and the dialects of other
 * people's clients, whose own documentation says every field.
 */

type Json = Record<string, unknown>

/** A route as the document has it; `statuses` are those of its failures. */
interface Described {
  readonly route: string
  readonly summary: string
  readonly dialect?: 'openai' | 'anthropic'
  /** The required fields of its JSON body. */
  readonly body?: readonly string[]
  readonly produces?: readonly string[]
  readonly statuses: readonly number[]
}

/** What an answer of a model can end with, beside what every route can. */
const answering = [404, 408, 413, 415, 422, 429, 502, 504]
const json = ['application/json']
const jsonOrEvents = ['application/json', 'text/event-stream']

const described: readonly Described[] = [
  { route: 'GET /', summary: 'Names the service, and says whether it needs to be set up.', statuses: [] },
  { route: 'GET /health', summary: 'Tells that the service lives.', statuses: [] },
  { route: 'GET /ready', summary: 'Tells whether it takes requests: 503 while it starts or drains.', statuses: [] },
  {
    route: 'GET /metrics',
    summary: 'Figures for Prometheus: for this machine and administrators.',
    produces: ['text/plain'],
    statuses: [401, 429],
  },
  { route: 'GET /openapi.json', summary: 'This document.', statuses: [] },
  {
    route: 'POST /v1/chat/completions',
    summary: 'A chat in the dialect of OpenAI (https://platform.openai.com/docs/api-reference/chat).',
    dialect: 'openai',
    body: ['messages'],
    produces: jsonOrEvents,
    statuses: [401, ...answering],
  },
  {
    route: 'POST /v1/audio/speech',
    summary: 'Speech in the dialect of OpenAI; the answer is a WAV file.',
    dialect: 'openai',
    body: ['input'],
    produces: ['audio/wav'],
    statuses: [401, ...answering],
  },
  {
    route: 'POST /v1/embeddings',
    summary: 'Embeddings in the dialect of OpenAI.',
    dialect: 'openai',
    body: ['input'],
    statuses: [401, ...answering],
  },
  {
    route: 'GET /v1/models',
    summary: 'The models that can be asked, in the dialect of OpenAI.',
    dialect: 'openai',
    statuses: [401, 429],
  },
  {
    route: 'GET /v1/models/{id}',
    summary: 'One of the models that can be asked.',
    dialect: 'openai',
    statuses: [401, 404, 429],
  },
  {
    route: 'POST /v1/messages',
    summary: 'A chat in the dialect of Anthropic (https://docs.anthropic.com/en/api/messages).',
    dialect: 'anthropic',
    body: ['messages', 'max_tokens'],
    produces: jsonOrEvents,
    statuses: [401, ...answering],
  },
  {
    route: 'POST /v1/messages/count_tokens',
    summary: 'Estimates the tokens of such a chat.',
    dialect: 'anthropic',
    body: ['messages'],
    statuses: [401, ...answering],
  },
]

const message = { type: 'string' }

/** The error bodies of the dialects. */
export const dialectErrors: Json = {
  OpenaiError: {
    type: 'object',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['message', 'type'],
        properties: { message, type: { type: 'string' }, param: {}, code: {} },
      },
    },
  },
  AnthropicError: {
    type: 'object',
    required: ['type', 'error'],
    properties: {
      type: { const: 'error' },
      error: { type: 'object', required: ['type', 'message'], properties: { type: { type: 'string' }, message } },
      request_id: { type: 'string' },
    },
  },
}

/** The paths of these routes; `failures` describes the answers of statuses in a shape of the document. */
export function otherPaths(failures: (statuses: readonly number[], schema: string) => Json): Record<string, Json> {
  const paths: Record<string, Json> = {}
  for (const { route, summary, dialect, body, produces = json, statuses } of described) {
    const [method, path] = route.split(' ') as [string, string]
    const shape = dialect === 'openai' ? 'OpenaiError' : dialect === 'anthropic' ? 'AnthropicError' : 'Error'
    const content = Object.fromEntries(produces.map((type) => [type, {}]))
    const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string' },
    }))
    const operation = {
      operationId: `${method.toLowerCase()}${path.replace(/\W+(\w)?/g, (_, letter?: string) => (letter ? `_${letter}` : ''))}`,
      summary,
      tags: [dialect ?? 'service'],
      security: dialect ? [{ bearer: [] }] : [],
      ...(parameters.length > 0 && { parameters }),
      ...(body && {
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { type: 'object', required: body, properties: {} } } },
        },
      }),
      responses: { 200: { description: 'Done', content }, ...failures([400, 403, 500, 503, ...statuses], shape) },
    }
    paths[path] = { ...paths[path], [method.toLowerCase()]: operation }
  }
  return paths
}
