import { AppError } from '../../errors.ts'
import type { Scope } from '../memory/memory.ts'
import { mutationSettingsOf, type Persona, scopeOf } from '../persona.ts'
import { differences } from './effects.ts'
import { type AdaptationRecord, chainRecord, type LogHead, type UnchainedRecord } from './log.ts'
import { isDisabled, type PersonaState, type RecordView, viewRecord, viewState } from './persona-state.ts'
import { advance, foldYielding, undoneBy } from './replay.ts'
import { type AdaptationRequest, readRequest } from './request.ts'
import { algorithm } from './rules.ts'
import { type Effect, type Inputs, isReplayable, type Learned, learnedLimits, type Signal } from './state.ts'

/** Stores logs, each with a cache of the state that it gives, so that a chat need not replay. */
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

/** Signals that chat observed, to be applied or proposed as the persona's settings say. */
export interface Observation {
  readonly trigger_event: string
  readonly signals: readonly Signal[]
  /** The same key twice, as of a repeated request, counts once. */
  readonly idempotency_key?: string
}

export type Adaptation = ReturnType<typeof createAdaptation>

export interface AdaptationParts {
  readonly store: AdaptationStore
  readonly now: () => number
  readonly newId: () => string
}

/** The most personas whose state is kept in memory: those that are talked to. */
const mostKept = 64

/** Adaptation: every step is logged and can be undone. */
export function createAdaptation({ store, now, newId }: AdaptationParts) {
  /** By persona, the one that was asked for last at the end. */
  const kept = new Map<string, Awaited<ReturnType<AdaptationStore['read']>>>()
  return { state, log, adapt, observe, settingsChanged }

  /** @param hash of the end of the log, where the caller has just read it: a state that is kept for it is not read again */
  async function state(persona: Persona, hash?: string): Promise<PersonaState> {
    const known = kept.get(persona.id)
    const found = known && known.head.hash === hash ? known : await store.read(scopeOf(persona))
    kept.delete(persona.id)
    kept.set(persona.id, found)
    if (kept.size > mostKept) kept.delete(kept.keys().next().value!)
    return viewState(persona, found.learned, found.head, now())
  }

  /** Newest first. */
  async function log(persona: Persona, page: { readonly limit: number; readonly offset: number }) {
    const records = await store.log(scopeOf(persona))
    const undone = undoneBy(records)
    const shown = records.toReversed().slice(page.offset, page.offset + page.limit)
    return { records: shown.map((record) => viewRecord(record, undone)), total: records.length }
  }

  /** Performs a request. Throws `invalid` for one without effect or while adaptation is disabled, `not_found` for an unknown record. */
  async function adapt(persona: Persona, request: AdaptationRequest) {
    if (isDisabled(persona))
      throw new AppError(
        'invalid',
        `Adaptation is switched off for the persona "${persona.name}"; its state is frozen`,
        { details: ['Switch it on with mutation_settings.enabled: true'] },
      )
    const requested = readRequest(request, mutationSettingsOf(persona).sensitivity)
    const { idempotency_key, adaptation_type, trigger_event } = request
    return write(persona, { adaptation_type, trigger_event, actor: 'user', idempotency_key }, async (learned) => {
      if (learned.frozen) return enabling(persona)
      if (requested.kind === 'inputs') return { inputs: requested.inputs }
      const records = await store.log(scopeOf(persona))
      const target = standing(records, requested.record)
      if (requested.kind === 'undo') return { inputs: { kind: 'undo', target: undoable(target).id }, log: records }
      const proposal = openProposal(records, target)
      if (requested.kind === 'decline') return { inputs: { kind: 'decline', target: proposal.id } }
      return { inputs: { ...proposal.inputs, accepts: proposal.id } }
    })
  }

  /** Applies, proposes or ignores an observation of chat, as the settings say. */
  async function observe(persona: Persona, observation: Observation): Promise<RecordView | undefined> {
    const { enabled, auto_adapt, sensitivity } = mutationSettingsOf(persona)
    const { trigger_event, idempotency_key, signals } = observation
    const [first] = signals
    if (!enabled || !first) return undefined
    const about: About = {
      adaptation_type: 'trait' in first ? 'weight_adjusted' : 'preference_reinforced',
      trigger_event,
      actor: 'chat',
      status: auto_adapt ? 'applied' : 'proposed',
      idempotency_key,
    }
    const { record } = await write(persona, about, async (learned) =>
      learned.frozen ? enabling(persona) : { inputs: { kind: 'signals', sensitivity, signals } },
    )
    return record
  }

  /** Records changed mutation settings: disabling freezes the state at this moment. */
  async function settingsChanged(before: Persona, after: Persona): Promise<void> {
    const { sensitivity } = mutationSettingsOf(after)
    const isSwitched = isDisabled(before) !== isDisabled(after)
    if (!isSwitched && mutationSettingsOf(before).sensitivity === sensitivity) return
    const { learned, head } = await store.read(scopeOf(after))
    // Nothing learned, nothing to freeze; and every record carries its own sensitivity.
    if (head.sequence === 0 && learned.traits.size === 0) return
    const trigger_event = isSwitched ? settingsRecord.trigger_event : 'sensitivity_changed'
    await write(after, { ...settingsRecord, trigger_event }, async () => ({
      inputs: { kind: 'settings', enabled: !isDisabled(after), sensitivity },
    }))
  }

  /** Writes the record that `decide` makes of the current state; decides again when another record was faster. */
  async function write(
    persona: Persona,
    about: About,
    decide: (learned: Learned) => Promise<Decision>,
  ): Promise<{ state: PersonaState; record: RecordView }> {
    const scope = scopeOf(persona)
    for (let attempt = 0; attempt < 20; attempt++) {
      const earlier = about.idempotency_key && (await store.findByKey(scope, about.idempotency_key))
      if (earlier) return { record: earlier, state: await state(persona) }
      const { learned, head } = await store.read(scope)
      const { inputs, log, again } = await decide(learned)
      refuseTooMany(learned, inputs)
      const unchained = unchainedRecord(persona, again ? settingsRecord : about, inputs)
      const next = await outcome(learned, unchained, log)
      refuseTooLarge(learned, next.learned)
      const record = chainRecord({ ...unchained, changes: next.effects }, head)
      if (!(await store.append(scope, record, next.learned)) || again) continue
      return { record, state: viewState(persona, next.learned, record, now()) }
    }
    throw new AppError('busy', 'The persona is being changed by others at the same time', { retryAfter: 1 })
  }

  function unchainedRecord(persona: Persona, about: About, inputs: Inputs): UnchainedRecord & { readonly id: string } {
    const { adaptation_type, trigger_event, status = 'applied', actor, idempotency_key } = about
    return {
      id: newId(),
      persona_id: persona.id,
      user_id: persona.user_id,
      adaptation_type,
      trigger_event,
      timestamp: now(),
      status,
      actor,
      algorithm,
      inputs,
      changes: [],
      ...(idempotency_key !== undefined && { idempotency_key }),
    }
  }

  /** A state that is frozen although the settings enable adaptation: a record of that comes before the request's own. */
  function enabling(persona: Persona): Decision {
    return {
      inputs: { kind: 'settings', enabled: true, sensitivity: mutationSettingsOf(persona).sensitivity },
      again: true,
    }
  }
}

interface About {
  readonly adaptation_type: string
  readonly trigger_event: string
  readonly actor: 'user' | 'chat' | 'system'
  readonly status?: 'applied' | 'proposed'
  readonly idempotency_key?: string | undefined
}

interface Decision {
  readonly inputs: Inputs
  /** The log, where the record undoes another and the state has to be replayed. */
  readonly log?: readonly AdaptationRecord[]
  /** True when the request itself is to be decided after this record. */
  readonly again?: boolean
}

const settingsRecord: About = { adaptation_type: 'settings_changed', trigger_event: 'user_edit', actor: 'system' }

interface Outcome {
  readonly learned: Learned
  readonly effects: readonly Effect[]
}

/** The state after a record. A proposal changes nothing yet: its effects are those of accepting it. */
async function outcome(learned: Learned, record: UnchainedRecord, log?: readonly AdaptationRecord[]): Promise<Outcome> {
  if (log) return undoing(log, record)
  if (record.status !== 'proposed') return advance(learned, record)
  return { learned, effects: advance(learned, { ...record, status: 'applied', actor: 'user' }).effects }
}

/** The state without one record of the log, and the effects of leaving it out. */
async function undoing(log: readonly AdaptationRecord[], undo: UnchainedRecord): Promise<Outcome> {
  const learned = await foldYielding([...log, undo])
  const reason = 'replayed without the undone record'
  return { learned, effects: differences(await foldYielding(log), learned, new Map(), reason) }
}

/** Throws `invalid` for signals that would give a persona more traits or preferences than `learnedLimits`. */
function refuseTooMany(learned: Learned, inputs: Inputs): void {
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
function refuseTooLarge(before: Learned, after: Learned): void {
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

/** The record of that id. Throws `not_found` for an unknown and `invalid` for an undone one. */
function standing(log: readonly AdaptationRecord[], id: string): AdaptationRecord {
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
function undoable(record: AdaptationRecord): AdaptationRecord {
  if (!isReplayable(record))
    throw new AppError(
      'invalid',
      `The record ${record.id} is history from another program: it moves nothing that could be undone`,
    )
  return record
}

/** The record as an unanswered proposal. Throws `invalid` for any other. */
function openProposal(
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
