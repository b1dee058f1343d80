import { canonicalize } from '../../formats/canonical-json.ts'
import { dayMs, explicitTrust, inferredTrust, one, step, stepRules, toMicro, trustOf } from './rules.ts'
import {
  type Effect,
  type Event,
  type Inputs,
  isReplayable,
  type Learned,
  learnedLimits,
  nothingLearned,
  type Preference,
  type Signal,
  type Trait,
  viewLearned,
  weightAt,
} from './state.ts'

/** The state that a log gives. Records that were undone, and what undid them, are left out as if they had never been. */
export function fold(log: readonly Event[]): Learned {
  const undone = undoneBy(log)
  const learned = nothingLearned()
  for (const event of log) if (!undone.has(event.id)) play(learned, event)
  return learned
}

/** The same for a log of any length: others are served in between. */
export async function foldSlowly(log: readonly Event[]): Promise<Learned> {
  const undone = undoneBy(log)
  const learned = nothingLearned()
  let signals = 0
  for (const event of log) {
    if (undone.has(event.id)) continue
    play(learned, event)
    signals += 1 + (event.inputs?.kind === 'signals' ? event.inputs.signals.length : 0)
    if (signals < signalsAtOnce) continue
    signals = 0
    await new Promise((resolve) => setImmediate(resolve))
  }
  return learned
}

/** Signals that are played between two turns of everybody else: some milliseconds' work. */
const signalsAtOnce = 500

/** Which records do not count, and the record that undid each. An undo can be undone, and its target counts again. */
export function undoneBy(log: readonly Event[]): ReadonlyMap<string, string> {
  const undone = new Map<string, string>()
  // From the newest: what happens to an undo is said after it.
  for (const event of log.toReversed())
    if (event.inputs?.kind === 'undo' && isReplayable(event) && !undone.has(event.id))
      undone.set(event.inputs.target, event.id)
  return undone
}

/** The state after one more record that is no undo, and what that record changed. The state given stays as it is. */
export function advance(
  learned: Learned,
  event: Event,
): { readonly learned: Learned; readonly effects: readonly Effect[] } {
  const next = structuredClone(learned)
  const reasons = play(next, event)
  return { learned: next, effects: differences(learned, next, reasons, `${event.trigger_event}`) }
}

/**
 * What differs between two states at the time of the second, path by path. A path with a reason of its own is listed
 * also where nothing moved: that a signal was heard and changed nothing is worth knowing.
 */
export function differences(
  before: Learned,
  after: Learned,
  reasons: ReadonlyMap<string, string>,
  otherwise: string,
): readonly Effect[] {
  const now = Math.max(before.clock, after.clock)
  const [old, fresh] = [leaves(before, now), leaves(after, now)]
  const effects: Effect[] = []
  for (const path of new Set([...old.keys(), ...fresh.keys()])) {
    const [was, is] = [old.get(path) ?? null, fresh.get(path) ?? null]
    const reason = reasons.get(path)
    if (reason !== undefined || canonicalize(was) !== canonicalize(is))
      effects.push({ path, before: was, after: is, reason: reason ?? otherwise })
  }
  return effects
}

function leaves(learned: Learned, now: number): ReadonlyMap<string, unknown> {
  const view = viewLearned(learned, now)
  return new Map<string, unknown>([
    ...Object.entries(view.behavioral_weights).map(([name, weight]) => [weightPath(name), weight] as const),
    ...Object.entries(view.learned_preferences).map(
      ([name, { value, confidence }]) => [preferencePath(name), { value, confidence }] as const,
    ),
    ...view.pinned_traits.map((name) => [`/pinned_traits/${escaped(name)}`, true] as const),
  ])
}

function weightPath(name: string): string {
  return `/behavioral_weights/${escaped(name)}`
}

function preferencePath(name: string): string {
  return `/learned_preferences/${escaped(name)}`
}

/** RFC 6901: how a name stands in a JSON Pointer. */
function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}

type Reasons = Map<string, string>

/** Plays one event onto a state that may be changed, and says why of each path it thought about. */
function play(learned: Learned, event: Event): Reasons {
  const reasons: Reasons = new Map()
  const { inputs } = event
  if (!inputs || !isReplayable(event) || event.status === 'proposed' || inputs.kind === 'undo') return reasons
  // A clock that was set back: no time has passed.
  learned.clock = Math.max(learned.clock, event.timestamp)
  if (inputs.kind === 'settings') changeSettings(learned, inputs)
  else if (inputs.kind === 'pin') pin(learned, inputs, reasons)
  else if (inputs.kind === 'reset') reset(learned, inputs)
  else if (inputs.kind === 'snapshot') takeSnapshot(learned, event, inputs)
  else if (inputs.kind === 'decay') settle(learned)
  else if (inputs.kind === 'signals' && !learned.frozen) {
    learned.sensitivity = inputs.sensitivity
    for (const signal of inputs.signals) take(learned, event, signal, reasons)
  }
  return reasons
}

function take(learned: Learned, event: Event, signal: Signal, reasons: Reasons): void {
  if ('trait' in signal) moveTrait(learned, event, signal, reasons)
  else if ('remove' in signal) learned.preferences.delete(signal.preference)
  else if ('weaken' in signal) weaken(learned, event, signal, reasons)
  else reinforce(learned, event, signal, reasons)
}

function moveTrait(learned: Learned, event: Event, signal: { trait: string; target: number }, reasons: Reasons): void {
  const trait = traitOf(learned, signal.trait)
  if (!trait) return
  const say = (reason: string) => reasons.set(weightPath(signal.trait), reason)
  const trust = trustOf(event.trigger_event)
  const rule = stepRules[learned.sensitivity]
  settleTrait(learned, trait)
  if (trait.pinned && trust < explicitTrust) {
    say(`${event.trigger_event}: set explicitly, so an inferred signal does not move it`)
    return
  }
  const target = toMicro(signal.target)
  if (event.actor === 'chat' && trust < explicitTrust) {
    const heard = gather(trait, Math.sign(target - trait.weight))
    if (heard < rule.signals) {
      say(`${event.trigger_event}: signal ${heard} of ${rule.signals} in this direction`)
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
  say(
    `${event.trigger_event}: ${rule.rate / one} × ${trust / one} of the way to ${signal.target} (${learned.sensitivity})${limits}`,
  )
}

/** Counts the signals of one direction in a row; one in the other direction begins anew. Returns how many there are. */
function gather(trait: Trait, direction: number): number {
  trait.waiting = Math.sign(trait.waiting) === direction ? trait.waiting + direction : direction
  return Math.abs(trait.waiting)
}

function traitOf(learned: Learned, name: string): Trait | undefined {
  const known = learned.traits.get(name)
  if (known || learned.traits.size >= learnedLimits.traits) return known
  const trait: Trait = { weight: 0, pinned: false, at: learned.clock, day: 0, spent: 0, waiting: 0 }
  learned.traits.set(name, trait)
  return trait
}

function settleTrait(learned: Learned, trait: Trait): void {
  trait.weight = weightAt(learned, trait, learned.clock)
  trait.at = Math.max(trait.at, learned.clock)
}

function settle(learned: Learned): void {
  for (const trait of learned.traits.values()) settleTrait(learned, trait)
}

function reinforce(
  learned: Learned,
  event: Event,
  signal: { preference: string; value: unknown },
  reasons: Reasons,
): void {
  const preference = preferenceOf(learned, signal.preference)
  if (!preference) return
  const trust = trustOf(event.trigger_event)
  const text = canonicalize(signal.value)
  const { candidates } = preference
  let chosen = candidates.find((candidate) => canonicalize(candidate.value) === text)
  if (!chosen) {
    // The least supported of too many gives way, never the one that holds.
    if (candidates.length >= learnedLimits.candidates) candidates.splice(weakest(candidates), 1)
    chosen = { value: signal.value, support: 0, count: 0 }
    candidates.push(chosen)
  }
  chosen.support += trust
  chosen.count++
  remember(preference, event)
  const held = candidates[0]
  const explicit = trust === explicitTrust
  if (explicit) Object.assign(preference, { pinned: true, against: 0, refusals: 0 })
  if (
    held &&
    chosen !== held &&
    (explicit || (!preference.pinned && chosen.support > held.support + preference.against))
  )
    putFirst(candidates, chosen)
  const because = candidates[0] === chosen ? 'for' : 'not enough against'
  reasons.set(preferencePath(signal.preference), `${event.trigger_event}: evidence ${because} the value that holds`)
}

function weaken(
  learned: Learned,
  event: Event,
  signal: { preference: string; value?: unknown },
  reasons: Reasons,
): void {
  const preference = learned.preferences.get(signal.preference)
  if (!preference) return
  const trust = trustOf(event.trigger_event)
  const text = signal.value === undefined ? undefined : canonicalize(signal.value)
  const held = preference.candidates[0]
  const target = text ? preference.candidates.find((candidate) => canonicalize(candidate.value) === text) : held
  if (!target) return
  remember(preference, event)
  if (target === held) {
    preference.against += trust
    preference.refusals++
    if (trust === explicitTrust) preference.pinned = false
  } else target.support = Math.max(0, target.support - trust)
  reasons.set(preferencePath(signal.preference), `${event.trigger_event}: evidence against`)
}

function preferenceOf(learned: Learned, name: string): Preference | undefined {
  const known = learned.preferences.get(name)
  if (known || learned.preferences.size >= learnedLimits.preferences) return known
  const preference: Preference = { candidates: [], pinned: false, against: 0, refusals: 0, evidence: [] }
  learned.preferences.set(name, preference)
  return preference
}

function remember(preference: Preference, event: Event): void {
  preference.evidence.push(event.id)
  if (preference.evidence.length > learnedLimits.evidence) preference.evidence.shift()
}

function weakest(candidates: Preference['candidates']): number {
  let at = candidates.length - 1
  for (let index = 1; index < candidates.length; index++)
    if (candidates[index]!.support < candidates[at]!.support) at = index
  return at
}

function putFirst(candidates: Preference['candidates'], chosen: Preference['candidates'][number]): void {
  candidates.splice(candidates.indexOf(chosen), 1)
  candidates.unshift(chosen)
}

function pin(learned: Learned, inputs: Extract<Inputs, { kind: 'pin' }>, reasons: Reasons): void {
  for (const name of inputs.traits) {
    const trait = traitOf(learned, name)
    if (!trait) continue
    settleTrait(learned, trait)
    trait.pinned = inputs.pinned
    reasons.set(weightPath(name), inputs.pinned ? 'pinned where it stands' : 'free to move and to decay again')
  }
}

function reset(learned: Learned, inputs: Extract<Inputs, { kind: 'reset' }>): void {
  const everything = inputs.traits.length + inputs.preferences.length === 0
  for (const name of everything ? [...learned.traits.keys()] : inputs.traits) learned.traits.delete(name)
  for (const name of everything ? [...learned.preferences.keys()] : inputs.preferences) learned.preferences.delete(name)
}

/** Switching off freezes the weights as they stand; the time until they are switched on again does not count. */
function changeSettings(learned: Learned, inputs: Extract<Inputs, { kind: 'settings' }>): void {
  settle(learned)
  learned.frozen = !inputs.enabled
  learned.sensitivity = inputs.sensitivity
}

function takeSnapshot(learned: Learned, event: Event, inputs: Extract<Inputs, { kind: 'snapshot' }>): void {
  for (const [name, weight] of Object.entries(inputs.weights)) {
    const trait = traitOf(learned, name)
    if (trait) Object.assign(trait, { weight: toMicro(Math.min(1, Math.max(-1, weight))), at: learned.clock })
  }
  for (const [name, value] of Object.entries(inputs.preferences)) {
    const preference = preferenceOf(learned, name)
    if (!preference) continue
    preference.candidates.splice(0, preference.candidates.length, { value, support: inferredTrust, count: 1 })
    remember(preference, event)
  }
}
