import { randomUUID } from 'node:crypto'
import { AppError } from '../errors.ts'
import {
  type OpenedPersona,
  type Persona,
  type PersonaChange,
  type PersonaStore,
  type Personas,
  requireOwn,
} from './persona.ts'

export interface PersonasParts {
  readonly store: PersonaStore
  /** Rejects with `invalid`, and the command that installs it, for an embedding model that is not installed. */
  readonly embedders: { require(model: string): Promise<void> }
  /** Called after a persona's embedding model changed: its memories are to be embedded anew. */
  readonly onEmbeddingModel: (persona: Persona) => void
  /** Awaited after a persona's memory settings changed: they may allow fewer memories. */
  readonly onMemorySettings: (persona: Persona) => Promise<void>
  /** Awaited after every update, with the persona as the update's transaction found and left it. */
  readonly onUpdate: (before: Persona, after: Persona) => Promise<void>
  readonly clock: () => number
}

/** Personas in a store; reads a persona twice per update: to find it, and in the transaction. */
export function createPersonas({
  store,
  embedders,
  onEmbeddingModel,
  onMemorySettings,
  onUpdate,
  clock,
}: PersonasParts): Personas {
  return {
    async create(owner, input) {
      if (input.embedding_model !== undefined) await embedders.require(input.embedding_model)
      const now = clock()
      const persona: Persona = { ...input, id: randomUUID(), user_id: owner, created_at: now, updated_at: now }
      await store.save(persona)
      return persona
    },
    get,
    open: (owner, idOrName) => chosen(owner, idOrName, store.reopen(owner, idOrName)),
    list: (owner) => store.list(owner),
    async update(owner, located, change) {
      const model = change.embedding_model
      if (model !== undefined && model !== null && model !== located.embedding_model) await embedders.require(model)
      const now = clock()
      let before = located
      const updated = await store.update(located.id, owner, (persona) => {
        before = persona
        return changed(persona, change, now)
      })
      const after = requireOwn(updated, owner, located.id)
      if (after.embedding_model !== before.embedding_model) onEmbeddingModel(after)
      if (change.memory_settings !== undefined) await onMemorySettings(after)
      await onUpdate(before, after)
      return after
    },
    async remove({ id, user_id: owner }) {
      await store.remove(id, owner)
    },
  }

  async function get(owner: string, idOrName: string): Promise<Persona> {
    return (await chosen(owner, idOrName, store.open(owner, idOrName))).persona
  }

  /** The one of those found that is meant. */
  async function chosen(
    owner: string,
    idOrName: string,
    opening: Promise<readonly OpenedPersona[]>,
  ): Promise<OpenedPersona> {
    const found = await opening
    const byId = found.find(({ persona }) => persona.id === idOrName)
    const named = byId ? [byId] : found.length > 0 ? found : await openLookalike(owner, idOrName)
    if (named.length > 1) {
      throw new AppError('invalid', `${named.length} of your personas are named "${idOrName}"`, {
        details: [
          ...named.map(({ persona: { id, model } }) => `use the id ${id} (${model})`),
          'or remove one: aichat persona remove ID',
        ],
      })
    }
    requireOwn(named[0]?.persona, owner, idOrName)
    return named[0]!
  }

  /** Names that came from files of a Mac write é as two characters, and keyboards as one: they look the same. */
  async function openLookalike(owner: string, name: string): Promise<readonly OpenedPersona[]> {
    const written = name.normalize()
    const all = await store.list(owner)
    const alike = all.filter((each) => each.name.normalize() === written)
    return (await Promise.all(alike.map(({ id }) => store.open(owner, id)))).flat()
  }
}

/** Absent fields stay, `null` removes, settings are merged field by field. */
function changed(persona: Persona, change: PersonaChange, now: number): Persona {
  const { memory_settings: memory, mutation_settings: mutation, ...fields } = change
  const merged: Record<string, unknown> = { ...persona, ...fields, updated_at: now }
  if (memory !== undefined) merged['memory_settings'] = memory && { ...persona.memory_settings, ...memory }
  if (mutation !== undefined) merged['mutation_settings'] = mutation && { ...persona.mutation_settings, ...mutation }
  for (const [field, value] of Object.entries(merged)) if (value === null) delete merged[field]
  return merged as unknown as Persona
}
