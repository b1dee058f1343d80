import { personaPrefix } from '../chat/chat.ts'
import { AppError } from '../errors.ts'
import { type Call, type ClientModel, clientModels } from '../operations/operations.ts'
import { clientDialect } from './dialect-errors.ts'
import { type RequestContext, sendJson } from './request-context.ts'

/** GET /v1/models and GET /v1/models/ID, in the shape of the client's dialect: OpenAI's list, or Anthropic's pages. */
export async function answerModels(call: Call, context: RequestContext): Promise<void> {
  const models = await clientModels(call)
  const isAnthropic = clientDialect(context) === 'anthropic-messages'
  const { id } = context.params
  if (id === undefined) {
    const list = isAnthropic ? pageOf(models, context.query) : { object: 'list', data: models.map(openaiModel) }
    return sendJson(context, 200, list)
  }
  const listed = models.find((model) => model.id === id) ?? models.find((model) => isNamed(model, id))
  // The name that was asked for, which clients compare.
  const found = listed && { ...listed, id }
  if (!found) throw new AppError('not_found', 'Model not found', { details: ['GET /v1/models lists them'] })
  sendJson(context, 200, isAnthropic ? anthropicModel(found) : openaiModel(found))
}

/** Whether a chat takes the name for that model: the active plugin's may be named with it, personas by their id. */
function isNamed({ id, plugin, persona }: ClientModel, name: string): boolean {
  return (
    (plugin !== null && name === `${plugin}:${id}`) || (persona !== undefined && name === personaPrefix + persona.id)
  )
}

/** OpenAI's four fields, and in addition the known facts. */
function openaiModel({ id, plugin, persona, created, ...facts }: ClientModel) {
  return {
    ...facts,
    id,
    owned_by: persona ? 'persona' : (plugin ?? 'local'),
    object: 'model',
    created: Math.floor(created / 1000),
  }
}

/** https://docs.anthropic.com/en/api/models */
function anthropicModel(model: ClientModel) {
  const { id, display_name, context_window, max_output, created } = model
  return {
    type: 'model',
    id,
    display_name: display_name ?? id,
    created_at: new Date(created).toISOString(),
    max_input_tokens: context_window ?? null,
    max_tokens: max_output ?? null,
    capabilities: capabilitiesOf(model),
  }
}

/** The known facts by Anthropic's names; null where none is known. */
function capabilitiesOf({ images, pdf, structured_output, thinking }: ClientModel) {
  const known = Object.entries({ image_input: images, pdf_input: pdf, structured_outputs: structured_output, thinking })
  const stated = known.filter(([, supported]) => supported !== undefined)
  return stated.length === 0 ? null : Object.fromEntries(stated.map(([name, supported]) => [name, { supported }]))
}

/** The sizes of Anthropic's pages: https://docs.anthropic.com/en/api/models-list */
const defaultLimit = 20
const longestPage = 1000

/** A page of the models after or before a given one. */
function pageOf(models: readonly ClientModel[], query: URLSearchParams) {
  const limit = limitIn(query)
  const after = indexOf(models, query, 'after_id')
  const before = indexOf(models, query, 'before_id')
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
  const text = query.get('limit')
  const limit = text === null ? defaultLimit : Number(text)
  if (Number.isInteger(limit) && limit >= 1 && limit <= longestPage) return limit
  throw new AppError('invalid', 'Invalid request', { details: [`limit: must be a number from 1 to ${longestPage}`] })
}

function indexOf(models: readonly ClientModel[], query: URLSearchParams, name: string): number | undefined {
  const id = query.get(name)
  if (id === null) return undefined
  const index = models.findIndex((model) => model.id === id)
  if (index === -1) throw new AppError('invalid', 'Invalid request', { details: [`${name}: model not found`] })
  return index
}
