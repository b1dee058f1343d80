import { canonicalize } from '../../formats/formats.ts'
import { type Effect, type Learned, viewLearned } from './state.ts'

/** A reason for each path of a state that an event considered. */
export type Reasons = Map<string, string>

/**
 * The differences between two states at the time of the second, path by path. A path with a reason of its own is listed
 * where nothing moved too: a signal that changed nothing was still received.
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

/** The JSON Pointer of a trait's weight in the state. */
export function weightPath(name: string): string {
  return `/behavioral_weights/${escaped(name)}`
}

/** The JSON Pointer of a preference in the state. */
export function preferencePath(name: string): string {
  return `/learned_preferences/${escaped(name)}`
}

/** Escapes a name for a JSON Pointer (RFC 6901). */
function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}
