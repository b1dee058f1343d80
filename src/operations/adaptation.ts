import { z } from 'zod'
import { adaptationRequest } from '../personas/personas.ts'
import { page } from './input.ts'
import { ofPersona } from './memories.ts'
import { defineOperation } from './operation.ts'
import { onePersona } from './personas.ts'

const preference = z.looseObject({
  value: z.unknown(),
  confidence: z.number(),
  established: z.boolean(),
  source: z.enum(['explicit', 'inferred']),
  observed: z.object({ for: z.int(), against: z.int() }),
  evidence: z.array(z.string()),
})

/** The specification's persona state, with fields of aichat. */
const personaState = z.object({
  persona_id: z.string(),
  user_id: z.string(),
  adaptation_level: z.number(),
  learned_preferences: z.record(z.string(), preference),
  behavioral_weights: z.record(z.string(), z.number()),
  last_mutation: z.int(),
  pinned_traits: z.array(z.string()),
  sensitivity: z.enum(['low', 'medium', 'high']),
  /** False while the settings refuse adaptation; then `frozen` is true. */
  enabled: z.boolean(),
  frozen: z.boolean(),
  records: z.int(),
  log_hash: z.string(),
})

/** A record of the log; other programs may have added fields. */
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

export const showState = defineOperation({
  name: 'personas.state',
  route: 'GET /api/personas/:id/state',
  ...onePersona,
  summary: 'Shows the adaptation state of a persona.',
  input: z.object({ id }),
  output: personaState,
  run: async ({ app }, _input, persona) => (await app.packages()).adaptation.state(persona),
})

export const showMemoryOwner = defineOperation({
  name: 'memories.owner',
  route: 'GET /api/personas/:id/memory/owner',
  ...ofPersona,
  summary: 'Shows the owner of the memory: the persona’s name and description, and its learned state.',
  input: z.object({ id }),
  output: z.object({
    id: z.string(),
    name: z.string(),
    description: z.exactOptional(z.string()),
    state: personaState,
  }),
  run: async ({ app }, _input, persona) => {
    const { name, description } = persona
    const state = await (await app.packages()).adaptation.state(persona)
    return { id: persona.id, name, ...(description !== undefined && { description }), state }
  },
})

export const adaptPersona = defineOperation({
  name: 'personas.adapt',
  route: 'POST /api/personas/:id/state/adaptation',
  ...onePersona,
  summary: 'Applies or undoes an adaptation, or answers a proposal; the answer holds the change.',
  input: adaptationRequest.extend({ id }),
  output: z.object({ state: personaState, record: adaptationRecord }),
  run: async ({ app }, { id: _id, ...request }, persona) => (await app.packages()).adaptation.adapt(persona, request),
})

export const listAdaptations = defineOperation({
  name: 'personas.adaptations',
  route: 'GET /api/personas/:id/state/adaptation',
  ...onePersona,
  summary: 'Lists the adaptation log of a persona, newest first; undone records are marked.',
  input: z.object({ id, ...page }),
  output: z.object({ records: z.array(adaptationRecord), total: z.int() }),
  run: async ({ app }, { id: _id, ...range }, persona) => (await app.packages()).adaptation.log(persona, range),
})

export const adaptationOperations = [showState, showMemoryOwner, adaptPersona, listAdaptations]
