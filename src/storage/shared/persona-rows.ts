import { withoutFields } from '../../personas/fields.ts'
import type { Persona } from '../../personas/persona.ts'

/** A persona as its table keeps it; settings and fields that no column has as JSON. */
export interface PersonaRow {
  id: string
  user_id: string
  name: string
  model: string
  description: string | null
  system_prompt: string | null
  parameters: string
  embedding_model: string | null
  memory_settings: string | null
  mutation_settings: string | null
  extra: string | null
  created_at: number
  updated_at: number
}

/** The column of unknown fields, which also holds the fields that came after the columns. */
type Extra = Readonly<Record<string, unknown>> & Pick<Persona, (typeof later)[number]>

/** No package brings these names as unknown fields, see knownPersonaFields in import-persona.ts. */
const later = ['mcp_servers', 'nickname', 'post_history_instructions'] as const

/** The row of a persona. */
export function rowOfPersona(persona: Persona): PersonaRow {
  const json = (value: unknown) => (value === undefined ? null : JSON.stringify(value))
  const { mcp_servers, nickname, post_history_instructions, ...columns } = persona
  const extra = JSON.stringify({ ...persona.extra, mcp_servers, nickname, post_history_instructions })
  return {
    ...columns,
    description: persona.description ?? null,
    system_prompt: persona.system_prompt ?? null,
    parameters: JSON.stringify(persona.parameters),
    embedding_model: persona.embedding_model ?? null,
    memory_settings: json(persona.memory_settings),
    mutation_settings: json(persona.mutation_settings),
    extra: extra === '{}' && !persona.extra ? null : extra,
  }
}

/** The persona of a row. */
export function personaOf(row: PersonaRow): Persona {
  const all = (row.extra === null ? {} : JSON.parse(row.extra)) as Extra
  return {
    id: row.id,
    user_id: row.user_id,
    name: row.name,
    model: row.model,
    ...(row.description !== null && { description: row.description }),
    ...(row.system_prompt !== null && { system_prompt: row.system_prompt }),
    parameters: JSON.parse(row.parameters),
    ...(row.embedding_model !== null && { embedding_model: row.embedding_model }),
    ...(row.memory_settings !== null && { memory_settings: JSON.parse(row.memory_settings) }),
    ...(row.mutation_settings !== null && { mutation_settings: JSON.parse(row.mutation_settings) }),
    ...Object.fromEntries(later.flatMap((name) => (all[name] === undefined ? [] : [[name, all[name]]]))),
    ...(row.extra !== null && { extra: withoutFields(all, new Set(later)) }),
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}
