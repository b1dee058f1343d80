import { z } from 'zod'
import { permitsOf } from '../accounts/accounts.ts'
import { type Persona, personaChange, personaInput, personaView, viewOf } from '../personas/personas.ts'
import { type Call, defineOperation } from './operation.ts'

/** An id, or a name that is unique among the caller's personas. */
const personaId = z.object({ id: z.string() })

/** The caller's persona of that id or name; throws `not_found`, or `forbidden` for another user's. */
export async function ownPersona({ app, caller }: Call, idOrName: string): Promise<Persona> {
  return (await app.personas()).personas.get(caller.id, idOrName)
}

/** The caller's persona that the path names. */
export function locatePersona(call: Call, { id = '' }: Readonly<Record<string, string>>): Promise<Persona> {
  return ownPersona(call, id)
}

const ofPersonas = { access: 'user', scope: 'personas' } as const
/** The rules of operations on the persona that the path names. */
export const onePersona = { ...ofPersonas, locate: locatePersona } as const

export const listPersonas = defineOperation({
  name: 'personas.list',
  route: 'GET /api/personas',
  ...ofPersonas,
  summary: "Lists the caller's personas, oldest first.",
  input: z.object({}),
  output: z.object({ personas: z.array(personaView) }),
  run: async ({ app, caller }) => {
    const { personas } = await app.personas()
    const listed = caller.key?.personas
    const own = await personas.list(caller.id)
    return { personas: own.filter(({ id }) => listed?.includes(id) !== false).map(viewOf) }
  },
})

export const createPersona = defineOperation({
  name: 'personas.create',
  route: 'POST /api/personas',
  ...ofPersonas,
  status: 201,
  summary: 'Creates a persona.',
  input: personaInput,
  output: personaView,
  run: async ({ app, caller }, input) => viewOf(await (await app.personas()).personas.create(caller.id, input)),
})

export const showPersona = defineOperation({
  name: 'personas.show',
  route: 'GET /api/personas/:id',
  ...ofPersonas,
  summary: 'Shows a persona.',
  input: personaId,
  output: personaView,
  run: async (call, { id }) => viewOf(await ownPersona(call, id)),
})

export const updatePersona = defineOperation({
  name: 'personas.update',
  route: 'PUT /api/personas/:id',
  ...onePersona,
  summary: 'Changes a persona: absent fields stay, null removes an optional one, settings are merged.',
  input: personaChange.extend(personaId.shape),
  output: personaView,
  run: async ({ app, caller }, { id: _id, ...change }, persona) =>
    viewOf(await (await app.personas()).personas.update(caller.id, persona, change)),
})

export const removePersona = defineOperation({
  name: 'personas.remove',
  route: 'DELETE /api/personas/:id',
  ...onePersona,
  audited: true,
  summary: 'Removes a persona with its memories, its state and its backups.',
  input: personaId,
  output: z.object({ id: z.string(), removed: z.literal(true) }),
  run: async ({ app }, _input, persona) => {
    const { personas } = await app.personas()
    const { backups } = await app.packages()
    await backups.removeWithBackups([persona], () => personas.remove(persona))
    return { id: persona.id, removed: true as const }
  },
})

export const listEmbeddingModels = defineOperation({
  name: 'embeddings.models',
  route: 'GET /api/embeddings/models',
  access: 'user',
  scope: 'models',
  summary: 'Lists the embedding models of this machine, and how to get one where there is only the built-in one.',
  input: z.object({}),
  output: z.object({
    models: z.array(
      z.object({
        name: z.string(),
        provider: z.enum(['builtin', 'pulled', 'ollama']),
        dimension: z.exactOptional(z.int()),
        note: z.exactOptional(z.string()),
      }),
    ),
    instructions: z.exactOptional(z.array(z.string())),
  }),
  run: async ({ app, caller }) => {
    const { models, ...rest } = await (await app.personas()).embedders.list()
    const permits = permitsOf(caller.key)
    return { ...rest, models: permits ? models.filter(({ name }) => permits({ plugin: null, model: name })) : models }
  },
})

export const personaOperations = [
  listPersonas,
  createPersona,
  showPersona,
  updatePersona,
  removePersona,
  listEmbeddingModels,
]
