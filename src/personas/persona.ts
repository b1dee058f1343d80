import { z } from 'zod'
import { personaPrefix } from '../chat/chat.ts'
import { AppError } from '../errors.ts'
import { displayName } from '../formats/formats.ts'
import type { ProfileLine } from './profile-line.ts'

/** Absent fields have the default of `memoryDefaults`. */
export const memorySettings = z.object({
  /** Whether chat reads and writes memories; explicit calls always work. */
  enabled: z.exactOptional(z.boolean()),
  max_memories: z.exactOptional(z.int().min(1).max(1_000_000)),
  /** Whether memories are evicted by number and age; without it a full memory refuses new entries and nothing expires. */
  auto_cleanup: z.exactOptional(z.boolean()),
  /** Days after which a memory that is not pinned is removed. */
  retention_days: z.exactOptional(z.int().min(1).max(36_500)),
  /** The least probability, from 0 to 1, that a memory answers a message for which it enters the prompt. */
  min_score: z.exactOptional(z.number().min(0).max(1)),
  /**
   * Whether the persona's model looks for facts in the memories of a chat, one short request for each remembered turn: `auto`
   * keeps those of at least `extract_min_confidence`. Earlier builds could keep them for a user's decision, with `manual`.
   */
  extract: z.exactOptional(z.preprocess((value) => (value === 'manual' ? 'off' : value), z.enum(['off', 'auto']))),
  extract_min_confidence: z.exactOptional(z.number().min(0).max(1)),
  /**
   * Where found memories stand in a chat: `end` puts them before the user's newest words, so that a provider's prompt cache
   * holds all before them; `system` puts them behind the system prompt.
   */
  placement: z.exactOptional(z.enum(['end', 'system'])),
  /** The most tokens of the profile in a chat: what always holds for the user, and the pinned memories. 0 leaves it out. */
  profile_tokens: z.exactOptional(z.int().min(0).max(4000)),
  /** What "forget my birthday" in a chat does: `ask` removes it after a yes, `at_once` with the answer. */
  forget: z.exactOptional(z.enum(['ask', 'at_once'])),
})

/** Absent fields have the default of `mutationDefaults`. */
export const mutationSettings = z.object({
  enabled: z.exactOptional(z.boolean()),
  sensitivity: z.exactOptional(z.enum(['low', 'medium', 'high'])),
  auto_adapt: z.exactOptional(z.boolean()),
})

const memoryDefaults = {
  enabled: false,
  max_memories: 1000,
  auto_cleanup: true,
  retention_days: 90,
  min_score: 0.15,
  extract: 'off',
  extract_min_confidence: 0.8,
  placement: 'end',
  profile_tokens: 400,
  forget: 'ask',
} as const
const mutationDefaults = { enabled: false, sensitivity: 'medium', auto_adapt: false } as const

const name = displayName(200)
const anyModel = displayName(300)
const model = anyModel.refine((name) => !name.startsWith(personaPrefix), 'must be a model, not a persona')
const longText = z.string().max(100_000)

/** Request fields that a persona's parameters must not hold. */
const reserved = ['messages', 'model', 'stream', 'persona', 'session', 'plugin', 'fallback', 'memory', 'tool_turn']

/** Fields sent with every chat of the persona. Known ones are validated, others passed on to the provider. */
const parameters = z
  .looseObject({
    temperature: z.exactOptional(z.number().min(0).max(2)),
    top_p: z.exactOptional(z.number().min(0).max(1)),
    max_tokens: z.exactOptional(z.int().min(1)),
  })
  .refine((fields) => !reserved.some((field) => field in fields), `may not hold ${reserved.join(', ')}`)

/** MCP servers that the persona's chats may use, where the installation allows it; see `aichat mcp`. */
const servers = z.array(z.string().regex(/^[A-Za-z0-9][\w-]{0,31}$/, 'must be the name of a server')).max(20)

export const personaInput = z.object({
  name,
  model,
  description: z.exactOptional(longText),
  system_prompt: z.exactOptional(longText),
  /** The name in the place of `{{char}}` in lore and greetings, where it is another than `name`. */
  nickname: z.exactOptional(name),
  /** Text for the model behind the conversation, at the end of the newest message of the user. */
  post_history_instructions: z.exactOptional(longText),
  parameters: parameters.default({}),
  embedding_model: z.exactOptional(anyModel),
  memory_settings: z.exactOptional(memorySettings),
  mutation_settings: z.exactOptional(mutationSettings),
  mcp_servers: z.exactOptional(servers),
})

/** A change: absent fields stay, `null` removes an optional one, settings are merged field by field. */
export const personaChange = z.object({
  name: z.exactOptional(name),
  model: z.exactOptional(model),
  description: z.exactOptional(longText.nullable()),
  system_prompt: z.exactOptional(longText.nullable()),
  nickname: z.exactOptional(name.nullable()),
  post_history_instructions: z.exactOptional(longText.nullable()),
  parameters: z.exactOptional(parameters),
  embedding_model: z.exactOptional(anyModel.nullable()),
  memory_settings: z.exactOptional(memorySettings.nullable()),
  mutation_settings: z.exactOptional(mutationSettings.nullable()),
  mcp_servers: z.exactOptional(servers.nullable()),
})

export type MemorySettings = z.output<typeof memorySettings>
export type MutationSettings = z.output<typeof mutationSettings>
export type PersonaInput = z.output<typeof personaInput>
export type PersonaChange = z.output<typeof personaChange>

/**
 * A persona as it is stored. Settings hold only explicit values: `mutation_settings.enabled: false` refuses adaptation, an
 * absent one does not.
 */
export interface Persona extends Readonly<Omit<PersonaInput, 'parameters' | 'mcp_servers'>> {
  readonly id: string
  readonly user_id: string
  readonly parameters: Readonly<Record<string, unknown>>
  /** Servers of this installation, which no package takes along. */
  readonly mcp_servers?: readonly string[]
  /** Unknown fields of an imported persona, exported again unchanged. */
  readonly extra?: Readonly<Record<string, unknown>>
  /** Milliseconds since 1970 UTC. */
  readonly created_at: number
  readonly updated_at: number
}

/** A persona in answers: all settings with their defaults filled in. */
export const personaView = z.object({
  id: z.string(),
  user_id: z.string(),
  name: z.string(),
  model: z.string(),
  description: z.exactOptional(z.string()),
  system_prompt: z.exactOptional(z.string()),
  nickname: z.exactOptional(z.string()),
  post_history_instructions: z.exactOptional(z.string()),
  parameters: z.record(z.string(), z.unknown()),
  embedding_model: z.exactOptional(z.string()),
  memory_settings: z.object({
    enabled: z.boolean(),
    max_memories: z.int(),
    auto_cleanup: z.boolean(),
    retention_days: z.int(),
    min_score: z.number(),
    extract: z.enum(['off', 'auto']),
    extract_min_confidence: z.number(),
    placement: z.enum(['end', 'system']),
    profile_tokens: z.int(),
    forget: z.enum(['ask', 'at_once']),
  }),
  mutation_settings: z.object({
    enabled: z.boolean(),
    sensitivity: z.enum(['low', 'medium', 'high']),
    auto_adapt: z.boolean(),
  }),
  mcp_servers: z.exactOptional(z.array(z.string())),
  created_at: z.int(),
  updated_at: z.int(),
})
export type PersonaView = z.output<typeof personaView>

/** A persona's memory settings, defaults filled in. */
export function memorySettingsOf(persona: Pick<Persona, 'memory_settings'>): Required<MemorySettings> {
  const settings = { ...memoryDefaults, ...persona.memory_settings }
  // Earlier builds stored a third way.
  return { ...settings, extract: settings.extract === 'auto' ? 'auto' : 'off' }
}

/** A persona's mutation settings, defaults filled in. */
export function mutationSettingsOf(persona: Pick<Persona, 'mutation_settings'>): Required<MutationSettings> {
  return { ...mutationDefaults, ...persona.mutation_settings }
}

/** The scope of a persona's memories, log and backups. */
export function scopeOf(persona: Pick<Persona, 'id' | 'user_id'>): {
  readonly personaId: string
  readonly userId: string
} {
  return { personaId: persona.id, userId: persona.user_id }
}

/** A stored persona as answers show it. */
export function viewOf(persona: Persona): PersonaView {
  const { extra: _extra, mcp_servers: names, ...fields } = persona
  return {
    ...fields,
    ...(names && { mcp_servers: [...names] }),
    parameters: { ...persona.parameters },
    memory_settings: memorySettingsOf(persona),
    mutation_settings: mutationSettingsOf(persona),
  }
}

/** A persona as a chat opens it, with marks by which what else it needs is read anew only after a change. */
export interface OpenedPersona {
  readonly persona: Persona
  /** Counts the changes of its lore; 0 without one. */
  readonly lore: number
  /** The hash at the end of its log of adaptation; '' where it has learned nothing. */
  readonly learned: string
  readonly profile: readonly ProfileLine[]
  /** Another text after each change of its memories; '' where none is pinned. */
  readonly pinned: string
}

/** Stores personas. `owner` is a user's id or `local`. Every write is one durable transaction. */
export interface PersonaStore {
  /** Writes a new persona or all fields of an existing one with the same id and owner. */
  save(persona: Persona): Promise<void>
  /** Changes the owner's persona in one transaction; undefined when it was removed. */
  update(id: string, owner: string, change: (persona: Persona) => Persona): Promise<Persona | undefined>
  /** The persona of any owner: the caller compares `user_id`. */
  find(id: string): Promise<Persona | undefined>
  /** The persona of an id, of any owner, and those of the owner with exactly this name, by one statement. */
  open(owner: string, idOrName: string): Promise<readonly OpenedPersona[]>
  /** The same for a chat: changes by other processes of a shared database show after a second at most. */
  reopen(owner: string, idOrName: string): Promise<readonly OpenedPersona[]>
  /** All personas of one owner, oldest first. */
  list(owner: string): Promise<readonly Persona[]>
  /** Removes the persona with its memories, vectors, state and log, overwritten on disk; false when it was absent. */
  remove(id: string, owner: string): Promise<boolean>
}

/** Personas. An unknown one is `not_found`, another user's `forbidden`. */
export interface Personas {
  create(owner: string, input: PersonaInput): Promise<Persona>
  /** By id, or by name where exactly one persona of the owner has it. */
  get(owner: string, idOrName: string): Promise<Persona>
  /** The same for a chat: changes by other processes of a shared database show after a second at most. */
  open(owner: string, idOrName: string): Promise<OpenedPersona>
  list(owner: string): Promise<readonly Persona[]>
  /** Changes a persona that `get` has found, in one transaction on its newest state. */
  update(owner: string, located: Persona, change: PersonaChange): Promise<Persona>
  remove(persona: Persona): Promise<void>
}

/** The rule of access: another user's persona is `forbidden`, to administrators too. */
export function requireOwn(persona: Persona | undefined, owner: string, idOrName: string): Persona {
  if (!persona)
    throw new AppError('not_found', `Persona "${idOrName}" not found`, {
      details: ['`aichat persona list` shows yours'],
    })
  if (persona.user_id !== owner) throw new AppError('forbidden', `The persona "${idOrName}" belongs to another user`)
  return persona
}
