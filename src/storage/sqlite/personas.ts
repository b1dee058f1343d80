import type { Persona, PersonaStore } from '../../personas/persona.ts'
import { type PersonaRow, personaOf, rowOfPersona } from '../shared/persona-rows.ts'
import type { Database } from './connection.ts'
import type { OwnedRows } from './owned-rows.ts'
import { preparedOnce } from './prepared.ts'
import type { Quota } from './quota.ts'
import { hidePersona, removeHidden } from './removal.ts'

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
      return preparedOnce(db)<[string], PersonaRow>('SELECT * FROM persona WHERE user_id = ? ORDER BY created_at, id')
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
  const prepare = preparedOnce(db)
  return {
    save(persona: Persona): void {
      prepare(
        `INSERT INTO persona (id, user_id, name, model, description, system_prompt, parameters, embedding_model,
           memory_settings, mutation_settings, extra, created_at, updated_at)
         VALUES (@id, @user_id, @name, @model, @description, @system_prompt, @parameters, @embedding_model,
           @memory_settings, @mutation_settings, @extra, @created_at, @updated_at)
         ON CONFLICT (id) DO UPDATE SET name = excluded.name, model = excluded.model,
           description = excluded.description, system_prompt = excluded.system_prompt, parameters = excluded.parameters,
           embedding_model = excluded.embedding_model, memory_settings = excluded.memory_settings,
           mutation_settings = excluded.mutation_settings, extra = excluded.extra, updated_at = excluded.updated_at
         WHERE user_id = excluded.user_id`,
      ).run(rowOfPersona(persona))
    },
    find(id: string): Persona | undefined {
      const row = prepare<[string], PersonaRow>(`SELECT * FROM persona WHERE id = ? AND user_id NOT LIKE '~%'`).get(id)
      return row && personaOf(row)
    },
    /** Hides it from every user at once; `removeHidden` then removes its rows. */
    remove: (id: string, owner: string) => hidePersona(db, id, owner),
  }
}
