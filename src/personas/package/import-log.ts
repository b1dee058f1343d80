import { damaged } from '../../formats/formats.ts'
import { collectYielding } from '../../process/process.ts'
import {
  type AdaptationRecord,
  chainRecord,
  emptyLog,
  headOf,
  isOwnLog,
  type LogHead,
  relabelled,
  type UnchainedRecord,
} from '../adaptation/log.ts'
import { fold } from '../adaptation/replay.ts'
import { algorithm } from '../adaptation/rules.ts'
import { type Inputs, learnedLimits, nothingLearned } from '../adaptation/state.ts'
import { type Fields, isFields } from '../fields.ts'
import type { Scope } from '../memory/memory.ts'
import { isChained, isName, isValue } from './records.ts'
import type { PackageSource } from './source.ts'

/** The clock, the ids and the signal of one import. */
export interface LogImportParts {
  readonly now: number
  readonly newId: () => string
  readonly signal?: AbortSignal | undefined
}

/** A log and the state that it gives. */
export type IncomingLog = Awaited<ReturnType<typeof incomingLog>>

/**
 * The log of a package as the log of `scope`, and the state that it gives. A log of aichat is chained anew under new ids.
 * One of another program is kept as history, which moves nothing; its state becomes one record.
 */
export async function incomingLog(source: PackageSource, scope: Scope, parts: LogImportParts) {
  const log = await collectYielding(source.log(), parts.signal)
  if (log.length > 0 && log.every(isChained) && isOwnLog(log)) {
    const records = await collectYielding(relabelled(log, scope, parts.newId), parts.signal)
    return { records, learned: fold(records) }
  }
  const records = await collectYielding(foreignLog(log, source.head.state, scope, parts), parts.signal)
  return { records, learned: records.length > 0 ? fold(records) : nothingLearned() }
}

/** The records as they are, for a restore. */
export async function restoredLog(source: PackageSource, signal?: AbortSignal): Promise<IncomingLog> {
  const log = await collectYielding(source.log(), signal)
  if (!log.every(isChained)) throw damaged('The log of the package is not one chain')
  return { records: log, learned: fold(log) }
}

function* foreignLog(
  log: readonly Fields[],
  state: Fields,
  scope: Scope,
  parts: LogImportParts,
): Generator<AdaptationRecord> {
  let head: LogHead = emptyLog
  const chained = (record: UnchainedRecord) => {
    const next = chainRecord(record, head)
    head = headOf(next)
    return next
  }
  const owner = { persona_id: scope.personaId, user_id: scope.userId }
  for (const record of log) yield chained({ ...history(record), ...owner, id: parts.newId() })
  const inputs = snapshotOf(state)
  if (inputs)
    yield chained({
      id: parts.newId(),
      ...owner,
      timestamp: parts.now,
      adaptation_type: 'checkpoint',
      trigger_event: 'persona_import',
      actor: 'system',
      status: 'applied',
      algorithm,
      inputs,
      changes: [],
    })
}

/** A record of another program: its specified fields, with all others under `original`. */
function history(record: Fields) {
  const {
    id,
    persona_id: _persona,
    user_id: _user,
    adaptation_type,
    trigger_event,
    changes,
    timestamp,
    original,
    ...rest
  } = record
  const known = { adaptation_type, trigger_event, changes, timestamp } as Pick<
    AdaptationRecord,
    'adaptation_type' | 'trigger_event' | 'changes' | 'timestamp'
  >
  return { ...known, original: isFields(original) ? original : { id, ...rest } }
}

/** The learned part of a foreign state; undefined when none of it can be imported. */
function snapshotOf(state: Fields): Extract<Inputs, { kind: 'snapshot' }> | undefined {
  const weights = Object.entries(fieldsIn(state, 'behavioral_weights')).filter(
    (entry): entry is [string, number] => isName(entry[0]) && Number.isFinite(entry[1]),
  )
  const preferences = Object.entries(fieldsIn(state, 'learned_preferences'))
    .map(([name, held]) => [name, isFields(held) && 'confidence' in held ? held['value'] : held] as const)
    .filter(([name, value]) => isName(name) && isValue(value))
  if (weights.length + preferences.length === 0) return undefined
  // Cut here, the strongest first: a replay would keep those that it reads first. JavaScript's sort is stable.
  const strongest = [...weights].sort(([, left], [, right]) => Math.abs(right) - Math.abs(left))
  return {
    kind: 'snapshot',
    weights: Object.fromEntries(strongest.slice(0, learnedLimits.traits)),
    preferences: Object.fromEntries(preferences.slice(0, learnedLimits.preferences)),
  }
}

function fieldsIn(fields: Fields, name: string): Fields {
  return isFields(fields[name]) ? fields[name] : {}
}
