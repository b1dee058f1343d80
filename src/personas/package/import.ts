import { AppError } from '../../errors.ts'
import { damaged } from '../../formats/file-error.ts'
import { printableLine } from '../../formats/terminal-text.ts'
import { collectYielding } from '../../process/event-loop-turns.ts'
import {
  type AdaptationRecord,
  emptyLog,
  headOf,
  isOwnLog,
  type LogHead,
  relabelled,
  seal,
  type UnsealedRecord,
} from '../adaptation/log.ts'
import { fold } from '../adaptation/replay.ts'
import { algorithm } from '../adaptation/rules.ts'
import { type Inputs, type Learned, type LearnedView, learnedLimits, nothingLearned } from '../adaptation/state.ts'
import { isCard, parseCard } from '../card/card.ts'
import type { EmbeddingSpace } from '../memory/memory.ts'
import { type PersonaInput, personaInput } from '../persona.ts'
import type { IncomingMemory, Passthrough } from './archive.ts'
import { ContentHash } from './digest.ts'
import type { PackageHead, PackageMemory } from './format.ts'
import { isChained, isFields, isName, isValue } from './records.ts'
import type { PackageSource } from './source.ts'
import type { VerifyResult } from './verify.ts'

type Fields = Readonly<Record<string, unknown>>

/** What an import needs from its surroundings. */
export interface ImportParts {
  readonly now: number
  readonly newId: () => string
  readonly signal?: AbortSignal | undefined
}

/** A log, and the state that it gives. */
export interface IncomingLog {
  readonly records: readonly AdaptationRecord[]
  readonly learned: Learned
}

/** Under whose name a package is taken in: never the one that it says. */
export interface NewScope {
  readonly personaId: string
  readonly userId: string
}

/** The persona's own part of a package, judged by the rules for any new persona. */
export interface IncomingPersona {
  readonly input: PersonaInput
  readonly extra: Fields
  readonly passthrough: Passthrough
}

const personaNames = [
  'name',
  'model',
  'description',
  'system_prompt',
  'parameters',
  'embedding_model',
  'memory_settings',
  'mutation_settings',
]
const settingNames = {
  memory_settings: ['enabled', 'max_memories', 'auto_cleanup', 'retention_days'],
  mutation_settings: ['enabled', 'sensitivity', 'auto_adapt'],
} as const
const ownPersonaFields = new Set([...personaNames, 'id', 'user_id', 'created_at', 'updated_at'])
const ownStateFields = new Set<string>([
  'persona_id',
  'user_id',
  'last_mutation',
  ...([
    'adaptation_level',
    'learned_preferences',
    'behavioral_weights',
    'pinned_traits',
    'sensitivity',
    'frozen',
  ] satisfies (keyof LearnedView)[]),
])
const ownMetadata = new Set(
  'exported_at user_id version checksum content_hash counts record_digests embedding_spaces min_reader_version required_features producer lineage'.split(
    ' ',
  ),
)
const ownMemoryFields = new Set([
  'id',
  'user_id',
  'persona_id',
  'content',
  'timestamp',
  'importance_score',
  'metadata',
  'embedding_space',
  'embedding',
  'embedding_length',
])

/** More steps of descent than this are not remembered. */
const longestLineage = 50

/** What is unknown in a persona is read with it at every chat, so it is held short: characters of JSON. */
const largestExtra = 64 * 1024

/** Parameters have room in a request that makes a persona for about as much: characters of JSON. */
const largestParameters = 1024 ** 2

/** What is unknown in the other parts is read only to be exported again: characters of JSON. */
const largestCarried = 1024 ** 2

/** A card with a long lorebook has a megabyte or two. Characters of JSON. */
export const largestCard = 8 * 1024 ** 2

/** A picture is passthrough up to this many characters of base64. */
const largestPortrait = 12 * 1024 ** 2

/** Reads the persona of a package and what is only passthrough along. Throws `invalid` with everything that does not fit. */
export function incomingPersona(head: PackageHead, lineage: Fields): IncomingPersona {
  const known = Object.fromEntries(
    Object.entries(head.persona).filter(([name, value]) => personaNames.includes(name) && value !== null),
  )
  // A name from elsewhere, or from before names were held to this, comes in without what nobody can see.
  const parsed = personaInput.safeParse({
    ...known,
    ...(typeof known['name'] === 'string' && { name: printableLine(known['name']) }),
  })
  if (!parsed.success) {
    const details = parsed.error.issues.map((issue) => `persona.${issue.path.map(String).join('.')}: ${issue.message}`)
    throw new AppError('invalid', 'The persona of the package cannot be used here', { details })
  }
  const { character_card: card, portrait } = head.persona
  if (isCard(card) && JSON.stringify(card).length > largestCard)
    throw new AppError('invalid', `The character card of the persona has more than ${largestCard} characters`)
  const understood = [...(isCard(card) ? ['character_card'] : []), ...(isPortrait(portrait) ? ['portrait'] : [])]
  const extra = {
    ...others(head.persona, new Set([...ownPersonaFields, ...understood])),
    ...unknownSettings(head.persona),
  }
  if (JSON.stringify(parsed.data.parameters).length > largestParameters)
    throw new AppError('invalid', `The parameters of the persona have more than ${largestParameters} characters`)
  if (JSON.stringify(extra).length > largestExtra)
    throw new AppError('invalid', `The persona carries more than ${largestExtra} characters that are unknown here`)
  const [metadata, state] = [others(head.metadata, ownMetadata), others(head.state, ownStateFields)]
  const { lineage: origin } = head.metadata
  const unknown = { package: head.extra, export_metadata: metadata, 'lineage of the package': origin ?? [], state }
  for (const [name, fields] of Object.entries(unknown))
    if (JSON.stringify(fields).length > largestCarried)
      throw new AppError(
        'invalid',
        `The ${name} has more than ${largestCarried} characters that are only passthrough along`,
      )
  const earlier = Array.isArray(head.metadata['lineage']) ? head.metadata['lineage'].filter(isFields) : []
  const passthrough: Passthrough = {
    extra: head.extra,
    metadata,
    state,
    lineage: [...earlier, lineage].slice(-longestLineage),
    ...(isCard(card) && { card: parseCard(card) }),
    ...(isPortrait(portrait) && { portrait }),
  }
  return { input: parsed.data, extra, passthrough }
}

export function isPortrait(value: unknown): value is string {
  return typeof value === 'string' && value.length <= largestPortrait
}

function unknownSettings(persona: Fields): Fields {
  const found = Object.entries(settingNames).flatMap(([name, known]) => {
    const settings = persona[name]
    const rest = isFields(settings) ? others(settings, new Set<string>(known)) : {}
    return Object.keys(rest).length > 0 ? [[name, rest] as const] : []
  })
  return Object.fromEntries(found)
}

/**
 * The bytes that the memories of a package take on the disk, its write-ahead log included: vectors lie in pages that
 * they do not fill, and a document spells each of their numbers with ten digits.
 */
export function weightOf({ form }: Pick<VerifyResult, 'form'>, bytes: number): number {
  return bytes * (form === 'document' ? 0.5 : 1.5)
}

/** The memories of a package; under new ids unless they come back to where they were. */
export function* incomingMemories(source: PackageSource, newId: (() => string) | undefined): Generator<IncomingMemory> {
  const spaces = spacesOf(source.head)
  for (const memory of source.memories()) {
    const { fields, vector } = memory
    const values = vector && !vector.every((value) => value === 0) ? vector : undefined
    yield {
      id: newId ? newId() : String(fields['id']),
      content: String(fields['content']),
      timestamp: Number(fields['timestamp']),
      importance_score: Number(fields['importance_score']),
      metadata: isFields(fields['metadata']) ? fields['metadata'] : {},
      ...(values && { vector: { values, space: spaceOf(memory, values.length, spaces) } }),
      extra: others(fields, ownMemoryFields),
    }
  }
}

function spacesOf({ metadata, persona }: PackageHead): (key: string) => EmbeddingSpace {
  const listed = Array.isArray(metadata['embedding_spaces']) ? metadata['embedding_spaces'].filter(isFields) : []
  const spaces = new Map(listed.map((space) => [space['key'], space]))
  const fallback = typeof persona['embedding_model'] === 'string' ? persona['embedding_model'] : 'unknown'
  return (key) => {
    const { model, dimension } = spaces.get(key) ?? {}
    return {
      key,
      model: typeof model === 'string' ? model : fallback,
      dimension: typeof dimension === 'number' ? dimension : 0,
    }
  }
}

/** The space that a memory names, when its dimension is right; a package of another program names none. */
function spaceOf({ fields }: PackageMemory, dimension: number, find: (key: string) => EmbeddingSpace): EmbeddingSpace {
  const key = typeof fields['embedding_space'] === 'string' ? fields['embedding_space'] : ''
  const space = find(key)
  if (key !== '' && (space.dimension === dimension || space.dimension === 0)) return { ...space, dimension }
  return { key: `imported/${space.model}#${dimension}`, model: space.model, dimension }
}

/**
 * The log of a package as this persona's own, and the state that it gives. A log of ours is chained anew under new ids.
 * One of another program is kept as history, which moves nothing; its state becomes one record.
 */
export async function incomingLog(source: PackageSource, scope: NewScope, parts: ImportParts): Promise<IncomingLog> {
  const log = await collectYielding(source.log(), parts.signal)
  if (log.length > 0 && log.every(isChained) && isOwnLog(log)) {
    const records = await collectYielding(relabelled(log, scope, parts.newId), parts.signal)
    return { records, learned: fold(records) }
  }
  const records = await collectYielding(foreignLog(log, source.head.state, scope, parts), parts.signal)
  return { records, learned: records.length > 0 ? fold(records) : nothingLearned() }
}

function* foreignLog(
  log: readonly Fields[],
  state: Fields,
  scope: NewScope,
  parts: ImportParts,
): Generator<AdaptationRecord> {
  let head: LogHead = emptyLog
  const sealed = (record: UnsealedRecord) => {
    const next = seal(record, head)
    head = headOf(next)
    return next
  }
  for (const record of log) yield sealed(history(record, scope, parts))
  const inputs = snapshotOf(state)
  if (inputs) {
    const { persona_id, user_id } = owned(scope)
    const trigger = {
      adaptation_type: 'checkpoint',
      trigger_event: 'persona_import',
      actor: 'system',
      status: 'applied',
    } as const
    const fields = { id: parts.newId(), persona_id, user_id, timestamp: parts.now }
    yield sealed({ ...fields, ...trigger, algorithm, inputs, changes: [] })
  }
}

/** The records as they are, for a log that comes back to where it was. */
export async function returningLog(source: PackageSource, signal?: AbortSignal): Promise<IncomingLog> {
  const log = await collectYielding(source.log(), signal)
  if (!log.every(isChained)) throw damaged('The log of the package is not one chain')
  return { records: log, learned: fold(log) }
}

/** A record of another program: its specified fields, and everything else as it came. */
function history(record: Fields, scope: NewScope, parts: ImportParts): UnsealedRecord {
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
  return { ...known, ...owned(scope), id: parts.newId(), original: isFields(original) ? original : { id, ...rest } }
}

function owned({ personaId, userId }: NewScope) {
  return { persona_id: personaId, user_id: userId }
}

/** The learned part of a foreign state; undefined when there is nothing in it that can be taken over. */
function snapshotOf(state: Fields): Extract<Inputs, { kind: 'snapshot' }> | undefined {
  const weights = Object.entries(fieldsIn(state, 'behavioral_weights')).filter(
    (entry): entry is [string, number] => isName(entry[0]) && Number.isFinite(entry[1]),
  )
  const preferences = Object.entries(fieldsIn(state, 'learned_preferences'))
    .map(([name, held]) => [name, isFields(held) && 'confidence' in held ? held['value'] : held] as const)
    .filter(([name, value]) => isName(name) && isValue(value))
  if (weights.length + preferences.length === 0) return undefined
  // Not more than a persona keeps: which ones it took would depend on the order in which they are read later. What moves
  // the persona most goes before; JavaScript's sort is stable.
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

function others(fields: Fields, known: ReadonlySet<string>): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !known.has(name)))
}

/**
 * A package that was verified, read once more for good. When its end is reached and it was not the same as before (the
 * file was changed in between), it throws, and the transaction that reads from it is taken back.
 */
export function unchanged(source: PackageSource, contentHash: string | null): PackageSource {
  return {
    ...source,
    *memories() {
      const hash = new ContentHash()
      for (const memory of source.memories()) {
        hash.memory(memory)
        yield memory
      }
      for (const record of source.log()) hash.record(record)
      if (hash.digest(source.head) !== contentHash) throw damaged('The package was changed while it was read')
    },
  }
}
