import * as fresh from '../speech/text/stage-directions/fresh.ts'
import * as last from '../speech/text/stage-directions/last.ts'
import { asides, directions, heldOutAsides, heldOutDirections } from '../speech/text/stage-directions/lists.ts'
import { half, lost, positions, spoken } from '../speech/text/stage-directions/measure.ts'
import * as unseen from '../speech/text/stage-directions/unseen.ts'
import { print } from './parts/figures.ts'

/**
 * How many stage directions are removed before speech, in percent, and how many asides lose a word, by the place in the
 * sentence: before it, inside, before its full stop, behind it.
 *
 * At first sight, before the rules were changed for a list: `fresh` 66, 43, 43 and 66 % removed, 1 of 160 asides lost;
 * `last`, phrases of other writers, 72 % at each place (43 of 60), none of 60 asides lost. Of `fresh` only the half that is
 * in sight and of `last` all items were then used to widen the rules; the other half of `fresh` was
 * counted while the rules were widened, and two of its items were known to their writer: its figure is optimistic.
 */
export async function bench(): Promise<void> {
  const bracketed = (list: readonly string[]) => list.map((inside) => `(${inside})`)
  const sets = {
    'own lists': [bracketed([...directions, ...heldOutDirections]), bracketed([...asides, ...heldOutAsides])],
    'fresh, in sight': [half(fresh.directions, 0), half(fresh.asides, 0)],
    'fresh, held out': [half(fresh.directions, 1), half(fresh.asides, 1)],
    'last, used since': [last.directions, last.asides],
    'unseen, first': [unseen.firstDirections, unseen.firstAsides],
    'unseen, second': [unseen.secondDirections, unseen.secondAsides],
  } as const
  print(`${'list'.padEnd(18)}${positions.map((position) => position.padStart(9)).join('')}   asides lost, at most`)
  for (const [name, [told, others]] of Object.entries(sets)) {
    const removed = positions.map((position) => 100 - (100 * spoken(told, position).length) / told.length)
    const gone = Math.max(...positions.map((position) => lost(others, position).length))
    print(
      `${name.padEnd(18)}${removed.map((share) => share.toFixed(1).padStart(9)).join('')}   ${gone} of ${others.length}`,
    )
  }
}
