import { z } from 'zod'
import type { RecordView } from '../personas/adaptation/persona-state.ts'
import { adaptationRequest } from '../personas/adaptation/request.ts'
import type { Persona } from '../personas/persona.ts'
import { type Call, defineOperation } from './operation.ts'
import { locatePersona } from './personas.ts'

const preference = z.looseObject({
  value: z.unknown(),
  confidence: z.number(),
  established: z.boolean(),
  source: z.enum(['explicit', 'inferred']),
  observed: z.object({ for: z.int(), against: z.int() }),
  evidence: z.array(z.string()),
})

/** The specification's persona state, and what else is worth knowing about it. */
const personaState = z.object({
  persona_id: z.string(),
  user_id: z.string(),
  adaptation_level: z.number(),
  learned_preferences: z.record(z.string(), preference),
  behavioral_weights: z.record(z.string(), z.number()),
  last_mutation: z.int(),
  pinned_traits: z.array(z.string()),
  sensitivity: z.enum(['low', 'medium', 'high']),
  /** False while the settings refuse adaptation; `frozen` says the same of the state. */
  enabled: z.boolean(),
  frozen: z.boolean(),
  records: z.int(),
  log_hash: z.string(),
})

/** A line of the log; one that came from another program has its own fields beside the specified ones. */
const adaptationRecord = z.looseObject({
  id: z.string(),
  persona_id: z.string(),
  user_id: z.string(),
  adaptation_type: z.string(),
  trigger_event: z.string(),
  changes: z.unknown(),
  timestamp: z.int(),
  sequence: z.int(),
  prev_hash: z.string(),
  hash: z.string(),
  undone_by: z.exactOptional(z.string()),
})

const id = z.string()

/** The caller's persona of that id or name. */
export async function ownPersona({ app, caller }: Call, idOrName: string): Promise<Persona> {
  return (await app.personas()).personas.get(caller.id, idOrName)
}

export const showState = defineOperation({
  name: 'personas.state',
  method: 'GET',
  path: '/api/personas/:id/state',
  access: 'user',
  summary: 'Shows what a persona has learned.',
  input: z.object({ id }),
  output: personaState,
  run: async (call, input) => {
    const persona = await ownPersona(call, input.id)
    return shownState(await (await call.app.packages()).adaptation.state(persona))
  },
})

export const adaptPersona = defineOperation({
  name: 'personas.adapt',
  method: 'POST',
  path: '/api/personas/:id/state/adaptation',
  access: 'user',
  summary: 'Applies an adaptation, undoes one, or answers a proposal, and says what it changed.',
  locate: locatePersona,
  input: adaptationRequest.extend({ id }),
  output: z.object({ state: personaState, record: adaptationRecord }),
  run: async (call, { id, ...request }) => {
    const persona = await ownPersona(call, id)
    const { state, record } = await (await call.app.packages()).adaptation.adapt(persona, request)
    return { state: shownState(state), record: shownRecord(record) }
  },
})

export const listAdaptations = defineOperation({
  name: 'personas.adaptations',
  method: 'GET',
  path: '/api/personas/:id/state/adaptation',
  access: 'user',
  summary: 'Lists the log of what a persona learned, newest first, with what was undone.',
  locate: locatePersona,
  input: z.object({
    id,
    limit: z.coerce.number().int().min(1).max(1000).default(100),
    offset: z.coerce.number().int().min(0).default(0),
  }),
  output: z.object({ records: z.array(adaptationRecord), total: z.int() }),
  run: async (call, { id, ...page }) => {
    const persona = await ownPersona(call, id)
    const { records, total } = await (await call.app.packages()).adaptation.log(persona, page)
    return { records: records.map(shownRecord), total }
  },
})

export const adaptationOperations = [showState, adaptPersona, listAdaptations]

/** Copies, since what the core gives may not be changed and what a schema takes may. */
function shownState(state: z.input<typeof personaState> | Readonly<object>): z.input<typeof personaState> {
  return structuredClone(state) as z.input<typeof personaState>
}

function shownRecord(record: RecordView): z.input<typeof adaptationRecord> {
  return { ...record }
}
