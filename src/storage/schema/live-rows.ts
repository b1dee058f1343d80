/** Conditions in the SQL of both databases: rows that are on their way in or out have an owner which begins with `~`. */
const livePersonas = `SELECT id FROM persona WHERE substr(user_id, 1, 1) <> '~'`

export const ofLivePersona = `persona_id IN (${livePersonas})`

/** For the number of a memory. */
export const ofLiveScope = `(memory_id >> 24) IN (SELECT scope_id FROM memory_scope WHERE ${ofLivePersona})`
