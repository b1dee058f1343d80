import { z } from 'zod'
import { AppError } from '../../errors.ts'
import { boundedRecord, canonicalize } from '../../formats/formats.ts'
import type { Sensitivity } from './rules.ts'
import type { Inputs, Signal } from './state.ts'

/** An adaptation type or trigger; an unknown one means an inferred signal. */
const word = z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, 'must be a lower-case word such as explicit_instruction')

/** The name of a trait or preference: short and without control characters, since it stands in prompts and paths. */
const name = z
  .string()
  .trim()
  .regex(/^[\p{L}\p{N}][\p{L}\p{N} _.\-/]{0,63}$/u, 'must be 1 to 64 letters, digits, spaces, or one of _ . - /')
const target = z.number().min(-1).max(1)
const value = z
  .unknown()
  .refine(
    (json) => json === undefined || canonicalize(json).length <= maxValueLength,
    'must be shorter than 2,000 characters',
  )

/** Longer values would crowd the prompt. */
const maxValueLength = 2_000

const change = z.union(
  [
    z.strictObject({ trait: name, target: z.exactOptional(target) }),
    z.strictObject({ preference: name, value: z.exactOptional(value) }),
    z.strictObject({ record: z.string().min(1).max(100) }),
  ],
  'must have trait and target, or preference and value, or record',
)

/** The most changes of one request: checked before the first of them is parsed, since each costs time. */
const mostChanges = { list: 64, behavioral_weights: 200, learned_preferences: 200, characters: 65_536 } as const

function refuseTooMany(given: unknown, context: z.RefinementCtx): unknown {
  const problem = tooMany(given)
  if (problem === undefined) return given
  context.addIssue(problem)
  return z.NEVER
}

function tooMany(given: unknown): string | undefined {
  if (typeof given !== 'object' || given === null) return undefined
  if (Array.isArray(given)) {
    if (given.length > mostChanges.list) return `must name at most ${mostChanges.list} changes`
  } else
    for (const field of ['behavioral_weights', 'learned_preferences'] as const) {
      const map: unknown = (given as Record<string, unknown>)[field]
      if (typeof map === 'object' && map !== null && Object.keys(map).length > mostChanges[field])
        return `${field} must name at most ${mostChanges[field]}`
    }
  return JSON.stringify(given).length > mostChanges.characters
    ? `must not be longer than ${mostChanges.characters.toLocaleString('en')} characters as JSON`
    : undefined
}

export const adaptationRequest = z.object({
  adaptation_type: word,
  trigger_event: word,
  changes: z.preprocess(
    refuseTooMany,
    z.union(
      [
        z.array(change).max(mostChanges.list),
        z.strictObject({
          behavioral_weights: z.exactOptional(boundedRecord(name, target, mostChanges.behavioral_weights)),
          learned_preferences: z.exactOptional(boundedRecord(name, value, mostChanges.learned_preferences)),
        }),
      ],
      'must be a list of changes, or an object with behavioral_weights and learned_preferences',
    ),
  ),
  /** The same key twice for one persona is one record. */
  idempotency_key: z.exactOptional(z.string().min(1).max(200)),
})

export type AdaptationRequest = z.output<typeof adaptationRequest>
type Change = z.output<typeof change>

/** A request by the meaning of its type; undo, accept and decline need the log to become inputs. */
export type RequestedChange =
  | { readonly kind: 'inputs'; readonly inputs: Inputs }
  | { readonly kind: 'undo' | 'accept' | 'decline'; readonly record: string }

/** Reads a request by the meaning of its type. Throws `invalid` naming every change that does not fit. */
export function readRequest(request: AdaptationRequest, sensitivity: Sensitivity): RequestedChange {
  const changes = asList(request.changes)
  const reader = readers.get(request.adaptation_type) ?? readSignals
  const problems: string[] = []
  const requested = reader(changes, { sensitivity, type: request.adaptation_type, problems })
  if (problems.length > 0)
    throw new AppError('invalid', `The changes do not fit an adaptation of type ${request.adaptation_type}`, {
      details: problems,
    })
  return requested
}

interface Reading {
  readonly sensitivity: Sensitivity
  readonly type: string
  readonly problems: string[]
}

type Reader = (changes: readonly Change[], reading: Reading) => RequestedChange

const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['rollback', (changes, reading) => ({ kind: 'undo', record: oneRecord(changes, reading) })],
  ['proposal_accepted', (changes, reading) => ({ kind: 'accept', record: oneRecord(changes, reading) })],
  ['proposal_declined', (changes, reading) => ({ kind: 'decline', record: oneRecord(changes, reading) })],
  ['trait_pinned', (changes, reading) => pin(changes, reading, true)],
  ['trait_unpinned', (changes, reading) => pin(changes, reading, false)],
  ['state_reset', reset],
  ['decay_applied', decay],
])

function asList(changes: AdaptationRequest['changes']): readonly Change[] {
  if (Array.isArray(changes)) return changes
  return [
    ...Object.entries(changes.behavioral_weights ?? {}).map(([trait, target]) => ({ trait, target })),
    ...Object.entries(changes.learned_preferences ?? {}).map(([preference, value]) => ({ preference, value })),
  ]
}

function readSignals(changes: readonly Change[], reading: Reading): RequestedChange {
  if (changes.length === 0) reading.problems.push('changes must name at least one trait or preference')
  const signals = changes.flatMap((change, index) => {
    const signal = signalOf(change, reading.type)
    if (typeof signal !== 'string') return [signal]
    reading.problems.push(`changes[${index}] ${signal}`)
    return []
  })
  return { kind: 'inputs', inputs: { kind: 'signals', sensitivity: reading.sensitivity, signals } }
}

/** The signal of a change, or its problem as a text. */
function signalOf(change: Change, type: string): Signal | string {
  if ('record' in change) return 'names a record, which only rollback and the proposal types take'
  if ('trait' in change) {
    if (type.startsWith('preference_')) return 'names a trait; this type takes preferences'
    return change.target === undefined ? 'needs a target from -1 to 1' : { trait: change.trait, target: change.target }
  }
  const { preference, value } = change
  if (type === 'preference_removed') return { preference, remove: true }
  if (type === 'preference_weakened') return { preference, weaken: true, ...(value !== undefined && { value }) }
  return value === undefined ? 'needs a value' : { preference, value }
}

function oneRecord(changes: readonly Change[], reading: Reading): string {
  const [first] = changes
  if (changes.length === 1 && first && 'record' in first) return first.record
  reading.problems.push('changes must be [{"record": ID}] with the id of one record')
  return ''
}

function pin(changes: readonly Change[], reading: Reading, pinned: boolean): RequestedChange {
  const traits = changes.flatMap((change, index) => {
    if ('trait' in change && change.target === undefined) return [change.trait]
    reading.problems.push(`changes[${index}] must be {"trait": NAME}: the weight stays where it stands`)
    return []
  })
  if (changes.length === 0) reading.problems.push('changes must name at least one trait')
  return { kind: 'inputs', inputs: { kind: 'pin', traits, pinned } }
}

function decay(changes: readonly Change[], { problems }: Reading): RequestedChange {
  if (changes.length > 0) problems.push('changes must be empty: decay is a matter of time')
  return { kind: 'inputs', inputs: { kind: 'decay' } }
}

function reset(changes: readonly Change[], { problems }: Reading): RequestedChange {
  changes.forEach((change, index) => {
    if ('record' in change) problems.push(`changes[${index}] names a record; to undo one, use rollback`)
  })
  return {
    kind: 'inputs',
    inputs: {
      kind: 'reset',
      traits: changes.flatMap((change) => ('trait' in change ? [change.trait] : [])),
      preferences: changes.flatMap((change) => ('preference' in change ? [change.preference] : [])),
    },
  }
}
