import { statSync } from 'node:fs'
import type { z } from 'zod'
import { permitsOf, permitsPersona } from '../accounts/accounts.ts'
import type { App } from '../app/app.ts'
import { personaPrefix } from '../chat/chat.ts'
import type { Persona } from '../personas/personas.ts'
import { listChatModels } from './chat.ts'
import type { Call } from './operation.ts'

type ChatModel = z.output<typeof listChatModels.output>['models'][number]

export interface ClientModel extends ChatModel {
  /** Milliseconds since 1970 UTC at which the list was taken or a persona made, else this installation. */
  readonly created: number
  readonly persona?: Persona
}

/**
 * All that the caller can name as a model of a chat on the dialect routes: the models of plugins and of this machine, and
 * the personas. A key sees those that it may use.
 */
export async function clientModels(call: Call): Promise<readonly ClientModel[]> {
  const { models } = await listChatModels.run(call, {})
  return [...dated(call.app, models), ...(await personaModels(call))]
}

/** The models that make embeddings; none for a key that may not ask for any. */
export async function clientEmbeddingModels(call: Call): Promise<readonly ClientModel[]> {
  const { app, caller } = call
  if (caller.key && !caller.key.scopes.includes('embeddings')) return []
  const permits = permitsOf(caller.key) ?? (() => true)
  const { embedders } = await app.personas()
  const usable = app.plugins
    .list()
    .filter(({ type, active, state }) => type === 'embedding' && (active || state === 'ready'))
  const listed = usable.flatMap(({ id: plugin, active, model_map }) =>
    model_map.map((model) => ({ id: active ? model : `${plugin}:${model}`, plugin, model })),
  )
  const here = (await embedders.list()).models.map(({ name }) => ({ id: name, plugin: null, model: name }))
  const allowed = [...listed, ...here].filter(permits)
  return dated(
    app,
    allowed.map(({ id, plugin }) => ({ id, plugin })),
  )
}

/** The caller's personas as models: by name, or by id where several have the name. */
async function personaModels({ app, caller }: Call): Promise<readonly ClientModel[]> {
  if (caller.key && !caller.key.personas && !caller.key.scopes.includes('personas')) return []
  const { personas } = await app.personas()
  const own = await personas.list(caller.id)
  const times = new Map<string, number>()
  for (const { name } of own) times.set(name, (times.get(name) ?? 0) + 1)
  return own
    .filter(({ id }) => permitsPersona(caller.key, id))
    .map((persona) => {
      const { id, name, created_at: created } = persona
      const known = times.get(name) === 1 ? name : id
      return { id: `${personaPrefix}${known}`, plugin: null, display_name: name, created, persona }
    })
}

function dated(app: App, models: readonly ChatModel[]): readonly ClientModel[] {
  const installed = installedAt(app)
  const known = new Map(app.plugins.list().map(({ id, models_as_of }) => [id, Date.parse(models_as_of ?? '')]))
  return models.map((model) => ({ ...model, created: known.get(model.plugin ?? '') || installed }))
}

/** When the data folder was made: milliseconds since 1970 UTC. */
function installedAt({ settings }: App): number {
  const found = statSync(settings.paths.data, { throwIfNoEntry: false })
  // Some file systems keep no time of birth.
  return Math.floor(found?.birthtimeMs || found?.mtimeMs || startedAt)
}

const startedAt = Date.now()
