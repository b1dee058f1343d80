import { z } from 'zod'
import { mostMessages } from '../operations/operations.ts'
import { type DocumentedRoute, documented, type RouteParts } from './openapi-route.ts'

/** Ollama's routes for the OpenAPI document; the other fields are documented at https://docs.ollama.com/api */

const jsonOrLines = ['application/json', 'application/x-ndjson']
const text = ['text/plain']

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

export const ollamaDocumented: readonly DocumentedRoute[] = [
  ...['/ollama', '/ollama/'].map((path) => ({
    route: `GET ${path}`,
    summary: 'Says that Ollama’s API is served here.',
    produces: text,
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

function ollama(route: string, summary: string, more?: RouteParts): DocumentedRoute {
  return documented('ollama', route, summary, more)
}
