import { AppError } from '../../errors.ts'
import { type Inputs, type Learned, learnedLimits } from './state.ts'

/** Throws `invalid` for signals that would give a persona more traits or preferences than `learnedLimits`. */
export function refuseTooMany(learned: Learned, inputs: Inputs): void {
  if (inputs.kind !== 'signals') return
  const traits = new Set(learned.traits.keys())
  const preferences = new Set(learned.preferences.keys())
  for (const signal of inputs.signals) {
    if ('trait' in signal) traits.add(signal.trait)
    else if ('value' in signal) preferences.add(signal.preference)
  }
  const problems = [
    ...(traits.size > learnedLimits.traits ? [`at most ${learnedLimits.traits} traits`] : []),
    ...(preferences.size > learnedLimits.preferences ? [`at most ${learnedLimits.preferences} preferences`] : []),
  ]
  if (problems.length > 0)
    throw new AppError('invalid', 'A persona cannot learn that many things', { details: problems })
}

/** Throws `invalid` for a state over the limit that grew; an imported one that was larger already may shrink. */
export function refuseTooLarge(before: Learned, after: Learned): void {
  const size = sizeOf(after)
  if (size > learnedLimits.characters && size > sizeOf(before))
    throw new AppError('invalid', 'A persona cannot learn that much', {
      details: [`at most ${learnedLimits.characters.toLocaleString('en')} characters of state as JSON`],
    })
}

/** The approximate size of a state: characters of JSON. */
function sizeOf({ traits, preferences }: Learned): number {
  return JSON.stringify([[...traits], [...preferences]]).length
}
