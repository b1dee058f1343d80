import type { z } from 'zod'
import { permitsPersona } from '../accounts/keys/rights.ts'
import { personaPrefix } from '../chat/model-address.ts'
import type { Persona } from '../personas/persona.ts'
import { listChatModels } from './chat.ts'
import type { Call } from './operation.ts'

type ChatModel = z.output<typeof listChatModels.output>['models'][number]

/** A model as clients of the dialect routes see it. */
export interface ClientModel extends ChatModel {
  /** The persona that it is. */
  readonly persona?: Persona
}

/**
 * All that the caller can name as a model on the dialect routes: the models of chats, and the personas. A key sees those
 * that it may use.
 */
export async function clientModels(call: Call): Promise<readonly ClientModel[]> {
  const { models } = await listChatModels.run(call, {})
  return [...models, ...(await personaModels(call))]
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
      const { id, name } = persona
      return {
        id: `${personaPrefix}${times.get(name) === 1 ? name : id}`,
        plugin: null,
        display_name: name,
        persona,
      }
    })
}
