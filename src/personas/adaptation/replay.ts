import { yieldToEventLoop } from '../../process/process.ts'
import { differences, type Reasons } from './effects.ts'
import { reinforce, setPreference, weaken } from './preferences.ts'
import {
  type Effect,
  type Event,
  type Inputs,
  isReplayable,
  type Learned,
  nothingLearned,
  type Signal,
} from './state.ts'
import { decayAll, moveTrait, pin, setTrait } from './traits.ts'

/** The state that a log gives. Undone records, and the ones that undid them, have no effect. */
export function fold(log: readonly Event[]): Learned {
  const learned = nothingLearned()
  for (const event of counting(log)) play(learned, event)
  return learned
}

/** The same, yielding to the event loop every `signalsAtOnce` signals. */
export async function foldYielding(log: readonly Event[]): Promise<Learned> {
  const learned = nothingLearned()
  let signals = 0
  for (const event of counting(log)) {
    play(learned, event)
    signals += 1 + (event.inputs?.kind === 'signals' ? event.inputs.signals.length : 0)
    if (signals < signalsAtOnce) continue
    signals = 0
    await yieldToEventLoop()
  }
  return learned
}

/** Signals between two turns of the event loop: some milliseconds of work. */
const signalsAtOnce = 500

function counting(log: readonly Event[]): readonly Event[] {
  const undone = undoneBy(log)
  return log.filter(({ id }) => !undone.has(id))
}

/** The undone records of a log, each with the record that undid it. An undo can be undone; then its target counts again. */
export function undoneBy(log: readonly Event[]): ReadonlyMap<string, string> {
  const undone = new Map<string, string>()
  // From the newest: a record that undoes an undo stands after it.
  for (const event of log.toReversed())
    if (event.inputs?.kind === 'undo' && isReplayable(event) && !undone.has(event.id))
      undone.set(event.inputs.target, event.id)
  return undone
}

/** The state after one more record that is no undo, and its effects. The given state stays as it is. */
export function advance(
  learned: Learned,
  event: Event,
): { readonly learned: Learned; readonly effects: readonly Effect[] } {
  const next = structuredClone(learned)
  const reasons = play(next, event)
  return { learned: next, effects: differences(learned, next, reasons, event.trigger_event) }
}

/** Plays one event onto a state in place; returns a reason for each path that it considered. */
function play(learned: Learned, event: Event): Reasons {
  const reasons: Reasons = new Map()
  const { inputs } = event
  if (!inputs || !isReplayable(event) || event.status === 'proposed' || inputs.kind === 'undo') return reasons
  // A clock that was set back: no time has passed.
  learned.clock = Math.max(learned.clock, event.timestamp)
  if (inputs.kind === 'settings') changeSettings(learned, inputs)
  else if (inputs.kind === 'pin') pin(learned, inputs, reasons)
  else if (inputs.kind === 'reset') reset(learned, inputs)
  else if (inputs.kind === 'snapshot') restoreSnapshot(learned, event, inputs)
  else if (inputs.kind === 'decay') decayAll(learned)
  else if (inputs.kind === 'signals' && !learned.frozen) {
    learned.sensitivity = inputs.sensitivity
    for (const signal of inputs.signals) apply(learned, event, signal, reasons)
  }
  return reasons
}

function apply(learned: Learned, event: Event, signal: Signal, reasons: Reasons): void {
  if ('trait' in signal) moveTrait(learned, event, signal, reasons)
  else if ('remove' in signal) learned.preferences.delete(signal.preference)
  else if ('weaken' in signal) weaken(learned, event, signal, reasons)
  else reinforce(learned, event, signal, reasons)
}

function reset({ traits, preferences }: Learned, inputs: Extract<Inputs, { kind: 'reset' }>): void {
  const everything = inputs.traits.length + inputs.preferences.length === 0
  for (const name of everything ? [...traits.keys()] : inputs.traits) traits.delete(name)
  for (const name of everything ? [...preferences.keys()] : inputs.preferences) preferences.delete(name)
}

/** Disabling freezes the weights as they stand; the time until adaptation is enabled again does not count. */
function changeSettings(learned: Learned, inputs: Extract<Inputs, { kind: 'settings' }>): void {
  decayAll(learned)
  learned.frozen = !inputs.enabled
  learned.sensitivity = inputs.sensitivity
}

function restoreSnapshot(learned: Learned, event: Event, inputs: Extract<Inputs, { kind: 'snapshot' }>): void {
  for (const [name, weight] of Object.entries(inputs.weights)) setTrait(learned, name, weight)
  for (const [name, value] of Object.entries(inputs.preferences)) setPreference(learned, event, name, value)
}
