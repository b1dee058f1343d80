import { algorithm, decayed, fromMicro, inferredTrust, one, type Sensitivity, stepRules } from './rules.ts'

/** One change asked for by a request, or inferred by a rule of chat. */
export type Signal =
  | { readonly trait: string /** −1 to 1. */; readonly target: number }
  | { readonly preference: string; readonly value: unknown }
  /** Evidence against a preference; without a value, against the one that holds. */
  | { readonly preference: string; readonly weaken: true; readonly value?: unknown }
  | { readonly preference: string; readonly remove: true }

/** The inputs of a record: its effect is a pure function of them and of the state before. */
export type Inputs =
  | {
      readonly kind: 'signals'
      readonly sensitivity: Sensitivity
      readonly signals: readonly Signal[]
      /** The proposal that this record accepts. */
      readonly accepts?: string
    }
  | { readonly kind: 'pin'; readonly traits: readonly string[]; readonly pinned: boolean }
  /** Resets the named traits and preferences, or everything when none is named. */
  | { readonly kind: 'reset'; readonly traits: readonly string[]; readonly preferences: readonly string[] }
  | { readonly kind: 'undo'; readonly target: string }
  | { readonly kind: 'decline'; readonly target: string }
  | { readonly kind: 'decay' }
  /** Adaptation was enabled, disabled, or given another sensitivity. */
  | { readonly kind: 'settings'; readonly enabled: boolean; readonly sensitivity: Sensitivity }
  /** The state of another program with a log that cannot be replayed here. Weights are −1 to 1. */
  | {
      readonly kind: 'snapshot'
      readonly weights: Readonly<Record<string, number>>
      readonly preferences: Readonly<Record<string, unknown>>
    }
  /** An event that moved nothing, such as a merge. */
  | { readonly kind: 'note'; readonly about: Readonly<Record<string, unknown>> }

/** The fields of a record that a replay reads. A record without inputs is history of another program and moves nothing. */
export interface Event {
  readonly id: string
  readonly trigger_event: string
  /** Milliseconds since 1970 UTC. */
  readonly timestamp: number
  /** `proposed`: moves nothing until it is accepted. */
  readonly status?: 'applied' | 'proposed'
  /** The source: chat needs several signals before a weight moves, a user only one. */
  readonly actor?: 'user' | 'chat' | 'system'
  /** See `rules.ts`. */
  readonly algorithm?: string
  readonly inputs?: Inputs
}

/** One change by a record, with its reason. `path` is a JSON Pointer into the state. */
export interface Effect {
  readonly path: string
  readonly before: unknown
  readonly after: unknown
  readonly reason: string
}

export interface Trait {
  /** Micro-units. */
  weight: number
  /** Set by an explicit instruction: no decay, and inferred signals leave it. */
  pinned: boolean
  /** The time up to which `weight` has decayed. */
  at: number
  /** The day (UTC, counted from 1970) that `spent` belongs to. */
  day: number
  spent: number
  /** Signals that chat has gathered in one direction: negative for down. */
  waiting: number
}

export interface Candidate {
  readonly value: unknown
  /** Trust gathered for it, in micro-units. */
  support: number
  /** How often it was observed. */
  count: number
}

export interface Preference {
  /** The first one is the value that holds. */
  readonly candidates: Candidate[]
  /** Set by an explicit instruction. */
  pinned: boolean
  /** Trust gathered against the value that holds without naming another one, in micro-units. */
  against: number
  /** How often that was. */
  refusals: number
  /** The records it rests on, newest last. */
  readonly evidence: string[]
}

/** The learned state of a persona: a pure function of its log. */
export interface Learned {
  /** The time of the newest effective record, 0 before the first. Monotonic. */
  clock: number
  frozen: boolean
  sensitivity: Sensitivity
  readonly traits: Map<string, Trait>
  readonly preferences: Map<string, Preference>
}

export const learnedLimits = {
  traits: 200,
  preferences: 500,
  candidates: 8,
  evidence: 12,
  /** Characters of the whole state as JSON: each change writes all of it, in some ten milliseconds. */
  characters: 262_144,
} as const

/** The state of a persona before its first record. */
export function nothingLearned(): Learned {
  return { clock: 0, frozen: false, sensitivity: 'medium', traits: new Map(), preferences: new Map() }
}

/** Whether an event has inputs of the current algorithm. */
export function isReplayable(event: Event): boolean {
  return event.inputs !== undefined && event.algorithm === algorithm
}

/** A trait's weight at a time, in micro-units. */
export function weightAt(learned: Learned, trait: Trait, now: number): number {
  return trait.pinned || learned.frozen ? trait.weight : decayed(trait.weight, now - trait.at)
}

/** The confidence in the value that holds, in micro-units: its share of all support, the initial doubt included. */
function confidenceOf(preference: Preference, sensitivity: Sensitivity): number {
  if (preference.pinned) return one
  const [held, ...others] = preference.candidates
  if (!held) return 0
  const against = others.reduce((sum, other) => sum + other.support, preference.against)
  const doubt = stepRules[sensitivity].prior * inferredTrust
  return Math.round(one * (held.support / (held.support + against + doubt)))
}

/** A learned preference as answers and packages show it. */
export interface PreferenceView {
  readonly value: unknown
  /** 0 to 1. */
  readonly confidence: number
  /** True when chat follows it. */
  readonly established: boolean
  readonly source: 'explicit' | 'inferred'
  readonly observed: { readonly for: number; readonly against: number }
  /** Ids of the records it rests on, newest last. */
  readonly evidence: readonly string[]
}

/** A learned state at a time, in the specification's fields. */
export interface LearnedView {
  /** 0 to 1: the mean distance of the weights from zero, relative to the sensitivity's bound. */
  readonly adaptation_level: number
  readonly learned_preferences: Readonly<Record<string, PreferenceView>>
  readonly behavioral_weights: Readonly<Record<string, number>>
  /** Traits that were set explicitly. */
  readonly pinned_traits: readonly string[]
  readonly sensitivity: Sensitivity
  readonly frozen: boolean
}

/** Shows a learned state at a time; by default at its newest record, as in packages. */
export function viewLearned(learned: Learned, time: number = learned.clock): LearnedView {
  // A clock that was set back since the newest record: no time has passed.
  const now = Math.max(time, learned.clock)
  const traits = [...learned.traits].sort(byName)
  const weights = traits.map(([name, trait]) => [name, weightAt(learned, trait, now)] as const)
  const bound = stepRules[learned.sensitivity].bound
  const level = weights.reduce((sum, [, weight]) => sum + Math.min(one, (Math.abs(weight) * one) / bound), 0)
  return {
    adaptation_level: fromMicro(Math.round(level / Math.max(1, weights.length))),
    learned_preferences: Object.fromEntries(
      [...learned.preferences].sort(byName).map(([name, held]) => [name, viewPreference(held, learned.sensitivity)]),
    ),
    behavioral_weights: Object.fromEntries(weights.map(([name, weight]) => [name, fromMicro(weight)])),
    pinned_traits: traits.filter(([, trait]) => trait.pinned).map(([name]) => name),
    sensitivity: learned.sensitivity,
    frozen: learned.frozen,
  }
}

function viewPreference(preference: Preference, sensitivity: Sensitivity): PreferenceView {
  const [held, ...others] = preference.candidates
  const against = others.reduce((sum, other) => sum + other.count, preference.refusals)
  const count = held?.count ?? 0
  return {
    value: held?.value ?? null,
    confidence: fromMicro(confidenceOf(preference, sensitivity)),
    established: preference.pinned || count - against >= stepRules[sensitivity].signals,
    source: preference.pinned ? 'explicit' : 'inferred',
    observed: { for: count, against },
    evidence: [...preference.evidence],
  }
}

function byName([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number {
  return left < right ? -1 : 1
}
