import type { Persona, PersonaStore } from '../../personas/persona.ts'
import { type PersonaRow, personaColumns, personaOf, rowOfPersona } from '../shared/persona-rows.ts'
import type { Context } from './context.ts'
import type { OwnedRows } from './owned-rows.ts'
import { checkQuota } from './quota.ts'
import { hidePersonas, removeHidden } from './removal.ts'
import type { Sql, Transaction } from './sql.ts'

/** Personas in PostgreSQL. */
export function createPersonaStore({ db, limits }: Context): PersonaStore {
  return {
    save: (persona) =>
      db.transaction(async (tx) => {
        await Promise.all([savePersona(tx, persona), checkQuota(tx, limits, persona.user_id)])
      }),
    update: (id, owner, change) =>
      db.transaction(async (tx) => {
        const before = await lockPersona(tx, id, owner)
        if (!before) return undefined
        const after = change(before)
        const grows = JSON.stringify(after).length > JSON.stringify(before).length
        await Promise.all([savePersona(tx, after), grows && checkQuota(tx, limits, owner)])
        return after
      }),
    find: (id) => findPersona(db, id),
    async list(owner) {
      const rows = await db.rows<PersonaRow>('SELECT * FROM persona WHERE user_id = $1 ORDER BY created_at, id', [
        owner,
      ])
      return rows.map(personaOf)
    },
    async remove(id, owner) {
      const removed = await db.transaction((tx) => hidePersonas(tx, owner, id))
      if (removed > 0) await removeHidden(db)
      return removed > 0
    },
  }
}

/** Personas and their memories when users come and go. */
export const personaOwnership: OwnedRows = {
  async reassign(tx, from, to) {
    await tx.run('UPDATE persona SET user_id = $2 WHERE user_id = $1', [from, to])
    await tx.run('UPDATE memory_scope SET user_id = $2 WHERE user_id = $1', [from, to])
  },
  remove: async (tx, owner) => void (await hidePersonas(tx, owner)),
}

const columns = personaColumns.join(', ')
const places = personaColumns.map((_, at) => `$${at + 1}`).join(', ')
/** An owner, an id and a time of creation stay. */
const changes = personaColumns
  .filter((name) => !['id', 'user_id', 'created_at'].includes(name))
  .map((name) => `${name} = excluded.${name}`)
  .join(', ')

/** Writes a new persona, or the new fields of one of the same owner's. */
export async function savePersona(sql: Sql, persona: Persona): Promise<void> {
  await sql.run(
    `INSERT INTO persona (${columns}) VALUES (${places})
       ON CONFLICT (id) DO UPDATE SET ${changes} WHERE persona.user_id = excluded.user_id`,
    valuesOf(persona),
  )
}

/** Writes a new persona; false where there is one of that id, which waits for another transaction that makes one. */
export async function insertPersona(tx: Transaction, persona: Persona): Promise<boolean> {
  const made = await tx.run(
    `INSERT INTO persona (${columns}) VALUES (${places}) ON CONFLICT (id) DO NOTHING`,
    valuesOf(persona),
  )
  return made === 1
}

function valuesOf(persona: Persona): unknown[] {
  const row = rowOfPersona(persona)
  return personaColumns.map((name) => row[name])
}

/** The persona of an id, unless it is hidden. */
export async function findPersona(sql: Sql, id: string): Promise<Persona | undefined> {
  const row = await sql.row<PersonaRow>(`SELECT * FROM persona WHERE id = $1 AND user_id NOT LIKE '~%'`, [id])
  return row && personaOf(row)
}

/**
 * The owner's persona of that id, locked against other writers until this transaction ends. Every writer of a persona,
 * its state or its memories takes this lock first.
 */
export async function lockPersona(tx: Transaction, id: string, owner: string): Promise<Persona | undefined> {
  const row = await tx.row<PersonaRow>('SELECT * FROM persona WHERE id = $1 AND user_id = $2 FOR NO KEY UPDATE', [
    id,
    owner,
  ])
  return row && personaOf(row)
}
