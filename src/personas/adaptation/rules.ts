/**
 * The numbers of adaptation and the arithmetic on them. Everything is counted in whole millionths ("micro"), and no
 * function of the machine's mathematics library is used, so that a replay gives the same bits everywhere.
 */

export type Sensitivity = 'low' | 'medium' | 'high'

/** The algorithm of a record; a record of another one is kept as history and moves nothing. */
export const algorithm = 'bounded-steps/1'

export const one = 1_000_000

/** The limits of one sensitivity; weights in micro-units. */
export interface StepRule {
  /** The part of the distance to the target that a fully trusted signal covers. */
  readonly rate: number
  readonly eventCap: number
  /** The most that all records of one day (UTC) move a weight. */
  readonly dayCap: number
  /** The farthest from zero that a weight is moved. */
  readonly bound: number
  /** How many signals of one direction chat must see before it moves anything by itself. */
  readonly signals: number
  /** How many observations a preference has against it from the start. */
  readonly prior: number
}

/** Monotonic: for the same signals a higher sensitivity never moves less. */
export const stepRules: Readonly<Record<Sensitivity, StepRule>> = {
  low: { rate: 50_000, eventCap: 30_000, dayCap: 60_000, bound: 300_000, signals: 5, prior: 20 },
  medium: { rate: 150_000, eventCap: 100_000, dayCap: 200_000, bound: 600_000, signals: 3, prior: 8 },
  high: { rate: 350_000, eventCap: 250_000, dayCap: 600_000, bound: one, signals: 1, prior: 3 },
}

/** Micro-units below which a step moves nothing: too small to notice. */
const deadZone = 1_000

export const dayMs = 86_400_000

/** The half-life of an inferred weight, for all sensitivities: else a sensitive persona would forget sooner. */
export const halfLifeMs = 90 * dayMs

/** The trust of an explicit instruction. It pins the weight, against decay and inferred signals. */
export const explicitTrust = one

/** The trust of an unlisted trigger. */
export const inferredTrust = 200_000

const trusts: ReadonlyMap<string, number> = new Map([
  ['explicit_instruction', explicitTrust],
  ['user_edit', explicitTrust],
  ['manual_request', explicitTrust],
  ['admin_action', explicitTrust],
  ['user_correction', 600_000],
  ['feedback_positive', 600_000],
  ['feedback_negative', 600_000],
  ['response_edited', 300_000],
  ['response_regenerated', 300_000],
  ['persona_import', 100_000],
])

/** The trust of a trigger, in micro-units. */
export function trustOf(trigger: string): number {
  return trusts.get(trigger) ?? inferredTrust
}

/** A number of −1…1 in micro-units. */
export function toMicro(value: number): number {
  // Adding zero turns −0 into 0, which has one canonical spelling.
  return Math.round(value * one) + 0
}

/** Micro-units as a number of −1…1. */
export function fromMicro(value: number): number {
  return value / one
}

/** A weight after `elapsedMs` of decay toward zero; a negative time counts as none. */
export function decayed(weight: number, elapsedMs: number): number {
  if (elapsedMs <= 0 || weight === 0) return weight
  const halvings = Math.floor(elapsedMs / halfLifeMs)
  if (halvings > 30) return 0
  let factor = 1 / 2 ** halvings
  // 2^−x by its binary digits: multiplications only, which every machine rounds alike.
  let rest = elapsedMs - halvings * halfLifeMs
  for (const root of halfRoots) {
    rest *= 2
    if (rest >= halfLifeMs) {
      rest -= halfLifeMs
      factor *= root
    }
  }
  return Math.round(weight * factor) + 0
}

/** 2^(−1/2), 2^(−1/4), 2^(−1/8)…: each the square root of the one before, and `sqrt` is exactly rounded by IEEE 754. */
const halfRoots: readonly number[] = Array.from({ length: 30 }).reduce<number[]>(
  (roots) => [...roots, Math.sqrt(roots.at(-1) ?? 0.5)],
  [],
)

export interface Step {
  /** The weight afterwards. */
  readonly weight: number
  /** The distance, in micro-units, which counts against the day's budget. */
  readonly moved: number
  /** The limits that shortened the step, for the record's reason. */
  readonly limits: readonly ('event' | 'day' | 'bound' | 'dead zone')[]
}

/** One bounded step of a weight toward a target, all in micro-units; `spent` is the day's distance so far. */
export function step(weight: number, target: number, trust: number, spent: number, rule: StepRule): Step {
  const limits: Step['limits'][number][] = []
  const wanted = Math.round((((target - weight) * rule.rate) / one) * (trust / one)) + 0
  let move = within(wanted, rule.eventCap)
  if (move !== wanted) limits.push('event')
  const budget = within(move, Math.max(0, rule.dayCap - spent))
  if (budget !== move) limits.push('day')
  move = budget
  // A weight beyond the bound, from a higher sensitivity before, stays there but goes no farther.
  const reached = Math.min(Math.max(weight + move, Math.min(-rule.bound, weight)), Math.max(rule.bound, weight))
  if (reached !== weight + move) limits.push('bound')
  move = reached - weight
  if (Math.abs(move) >= deadZone) return { weight: reached, moved: Math.abs(move), limits }
  return { weight, moved: 0, limits: limits.length > 0 ? limits : ['dead zone'] }
}

function within(value: number, most: number): number {
  return Math.min(Math.max(value, -most), most)
}
