import { emptyProfile, type Profile, type ProfileStore, type Scope } from '../../personas/personas.ts'
import { row, run, type StoreDatabase, sql, type Work } from '../port/port.ts'
import type { StoredLimits } from '../shared/limits.ts'
import { lockPersona } from './personas.ts'
import { checkQuota } from './quota.ts'

/** The profiles of personas, a row for each that has any line. */
export function createProfileStore(db: StoreDatabase, limits?: StoredLimits): ProfileStore {
  return {
    read: async (scope) => db.read(readProfile(scope)),
    change: (scope, change) =>
      db.write(function* () {
        if (!(yield* lockPersona(scope.personaId, scope.userId))) return undefined
        const before = yield* readProfile(scope)
        const after = change(before)
        if (after === before) return before
        yield* writeProfile(scope.personaId, after)
        yield* checkQuota(limits, scope.userId)
        return after
      }),
  }
}

/** The profile of that user's persona; an empty one where there is none. */
export function* readProfile({ personaId, userId }: Scope): Work<Profile> {
  const found = yield* row<{ lines: string; history: string }>(
    sql`SELECT lines, history FROM persona_profile JOIN persona ON persona.id = persona_id
        WHERE persona_id = ${personaId} AND user_id = ${userId}`,
  )
  return found ? { lines: JSON.parse(found.lines), history: JSON.parse(found.history) } : emptyProfile
}

/** Writes a profile in the place of the one that is there; an empty one has no row. */
export function* writeProfile(personaId: string, { lines, history }: Profile): Work<void> {
  if (lines.length === 0 && history.length === 0)
    yield* run(sql`DELETE FROM persona_profile WHERE persona_id = ${personaId}`)
  else
    yield* run(
      sql`INSERT INTO persona_profile (persona_id, lines, history)
          VALUES (${personaId}, ${JSON.stringify(lines)}, ${JSON.stringify(history)})
          ON CONFLICT (persona_id) DO UPDATE SET lines = excluded.lines, history = excluded.history`,
    )
}
