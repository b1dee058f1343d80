import type { App } from '../app/app.ts'
import { AppError } from '../errors.ts'
import { askedIn } from './dialect-errors.ts'
import { type RequestContext, sendJson } from './request-context.ts'

interface OfferedModel {
  readonly id: string
  readonly owned_by: string
  /** What is known of it, such as its context window. */
  readonly facts: Readonly<Record<string, unknown>>
}

/** GET /v1/models, in the shape of the client that asks: OpenAI's whole, Anthropic's in pages. */
export async function listModels(app: App, context: RequestContext): Promise<void> {
  const models = await offered(app)
  if (askedIn(context) === 'anthropic-messages') return sendJson(context, 200, pageOf(models, context.query))
  sendJson(context, 200, { object: 'list', data: models.map(openaiModel) })
}

/** GET /v1/models/ID, in the same two shapes; an id may hold slashes. */
export async function showModel(app: App, context: RequestContext): Promise<void> {
  const found = (await offered(app)).find((model) => model.id === context.params['id'])
  if (!found) throw new AppError('not_found', 'There is no such model', { details: ['GET /v1/models lists them'] })
  sendJson(context, 200, askedIn(context) === 'anthropic-messages' ? anthropicModel(found) : openaiModel(found))
}

/** The active plugin's models by name, those of other usable plugins as `plugin:model`, and the local runner's. */
async function offered(app: App): Promise<readonly OfferedModel[]> {
  const chatPlugins = app.plugins
    .list()
    .filter(
      (plugin) =>
        (plugin.type === 'chat' || plugin.type === 'completion') && (plugin.active || plugin.state === 'ready'),
    )
  const named = chatPlugins.flatMap((plugin) =>
    plugin.model_map.map((id) => ({
      id: plugin.active ? id : `${plugin.id}:${id}`,
      owned_by: plugin.id,
      facts: plugin.models?.[id] ?? {},
    })),
  )
  const { ollama, embedded } = await app.chat()
  const running = ((await ollama.models()) ?? []).filter((model) => !model.embedding).map((model) => model.name)
  const local = [...running, ...embedded.models()].map((id) => ({ id, owned_by: 'local', facts: {} }))
  return [...named, ...local]
}

function openaiModel({ id, owned_by }: OfferedModel) {
  return { id, owned_by, object: 'model', created: 0 }
}

/** https://docs.anthropic.com/en/api/models: 1970 stands there for a date that is not known. */
function anthropicModel({ id, facts }: OfferedModel) {
  return {
    type: 'model',
    id,
    display_name: typeof facts['display_name'] === 'string' ? facts['display_name'] : id,
    created_at: new Date(0).toISOString(),
    max_input_tokens: countIn(facts, 'context_window'),
    max_tokens: countIn(facts, 'max_output'),
    capabilities: null,
  }
}

function countIn(facts: OfferedModel['facts'], name: string): number | null {
  const count = facts[name]
  return typeof count === 'number' && count > 0 ? count : null
}

/** The sizes of Anthropic's pages: https://docs.anthropic.com/en/api/models-list */
const defaultLimit = 20
const longestPage = 1000

/** The models after one, or before one, in their order; the whole is made anew for each page. */
function pageOf(models: readonly OfferedModel[], query: URLSearchParams) {
  const limit = limitIn(query)
  const after = placeOf(models, query, 'after_id')
  const before = placeOf(models, query, 'before_id')
  const start = before === undefined ? (after ?? -1) + 1 : Math.max(0, before - limit)
  const page = models.slice(start, before === undefined ? start + limit : before)
  const data = page.map(anthropicModel)
  return {
    data,
    has_more: before === undefined ? start + limit < models.length : start > 0,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  }
}

function limitIn(query: URLSearchParams): number {
  const asked = query.get('limit')
  const limit = asked === null ? defaultLimit : Number(asked)
  if (Number.isInteger(limit) && limit >= 1 && limit <= longestPage) return limit
  throw new AppError('invalid', 'Invalid request', { details: [`limit: must be a number from 1 to ${longestPage}`] })
}

function placeOf(models: readonly OfferedModel[], query: URLSearchParams, name: string): number | undefined {
  const id = query.get(name)
  if (id === null) return undefined
  const place = models.findIndex((model) => model.id === id)
  if (place === -1) throw new AppError('invalid', 'Invalid request', { details: [`${name}: there is no such model`] })
  return place
}
