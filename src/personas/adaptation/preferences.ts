import { canonicalize } from '../../formats/formats.ts'
import { preferencePath, type Reasons } from './effects.ts'
import { explicitTrust, inferredTrust, trustOf } from './rules.ts'
import { type Candidate, type Event, type Learned, learnedLimits, type Preference } from './state.ts'

/** Counts evidence for a value of a preference. The value with the most support holds, an explicit one always. */
export function reinforce(
  learned: Learned,
  event: Event,
  signal: { readonly preference: string; readonly value: unknown },
  reasons: Reasons,
): void {
  const preference = preferenceOf(learned, signal.preference)
  if (!preference) return
  const trust = trustOf(event.trigger_event)
  const { candidates } = preference
  let chosen = candidateOf(preference, signal.value)
  if (!chosen) {
    // Eviction: the least supported candidate, never the one that holds.
    if (candidates.length >= learnedLimits.candidates) candidates.splice(weakest(candidates), 1)
    chosen = { value: signal.value, support: 0, count: 0 }
    candidates.push(chosen)
  }
  chosen.support += trust
  chosen.count++
  addEvidence(preference, event)
  const held = candidates[0]!
  const explicit = trust === explicitTrust
  if (explicit) Object.assign(preference, { pinned: true, against: 0, refusals: 0 })
  const overtakes = explicit || (!preference.pinned && chosen.support > held.support + preference.against)
  if (chosen !== held && overtakes) {
    candidates.splice(candidates.indexOf(chosen), 1)
    candidates.unshift(chosen)
  }
  const because = candidates[0] === chosen ? 'for' : 'not enough against'
  reasons.set(preferencePath(signal.preference), `${event.trigger_event}: evidence ${because} the value that holds`)
}

/** Counts evidence against a value of a preference, without one against the value that holds. */
export function weaken(
  learned: Learned,
  event: Event,
  signal: { readonly preference: string; readonly value?: unknown },
  reasons: Reasons,
): void {
  const preference = learned.preferences.get(signal.preference)
  if (!preference) return
  const trust = trustOf(event.trigger_event)
  const held = preference.candidates[0]
  const target = signal.value === undefined ? held : candidateOf(preference, signal.value)
  if (!target) return
  addEvidence(preference, event)
  if (target === held) {
    preference.against += trust
    preference.refusals++
    if (trust === explicitTrust) preference.pinned = false
  } else target.support = Math.max(0, target.support - trust)
  reasons.set(preferencePath(signal.preference), `${event.trigger_event}: evidence against`)
}

/** Replaces all candidates of a preference by one value, observed once. */
export function setPreference(learned: Learned, event: Event, name: string, value: unknown): void {
  const preference = preferenceOf(learned, name)
  if (!preference) return
  preference.candidates.splice(0, preference.candidates.length, { value, support: inferredTrust, count: 1 })
  addEvidence(preference, event)
}

/** The preference of that name, a new one where there is none; undefined when there are too many. */
function preferenceOf(learned: Learned, name: string): Preference | undefined {
  const known = learned.preferences.get(name)
  if (known || learned.preferences.size >= learnedLimits.preferences) return known
  const preference: Preference = { candidates: [], pinned: false, against: 0, refusals: 0, evidence: [] }
  learned.preferences.set(name, preference)
  return preference
}

function candidateOf({ candidates }: Preference, value: unknown): Candidate | undefined {
  const text = canonicalize(value)
  return candidates.find((candidate) => canonicalize(candidate.value) === text)
}

function addEvidence(preference: Preference, event: Event): void {
  preference.evidence.push(event.id)
  if (preference.evidence.length > learnedLimits.evidence) preference.evidence.shift()
}

function weakest(candidates: readonly Candidate[]): number {
  let at = candidates.length - 1
  for (let index = 1; index < candidates.length; index++)
    if (candidates[index]!.support < candidates[at]!.support) at = index
  return at
}
