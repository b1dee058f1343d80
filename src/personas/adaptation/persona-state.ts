import { mutationSettingsOf, type Persona } from '../persona.ts'
import type { AdaptationRecord, LogHead } from './log.ts'
import { type Learned, type LearnedView, viewLearned } from './state.ts'

/** The specification's persona state, with the end of its log. */
export interface PersonaState extends LearnedView {
  readonly persona_id: string
  readonly user_id: string
  /** Milliseconds since 1970 UTC; before the first change, the persona's creation. */
  readonly last_mutation: number
  /** False while the persona's settings refuse adaptation; the state is then frozen as it stands. */
  readonly enabled: boolean
  readonly records: number
  /** The hash of the newest record. */
  readonly log_hash: string
}

/** A record of the log with the id of the record that undid it. */
export type RecordView = AdaptationRecord & { readonly undone_by?: string }

/** True for an explicit `false` only: absent settings disable adaptation by chat, not by request. */
export function isDisabled(persona: Persona): boolean {
  return persona.mutation_settings?.enabled === false
}

/** The state of a persona at a time. */
export function viewState(persona: Persona, learned: Learned, head: LogHead, now: number): PersonaState {
  const disabled = isDisabled(persona)
  // Disabled without a record of it, by an older version: the state cannot have changed after the persona did.
  const at = disabled && !learned.frozen ? Math.max(learned.clock, Math.min(now, persona.updated_at)) : now
  // Before the first record only the settings name a sensitivity.
  const { sensitivity } = head.sequence === 0 ? mutationSettingsOf(persona) : learned
  return {
    persona_id: persona.id,
    user_id: persona.user_id,
    ...viewLearned({ ...learned, sensitivity }, at),
    frozen: disabled,
    enabled: !disabled,
    last_mutation: learned.clock || persona.created_at,
    records: head.sequence,
    log_hash: head.hash,
  }
}

/** A record with the id of the record that undid it, by `undone`. */
export function viewRecord(record: AdaptationRecord, undone: ReadonlyMap<string, string>): RecordView {
  const by = undone.get(record.id)
  return by === undefined ? record : { ...record, undone_by: by }
}
