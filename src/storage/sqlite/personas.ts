import type { Persona, PersonaStore } from '../../personas/persona.ts'
import type { Database } from './connection.ts'
import type { OwnedRows } from './owned-rows.ts'
import type { Quota } from './quota.ts'
import { hidePersona, removeHidden } from './removal.ts'

interface Row {
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

/** The column of unknown fields, which also holds the names of servers. */
interface Extra extends Readonly<Record<string, unknown>> {
  readonly mcp_servers?: readonly string[]
}

/** Personas in SQLite. */
export function createPersonaStore(db: Database, quota?: Quota): PersonaStore {
  const rows = personaRows(db)
  return {
    save: async (persona) =>
      db
        .transaction(() => {
          rows.save(persona)
          quota?.check(persona.user_id)
        })
        .immediate(),
    update: async (id, owner, change) =>
      db
        .transaction(() => {
          const before = rows.find(id)
          if (before?.user_id !== owner) return undefined
          const after = change(before)
          const grows = JSON.stringify(after).length > JSON.stringify(before).length
          rows.save(after)
          if (grows) quota?.check(owner)
          return after
        })
        .immediate(),
    async find(id) {
      return rows.find(id)
    },
    async list(owner) {
      return db
        .prepare<[string], Row>('SELECT * FROM persona WHERE user_id = ? ORDER BY created_at, id')
        .all(owner)
        .map(personaOf)
    },
    async remove(id, owner) {
      const removed = db.transaction(() => rows.remove(id, owner)).immediate()
      if (removed) await removeHidden(db)
      return removed
    },
  }
}

/** Personas and their memories when users come and go. */
export const personaOwnership: OwnedRows = {
  reassign(db, from, to) {
    db.prepare('UPDATE persona SET user_id = ? WHERE user_id = ?').run(to, from)
    db.prepare('UPDATE memory_scope SET user_id = ? WHERE user_id = ?').run(to, from)
  },
  remove(db, owner) {
    const rows = personaRows(db)
    const ids = db.prepare<[string], string>('SELECT id FROM persona WHERE user_id = ?').pluck()
    for (const id of ids.all(owner)) rows.remove(id, owner)
  },
}

/** The same by plain calls, for transactions that span several stores. */
export function personaRows(db: Database) {
  return {
    save(persona: Persona): void {
      db.prepare(
        `INSERT INTO persona (id, user_id, name, model, description, system_prompt, parameters, embedding_model,
           memory_settings, mutation_settings, extra, created_at, updated_at)
         VALUES (@id, @user_id, @name, @model, @description, @system_prompt, @parameters, @embedding_model,
           @memory_settings, @mutation_settings, @extra, @created_at, @updated_at)
         ON CONFLICT (id) DO UPDATE SET name = excluded.name, model = excluded.model,
           description = excluded.description, system_prompt = excluded.system_prompt, parameters = excluded.parameters,
           embedding_model = excluded.embedding_model, memory_settings = excluded.memory_settings,
           mutation_settings = excluded.mutation_settings, extra = excluded.extra, updated_at = excluded.updated_at
         WHERE user_id = excluded.user_id`,
      ).run(rowOf(persona))
    },
    find(id: string): Persona | undefined {
      const row = db.prepare<[string], Row>(`SELECT * FROM persona WHERE id = ? AND user_id NOT LIKE '~%'`).get(id)
      return row && personaOf(row)
    },
    /** Hides it from every user at once; `removeHidden` then removes its rows. */
    remove: (id: string, owner: string) => hidePersona(db, id, owner),
  }
}

function rowOf(persona: Persona): Row {
  const json = (value: unknown) => (value === undefined ? null : JSON.stringify(value))
  const { mcp_servers, ...columns } = persona
  return {
    ...columns,
    description: persona.description ?? null,
    system_prompt: persona.system_prompt ?? null,
    parameters: JSON.stringify(persona.parameters),
    embedding_model: persona.embedding_model ?? null,
    memory_settings: json(persona.memory_settings),
    mutation_settings: json(persona.mutation_settings),
    // No package brings this name, see knownPersonaFields in import-persona.ts.
    extra: json(mcp_servers ? { ...persona.extra, mcp_servers } : persona.extra),
  }
}

function personaOf(row: Row): Persona {
  const { mcp_servers, ...extra } = (row.extra === null ? {} : JSON.parse(row.extra)) as Extra
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
    ...(mcp_servers && { mcp_servers }),
    ...(row.extra !== null && { extra }),
    created_at: row.created_at,
    updated_at: row.updated_at,
  }
}
