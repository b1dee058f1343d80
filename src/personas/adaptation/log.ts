import { createHash } from 'node:crypto'
import { canonicalize } from '../../formats/formats.ts'
import { type Effect, type Event, type Inputs, isReplayable } from './state.ts'

/** One record of the log: the specification's fields, its inputs, its place in the hash chain. Never changed. */
export interface AdaptationRecord extends Event {
  readonly persona_id: string
  readonly user_id: string
  readonly adaptation_type: string
  /** Its effects when it was written. A record of another program has its own shape here. */
  readonly changes: readonly Effect[] | unknown
  /** 1, 2, 3… */
  readonly sequence: number
  readonly idempotency_key?: string
  /** The hash of the record before; `''` for the first. */
  readonly prev_hash: string
  /** SHA-256 (hex) of the canonical record without this, `persona_id` and `user_id`, which may change. */
  readonly hash: string
}

/** The end of a log, to which the next record is chained. */
export type LogHead = ReturnType<typeof headOf>

export const emptyLog: LogHead = { sequence: 0, hash: '' }

/** A record before it has a place in a log; unknown fields are passthrough. */
export type UnchainedRecord = Omit<AdaptationRecord, 'sequence' | 'prev_hash' | 'hash'> &
  Readonly<Record<string, unknown>>

/** Gives a record its place after a head, and its hash. */
export function chainRecord(record: UnchainedRecord, head: LogHead): AdaptationRecord {
  const chained = { ...record, sequence: head.sequence + 1, prev_hash: head.hash }
  return { ...chained, hash: hashOf(chained) }
}

export function headOf(record: AdaptationRecord) {
  return { sequence: record.sequence, hash: record.hash }
}

/**
 * Checks the chain of a log, one record at a time in order: `check` returns the problem of a record, undefined for none.
 */
export function chainCheck(): { check(record: AdaptationRecord): string | undefined } {
  let head = emptyLog
  return {
    check(record) {
      const { hash, ...rest } = record
      const expected = head
      head = { sequence: expected.sequence + 1, hash }
      if (record.sequence !== expected.sequence + 1)
        return `has number ${record.sequence} where ${expected.sequence + 1} comes`
      if (record.prev_hash !== expected.hash) return 'does not follow the record before it'
      if (hashOf(rest) !== hash) return 'does not match its hash'
      return undefined
    },
  }
}

/**
 * The same log for another persona and under new ids, chained anew. References between records are renamed with them; a
 * reference to a record that is not in the log keeps its id, which then means nothing.
 */
export function* relabelled(
  log: readonly AdaptationRecord[],
  scope: { readonly personaId: string; readonly userId: string },
  newId: () => string,
): Generator<AdaptationRecord> {
  const ids = new Map(log.map((record) => [record.id, newId()]))
  let head = emptyLog
  for (const record of log) {
    const { sequence: _sequence, prev_hash: _previous, hash: _hash, ...rest } = record
    const renamed = chainRecord(
      {
        ...rest,
        id: ids.get(record.id)!,
        persona_id: scope.personaId,
        user_id: scope.userId,
        ...(record.inputs && { inputs: renamedInputs(record.inputs, ids) }),
      },
      head,
    )
    head = headOf(renamed)
    yield renamed
  }
}

/** Whether a chained log can be replayed here: each record has a known algorithm, or none (imported history). */
export function isOwnLog(chain: readonly Event[]): boolean {
  return chain.every((event) => event.algorithm === undefined || isReplayable(event))
}

function renamedInputs(inputs: Inputs, ids: ReadonlyMap<string, string>): Inputs {
  if (inputs.kind === 'undo' || inputs.kind === 'decline')
    return { ...inputs, target: ids.get(inputs.target) ?? inputs.target }
  if (inputs.kind === 'signals' && inputs.accepts !== undefined)
    return { ...inputs, accepts: ids.get(inputs.accepts) ?? inputs.accepts }
  return inputs
}

function hashOf(record: Readonly<Record<string, unknown>>): string {
  const { persona_id: _persona, user_id: _user, ...content } = record
  return createHash('sha256').update(canonicalize(content)).digest('hex')
}
