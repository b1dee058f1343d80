import {
  type Extent,
  type OpenedPersona,
  type Persona,
  type PersonaStore,
  type Revision,
  type Scope,
  withoutFields,
} from '../../personas/personas.ts'
import { among, lock, row, rows, run, type StoreDatabase, sql, together, type Work, word } from '../port/port.ts'
import { hiddenOwner } from '../shared/hidden-owner.ts'
import type { StoredLimits } from '../shared/limits.ts'
import type { OwnedRows } from './owned-rows.ts'
import { checkQuota } from './quota.ts'

/** Personas. Every writer of a persona, its state or its memories locks its row first. */
export function createPersonaStore(db: StoreDatabase, limits?: StoredLimits): PersonaStore {
  async function open(owner: string, idOrName: string): Promise<readonly OpenedPersona[]> {
    const found = await db.read(rows<PersonaRow & OpenedMarks>(opening(owner, idOrName)))
    return found.map(({ lore, learned, profile, pinned, ...each }) => ({
      persona: personaOf(each),
      lore,
      learned,
      profile: profile === null ? [] : JSON.parse(profile),
      pinned: pinned ?? '',
    }))
  }
  const openKept = db.brief(async (asked) => {
    const found = await open(...(JSON.parse(asked) as [owner: string, idOrName: string]))
    // One that is not there may come from another process at any moment.
    return found.length === 0 ? undefined : found
  })
  return {
    async save(persona) {
      await db.write(() => together(savePersona(persona), checkQuota(limits, persona.user_id)))
    },
    update: (id, owner, change) =>
      db.write(function* () {
        const before = yield* lockPersona(id, owner)
        if (!before) return undefined
        const after = change(before)
        const grows = JSON.stringify(after).length > JSON.stringify(before).length
        yield* together(savePersona(after), checkQuota(grows ? limits : undefined, owner))
        return after
      }),
    find: async (id) => db.read(findPersona(id)),
    open,
    reopen: async (owner, idOrName) => (await openKept(JSON.stringify([owner, idOrName]))) ?? [],
    async list(owner) {
      const found = await db.read(
        rows<PersonaRow>(sql`SELECT * FROM persona WHERE user_id = ${owner} ORDER BY created_at, id`),
      )
      return found.map(personaOf)
    },
    remove: async (id, owner) => (await db.remove(() => hidePersonas(owner, id))) > 0,
  }
}

/** Personas and their memories when users come and go. */
export const personaOwnership: OwnedRows = {
  *reassign(from, to) {
    yield* together(
      run(sql`UPDATE persona SET user_id = ${to} WHERE user_id = ${from}`),
      run(sql`UPDATE memory_scope SET user_id = ${to} WHERE user_id = ${from}`),
    )
  },
  *remove(owner) {
    yield* hidePersonas(owner)
  },
}

/** Writes a new persona, or the new fields of one of the same owner's; a time of creation stays. */
export function* savePersona(persona: Persona): Work<void> {
  yield* run(
    sql`${inserted(persona)} ON CONFLICT (id) DO UPDATE SET name = excluded.name, model = excluded.model,
          description = excluded.description, system_prompt = excluded.system_prompt, parameters = excluded.parameters,
          embedding_model = excluded.embedding_model, memory_settings = excluded.memory_settings,
          mutation_settings = excluded.mutation_settings, extra = excluded.extra, updated_at = excluded.updated_at
        WHERE persona.user_id = excluded.user_id`,
  )
}

/** Writes a new persona; false where there is one of that id. Waits for another transaction that makes one. */
export function* insertPersona(persona: Persona): Work<boolean> {
  return (yield* run(sql`${inserted(persona)} ON CONFLICT (id) DO NOTHING`)) === 1
}

function inserted(persona: Persona) {
  const { id, user_id, name, model, description, system_prompt, parameters, embedding_model, ...rest } =
    rowOfPersona(persona)
  return sql`INSERT INTO persona (id, user_id, name, model, description, system_prompt, parameters, embedding_model,
      memory_settings, mutation_settings, extra, created_at, updated_at)
    VALUES (${id}, ${user_id}, ${name}, ${model}, ${description}, ${system_prompt}, ${parameters}, ${embedding_model},
      ${rest.memory_settings}, ${rest.mutation_settings}, ${rest.extra}, ${rest.created_at}, ${rest.updated_at})`
}

/** What an opened persona says beside its row. */
interface OpenedMarks extends Pick<OpenedPersona, 'lore' | 'learned'> {
  readonly profile: string | null
  readonly pinned: string | null
}

const isPinned = word('pinned = 1', 'pinned')

function opening(owner: string, idOrName: string) {
  return sql`SELECT persona.*, coalesce(lore, 0) AS lore, coalesce(hash, '') AS learned, lines AS profile,
      CASE WHEN EXISTS (SELECT 1 FROM memory WHERE memory.scope_id = memory_scope.scope_id AND ${isPinned})
        THEN CAST(revision AS text) END AS pinned
    FROM persona
    LEFT JOIN memory_scope ON memory_scope.persona_id = persona.id AND memory_scope.user_id = persona.user_id
    LEFT JOIN persona_state ON persona_state.persona_id = persona.id
    LEFT JOIN persona_profile ON persona_profile.persona_id = persona.id
    LEFT JOIN persona_revision ON persona_revision.persona_id = persona.id
    WHERE (persona.id = ${idOrName} AND persona.user_id NOT LIKE '~%')
      OR (persona.user_id = ${owner} AND name = ${idOrName})
    ORDER BY created_at, id`
}

/** The persona of an id, unless it is hidden. */
export function* findPersona(id: string): Work<Persona | undefined> {
  const found = yield* row<PersonaRow>(sql`SELECT * FROM persona WHERE id = ${id} AND user_id NOT LIKE '~%'`)
  return found && personaOf(found)
}

const forNoKeyUpdate = word('', 'FOR NO KEY UPDATE')

/** The owner's persona of that id, locked against other writers until this transaction ends. */
export function* lockPersona(id: string, owner: string): Work<Persona | undefined> {
  const found = yield* row<PersonaRow>(
    sql`SELECT * FROM persona WHERE id = ${id} AND user_id = ${owner} ${forNoKeyUpdate}`,
  )
  return found && personaOf(found)
}

/** Scopes without a persona are on their way out; in SQLite those of a hidden persona are. */
const withoutPersona = word('', 'persona_id = NULL, ')

/** Hides the owner's personas, or one of them, with all they have, from every user at once. How many they are. */
export function* hidePersonas(owner: string, id?: string): Work<number> {
  const isGoing = id === undefined ? sql`user_id = ${owner}` : sql`user_id = ${owner} AND id = ${id}`
  const [, gone] = yield* together(
    // Persona, then scope, then counters: the order in which every writer locks.
    lock(
      sql`SELECT 1 FROM memory_scope
          WHERE persona_id IN (SELECT id FROM persona WHERE ${isGoing} ORDER BY id ${forNoKeyUpdate})
          ORDER BY scope_id FOR UPDATE`,
    ),
    rows<{ id: string }>(sql`UPDATE persona SET user_id = ${hiddenOwner} WHERE ${isGoing} RETURNING id`),
  )
  if (gone.length === 0) return 0
  const ids = among(gone.map((persona) => persona.id))
  yield* together(
    run(
      sql`UPDATE memory_scope SET ${withoutPersona}user_id = CAST(${hiddenOwner} AS text) || '/' || scope_id
          WHERE persona_id ${ids}`,
    ),
    // Conversations go on without a persona.
    run(sql`UPDATE conversation SET persona_id = NULL WHERE persona_id ${ids}`),
  )
  return gone.length
}

/** The size of a persona, by counters that are kept as it is stored. */
export function* extentOf({ personaId, userId }: Scope): Work<Extent> {
  const found = yield* row<Extent>(
    sql`SELECT coalesce(s.memories, 0) AS memories, coalesce(state.sequence, 0) AS records,
          coalesce(s.bytes, 0) + u.bytes AS bytes
        FROM persona p JOIN persona_usage u ON u.persona_id = p.id
        LEFT JOIN memory_scope s ON s.persona_id = p.id AND s.user_id = p.user_id
        LEFT JOIN persona_state state ON state.persona_id = p.id
        WHERE p.id = ${personaId} AND p.user_id = ${userId}`,
  )
  return found ?? { memories: 0, records: 0, bytes: 0 }
}

/** The counter of the persona's changes; undefined when that user has no such persona. */
export function* revisionOf({ personaId, userId }: Scope): Work<Revision | undefined> {
  const found = yield* row<{ revision: string }>(
    sql`SELECT CAST(revision AS text) AS revision FROM persona_revision JOIN persona ON persona.id = persona_id
        WHERE persona_id = ${personaId} AND user_id = ${userId}`,
  )
  return found?.revision
}

/** A persona as its table keeps it; settings and fields that no column has as JSON. */
interface PersonaRow extends Pick<Persona, 'id' | 'user_id' | 'name' | 'model' | 'created_at' | 'updated_at'> {
  readonly description: string | null
  readonly system_prompt: string | null
  readonly parameters: string
  readonly embedding_model: string | null
  readonly memory_settings: string | null
  readonly mutation_settings: string | null
  readonly extra: string | null
}

/** The column of unknown fields, which also holds the fields that came after the columns. */
type Extra = Readonly<Record<string, unknown>> & Pick<Persona, (typeof later)[number]>

/** No package brings these names as unknown fields, see knownPersonaFields in import-persona.ts. */
const later = ['mcp_servers', 'nickname', 'post_history_instructions'] as const

function rowOfPersona(persona: Persona): PersonaRow {
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

function personaOf(row: PersonaRow): Persona {
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
