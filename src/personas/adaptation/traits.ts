import { type Reasons, weightPath } from './effects.ts'
import { dayMs, explicitTrust, fromMicro, one, step, stepRules, toMicro, trustOf } from './rules.ts'
import { type Event, type Inputs, type Learned, learnedLimits, type Trait, weightAt } from './state.ts'

/** Moves a trait toward the signal's target by one bounded step, and says why it moved so far and no farther. */
export function moveTrait(
  learned: Learned,
  event: Event,
  signal: { readonly trait: string; readonly target: number },
  reasons: Reasons,
): void {
  const trait = traitOf(learned, signal.trait)
  if (!trait) return
  const say = (reason: string) => reasons.set(weightPath(signal.trait), `${event.trigger_event}: ${reason}`)
  const trust = trustOf(event.trigger_event)
  const rule = stepRules[learned.sensitivity]
  decay(learned, trait)
  if (trait.pinned && trust < explicitTrust) {
    say('set explicitly, so an inferred signal does not move it')
    return
  }
  const target = toMicro(signal.target)
  if (event.actor === 'chat' && trust < explicitTrust) {
    const count = countSignal(trait, Math.sign(target - trait.weight))
    if (count < rule.signals) {
      say(`signal ${count} of ${rule.signals} in this direction`)
      return
    }
  }
  const day = Math.floor(learned.clock / dayMs)
  if (trait.day !== day) Object.assign(trait, { day, spent: 0 })
  const moved = step(trait.weight, target, trust, trait.spent, rule)
  trait.weight = moved.weight
  trait.spent += moved.moved
  trait.pinned ||= trust === explicitTrust
  const limits = moved.limits.length > 0 ? `, limited by ${moved.limits.join(' and ')}` : ''
  if (moved.moved === 0 && moved.limits.includes('day'))
    say(
      `not moved: the ${fromMicro(rule.dayCap)} that it may move in a day (UTC) at ${learned.sensitivity} are used up`,
    )
  else say(`${rule.rate / one} × ${trust / one} of the way to ${signal.target} (${learned.sensitivity})${limits}`)
}

/** Counts consecutive signals in one direction; one in the other direction restarts the count. */
function countSignal(trait: Trait, direction: number): number {
  trait.waiting = Math.sign(trait.waiting) === direction ? trait.waiting + direction : direction
  return Math.abs(trait.waiting)
}

/** Pins traits where they stand, or lets them move and decay again. */
export function pin(learned: Learned, inputs: Extract<Inputs, { kind: 'pin' }>, reasons: Reasons): void {
  for (const name of inputs.traits) {
    const trait = traitOf(learned, name)
    if (!trait) continue
    decay(learned, trait)
    trait.pinned = inputs.pinned
    reasons.set(weightPath(name), inputs.pinned ? 'pinned where it stands' : 'free to move and to decay again')
  }
}

/** Sets a trait's weight, clamped to -1 to 1. */
export function setTrait(learned: Learned, name: string, weight: number): void {
  const trait = traitOf(learned, name)
  if (trait) Object.assign(trait, { weight: toMicro(Math.min(1, Math.max(-1, weight))), at: learned.clock })
}

/** The trait of that name, a new one where there is none; undefined when there are too many. */
function traitOf(learned: Learned, name: string): Trait | undefined {
  const known = learned.traits.get(name)
  if (known || learned.traits.size >= learnedLimits.traits) return known
  const trait: Trait = { weight: 0, pinned: false, at: learned.clock, day: 0, spent: 0, waiting: 0 }
  learned.traits.set(name, trait)
  return trait
}

/** Brings all weights up to the state's clock. */
export function decayAll(learned: Learned): void {
  for (const trait of learned.traits.values()) decay(learned, trait)
}

function decay(learned: Learned, trait: Trait): void {
  trait.weight = weightAt(learned, trait, learned.clock)
  trait.at = Math.max(trait.at, learned.clock)
}
