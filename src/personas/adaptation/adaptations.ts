import { AppError } from '../../errors.ts'
import type { Scope } from '../memory/memory.ts'
import { mutationSettingsOf, type Persona } from '../persona.ts'
import { openProposal, standing, undoable } from './answers.ts'
import { type AdaptationRecord, chainRecord, type LogHead, type UnchainedRecord } from './log.ts'
import { advance, differences, foldSlowly, undoneBy } from './replay.ts'
import { type AdaptationRequest, readRequest } from './request.ts'
import { algorithm } from './rules.ts'
import {
  type Effect,
  type Inputs,
  type Learned,
  type LearnedView,
  learnedLimits,
  type Signal,
  viewLearned,
} from './state.ts'

/** The specification's persona state, and what else is worth knowing about it. */
export interface PersonaState extends LearnedView {
  readonly persona_id: string
  readonly user_id: string
  /** Milliseconds since 1970 UTC; before the first change, the persona's creation. */
  readonly last_mutation: number
  /** False while the persona's settings refuse adaptation; the state is then frozen as it stands. */
  readonly enabled: boolean
  /** The number of records in the log. */
  readonly records: number
  /** The hash of the newest record. */
  readonly log_hash: string
}

/** A record as it is shown, with the record that undid it. */
export type RecordView = AdaptationRecord & { readonly undone_by?: string }

/** Where logs are kept; a cache of the state stands beside each, so that a chat need not replay. */
export interface AdaptationStore {
  /** The state at the end of the log, and that end. */
  read(scope: Scope): Promise<{ readonly learned: Learned; readonly head: LogHead }>
  /** Adds the next record with the state it leads to; false when another record was faster. */
  append(scope: Scope, record: AdaptationRecord, learned: Learned): Promise<boolean>
  /** The record that was written under a caller's key. */
  findByKey(scope: Scope, key: string): Promise<AdaptationRecord | undefined>
  /** The whole log, oldest first. */
  log(scope: Scope): Promise<readonly AdaptationRecord[]>
}

/** What chat has noticed, to be learned or proposed as the persona's settings say. */
export interface Observation {
  readonly trigger_event: string
  readonly signals: readonly Signal[]
  /** The same observation twice, such as a repeated request, counts once. */
  readonly idempotency_key?: string
}

export interface Adaptation {
  state(persona: Persona): Promise<PersonaState>
  /** Newest first. */
  log(
    persona: Persona,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly records: readonly RecordView[]; readonly total: number }>
  /** Carries out a request. Throws `invalid` when it makes no sense or adaptation is switched off, `not_found` for an unknown record. */
  adapt(
    persona: Persona,
    request: AdaptationRequest,
  ): Promise<{ readonly state: PersonaState; readonly record: RecordView }>
  /** What chat noticed by itself: learned, proposed, or ignored, as the settings say. */
  observe(persona: Persona, observation: Observation): Promise<RecordView | undefined>
  /** Records that the persona's mutation settings are others now: switching off freezes the state at this moment. */
  settingsChanged(before: Persona, after: Persona): Promise<void>
}

export interface AdaptationParts {
  readonly store: AdaptationStore
  readonly now: () => number
  readonly newId: () => string
}

/** Learning that one can see and undo. */
export function createAdaptation({ store, now, newId }: AdaptationParts): Adaptation {
  return { state, log, adapt, observe, settingsChanged }

  async function state(persona: Persona): Promise<PersonaState> {
    const { learned, head } = await store.read(scopeOf(persona))
    return viewState(persona, learned, head, now())
  }

  async function log(persona: Persona, page: { readonly limit: number; readonly offset: number }) {
    const records = await store.log(scopeOf(persona))
    const undone = undoneBy(records)
    const shown = records.toReversed().slice(page.offset, page.offset + page.limit)
    return { records: shown.map((record) => viewRecord(record, undone)), total: records.length }
  }

  async function adapt(persona: Persona, request: AdaptationRequest) {
    if (isSwitchedOff(persona))
      throw new AppError(
        'invalid',
        `Adaptation is switched off for the persona "${persona.name}"; its state is frozen`,
        {
          details: ['Switch it on with mutation_settings.enabled: true'],
        },
      )
    const wish = readRequest(request, mutationSettingsOf(persona).sensitivity)
    const { idempotency_key, adaptation_type, trigger_event } = request
    return write(persona, { adaptation_type, trigger_event, actor: 'user', idempotency_key }, async (learned) => {
      if (learned.frozen) return { inputs: switchedOn(persona), again: true }
      if (wish.kind === 'inputs') return { inputs: wish.inputs }
      const records = await store.log(scopeOf(persona))
      const target = standing(records, wish.record)
      if (wish.kind === 'undo') return { inputs: { kind: 'undo', target: undoable(target).id }, log: records }
      const proposal = openProposal(records, target)
      if (wish.kind === 'decline') return { inputs: { kind: 'decline', target: proposal.id } }
      return { inputs: { ...proposal.inputs, accepts: proposal.id } }
    })
  }

  async function observe(persona: Persona, observation: Observation): Promise<RecordView | undefined> {
    const settings = mutationSettingsOf(persona)
    if (!settings.enabled || observation.signals.length === 0) return undefined
    const { trigger_event, idempotency_key, signals } = observation
    const { record } = await write(
      persona,
      {
        adaptation_type: 'trait' in signals[0]! ? 'weight_adjusted' : 'preference_reinforced',
        trigger_event,
        actor: 'chat',
        status: settings.auto_adapt ? 'applied' : 'proposed',
        idempotency_key,
      },
      async (learned) =>
        learned.frozen
          ? { inputs: switchedOn(persona), again: true }
          : { inputs: { kind: 'signals', sensitivity: settings.sensitivity, signals } },
    )
    return record
  }

  async function settingsChanged(before: Persona, after: Persona): Promise<void> {
    const [old, fresh] = [mutationSettingsOf(before), mutationSettingsOf(after)]
    if (isSwitchedOff(before) === isSwitchedOff(after) && old.sensitivity === fresh.sensitivity) return
    const { learned, head } = await store.read(scopeOf(after))
    // Nothing was learned yet: there is nothing to freeze, and every record says its own sensitivity.
    if (head.sequence === 0 && learned.traits.size === 0) return
    await write(
      after,
      { adaptation_type: 'settings_changed', trigger_event: settingsTrigger(before, after), actor: 'system' },
      async () => ({
        inputs: { kind: 'settings', enabled: !isSwitchedOff(after), sensitivity: fresh.sensitivity },
      }),
    )
  }

  /** Writes the record that `decide` makes of the state as it is; when another was faster, decides again on the new one. */
  async function write(
    persona: Persona,
    about: About,
    decide: Decide,
  ): Promise<{ state: PersonaState; record: RecordView }> {
    const scope = scopeOf(persona)
    for (let attempt = 0; attempt < 20; attempt++) {
      const earlier = about.idempotency_key && (await store.findByKey(scope, about.idempotency_key))
      if (earlier) return { record: earlier, state: await state(persona) }
      const { learned, head } = await store.read(scope)
      const { inputs, log, again } = await decide(learned)
      refuseTooMany(learned, inputs)
      const opened = opening(persona, again ? { ...settingsRecord } : about, inputs)
      const next = await outcome(learned, opened, log)
      refuseTooLarge(learned, next.learned)
      const record = chainRecord({ ...opened, changes: next.effects }, head)
      if (!(await store.append(scope, record, next.learned))) continue
      if (again) continue
      return { record, state: viewState(persona, next.learned, record, now()) }
    }
    throw new AppError('busy', 'The persona is being changed by others at the same time', { retryAfter: 1 })
  }

  function opening(persona: Persona, about: About, inputs: Inputs): UnchainedRecord & { readonly id: string } {
    return {
      id: newId(),
      persona_id: persona.id,
      user_id: persona.user_id,
      adaptation_type: about.adaptation_type,
      trigger_event: about.trigger_event,
      timestamp: now(),
      status: about.status ?? 'applied',
      actor: about.actor,
      algorithm,
      inputs,
      changes: [],
      ...(about.idempotency_key !== undefined && { idempotency_key: about.idempotency_key }),
    }
  }

  function switchedOn(persona: Persona): Inputs {
    return { kind: 'settings', enabled: true, sensitivity: mutationSettingsOf(persona).sensitivity }
  }
}

interface About {
  readonly adaptation_type: string
  readonly trigger_event: string
  readonly actor: 'user' | 'chat' | 'system'
  readonly status?: 'applied' | 'proposed'
  readonly idempotency_key?: string | undefined
}

/** Inputs for one record; `log` when the state has to be replayed; `again` when the wish itself comes after this record. */
type Decide = (learned: Learned) => Promise<{
  readonly inputs: Inputs
  readonly log?: readonly AdaptationRecord[]
  readonly again?: boolean
}>

const settingsRecord: About = { adaptation_type: 'settings_changed', trigger_event: 'user_edit', actor: 'system' }

function settingsTrigger(before: Persona, after: Persona): string {
  return isSwitchedOff(before) === isSwitchedOff(after) ? 'sensitivity_changed' : 'user_edit'
}

/** Only an explicit `false` refuses: absent settings switch off what chat does by itself, not what one asks for. */
function isSwitchedOff(persona: Persona): boolean {
  return persona.mutation_settings?.enabled === false
}

function scopeOf(persona: Persona): Scope {
  return { personaId: persona.id, userId: persona.user_id }
}

function viewState(persona: Persona, learned: Learned, head: LogHead, now: number): PersonaState {
  const off = isSwitchedOff(persona)
  // Switched off by somebody who wrote no record of it: the persona cannot have changed later than this.
  const at = off && !learned.frozen ? Math.max(learned.clock, Math.min(now, persona.updated_at)) : now
  // Before the first record nothing says with which sensitivity the persona learns but its settings.
  const { sensitivity } = head.sequence === 0 ? mutationSettingsOf(persona) : learned
  return {
    persona_id: persona.id,
    user_id: persona.user_id,
    ...viewLearned({ ...learned, sensitivity }, at),
    frozen: off,
    enabled: !off,
    last_mutation: learned.clock || persona.created_at,
    records: head.sequence,
    log_hash: head.hash,
  }
}

function viewRecord(record: AdaptationRecord, undone: ReadonlyMap<string, string>): RecordView {
  const by = undone.get(record.id)
  return by === undefined ? record : { ...record, undone_by: by }
}

interface Outcome {
  readonly learned: Learned
  readonly effects: readonly Effect[]
}

/** What a record leads to. A proposal leads nowhere yet: its effects say what accepting it would change. */
async function outcome(learned: Learned, record: UnchainedRecord, log?: readonly AdaptationRecord[]): Promise<Outcome> {
  if (log) return undoing(log, record)
  if (record.status !== 'proposed') return advance(learned, record)
  return { learned, effects: advance(learned, { ...record, status: 'applied', actor: 'user' }).effects }
}

/** The state with one record of the log taken out again, and what that changed. */
async function undoing(log: readonly AdaptationRecord[], undo: UnchainedRecord): Promise<Outcome> {
  const learned = await foldSlowly([...log, undo])
  return {
    learned,
    effects: differences(await foldSlowly(log), learned, new Map(), 'replayed without the undone record'),
  }
}

function refuseTooMany(learned: Learned, inputs: Inputs): void {
  if (inputs.kind !== 'signals') return
  const traits = new Set([
    ...learned.traits.keys(),
    ...inputs.signals.flatMap((signal) => ('trait' in signal ? [signal.trait] : [])),
  ])
  const preferences = new Set([
    ...learned.preferences.keys(),
    ...inputs.signals.flatMap((signal) => ('preference' in signal && 'value' in signal ? [signal.preference] : [])),
  ])
  const problems = [
    ...(traits.size > learnedLimits.traits ? [`at most ${learnedLimits.traits} traits`] : []),
    ...(preferences.size > learnedLimits.preferences ? [`at most ${learnedLimits.preferences} preferences`] : []),
  ]
  if (problems.length > 0)
    throw new AppError('invalid', 'A persona cannot learn that many things', { details: problems })
}

/** A state that was larger already, as one of an import may be, may become smaller. */
function refuseTooLarge(before: Learned, after: Learned): void {
  const size = sizeOf(after)
  if (size > learnedLimits.characters && size > sizeOf(before))
    throw new AppError('invalid', 'A persona cannot learn that much', {
      details: [`at most ${learnedLimits.characters.toLocaleString('en')} characters of state as JSON`],
    })
}

/** Characters of a state as JSON, about. */
function sizeOf({ traits, preferences }: Learned): number {
  return JSON.stringify([[...traits], [...preferences]]).length
}
