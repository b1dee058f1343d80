import { AppError } from '../../errors.ts'
import type { AdaptationRecord } from './log.ts'
import { undoneBy } from './replay.ts'
import { type Inputs, isReplayable } from './state.ts'

/** The record of that id. Throws `not_found` for an unknown and `invalid` for an undone one. */
export function standing(log: readonly AdaptationRecord[], id: string): AdaptationRecord {
  const record = log.find((candidate) => candidate.id === id)
  if (!record) throw new AppError('not_found', `Record "${id}" not found in the log of this persona`)
  const by = undoneBy(log).get(id)
  if (by !== undefined)
    throw new AppError('invalid', `The record ${id} is undone already`, {
      details: [`by ${by}; undo that one to bring it back`],
    })
  return record
}

/** Throws `invalid` for a record that moves nothing. */
export function undoable(record: AdaptationRecord): AdaptationRecord {
  if (!isReplayable(record))
    throw new AppError(
      'invalid',
      `The record ${record.id} is history from another program: it moves nothing that could be undone`,
    )
  return record
}

/** The record as an unanswered proposal. Throws `invalid` for any other. */
export function openProposal(
  log: readonly AdaptationRecord[],
  record: AdaptationRecord,
): AdaptationRecord & { readonly inputs: Extract<Inputs, { kind: 'signals' }> } {
  const { inputs } = record
  if (record.status !== 'proposed' || inputs?.kind !== 'signals')
    throw new AppError('invalid', `The record ${record.id} is not a proposal`)
  const undone = undoneBy(log)
  const answer = log.find((later) => !undone.has(later.id) && answers(later.inputs, record.id))
  if (answer) throw new AppError('invalid', `The proposal ${record.id} was answered by ${answer.id}`)
  return { ...record, inputs }
}

function answers(inputs: Inputs | undefined, id: string): boolean {
  return (inputs?.kind === 'decline' && inputs.target === id) || (inputs?.kind === 'signals' && inputs.accepts === id)
}
