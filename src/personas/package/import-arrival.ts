import { AppError } from '../../errors.ts'
import { validate } from '../../formats/formats.ts'
import { nothingLearned } from '../adaptation/state.ts'
import { type Arrival, ArrivalReport } from '../arrival/arrival.ts'
import { memorySettingsOf, type Persona, type Personas, personaInput } from '../persona.ts'
import { type IncomingMemory, type PersonaArchive, type PersonaWrite, writeWhole } from './archive.ts'
import { packageLimits } from './format.ts'
import { type MergedMemories, memoriesOf, mergeMemories } from './import-package.ts'
import { isPortrait, largestCard } from './import-persona.ts'
import { imported } from './imported.ts'
import { raisedLimitWarnings, withMemoryLimit } from './memory-limits.ts'
import type { Imported } from './outcomes.ts'
import { shortened } from './verify.ts'
import type { ImportRequest } from './write-task.ts'

export interface ArrivalImportParts {
  readonly archive: PersonaArchive
  readonly personas: Pick<Personas, 'get'>
  readonly now: () => number
  readonly newId: () => string
  /** The chat model for a persona from a file that names none. */
  readonly defaultModel: () => string | undefined
}

/**
 * Imports a file of another program: as a new persona, or as memories of one that is there. Reads it twice, to count and
 * check everything and to write it. Throws `invalid` naming every problem, and `too_large`; then nothing was written.
 */
export async function importArrival(
  parts: ArrivalImportParts,
  owner: string,
  arrival: Arrival,
  request: ImportRequest,
  signal?: AbortSignal,
): Promise<Imported> {
  if (request.mode === 'replace')
    throw new AppError('invalid', 'Only a package can replace a persona', {
      details: ['Import the file as a new persona, or merge its memories into one'],
    })
  refuseLarge(arrival)
  const report = new ArrivalReport()
  const { count, pinned, weight } = countAll(arrival, report, signal)
  if (report.problems.length > 0)
    throw new AppError('invalid', 'The file cannot be imported: nothing was written', {
      details: shortened(report.problems),
    })
  const incoming: MergedMemories = {
    memories: () => incomingOf(arrival, parts.newId),
    count,
    weight,
    about: { format: arrival.format, memories: count },
  }
  const done: Done =
    request.mode === 'merge'
      ? await mergeMemories(parts, await target(parts, owner, request), incoming, request, signal)
      : await create(parts, newPersona(parts, owner, arrival, request), { arrival, incoming, pinned, request }, signal)
  return {
    ...imported(done.persona, request, { memories: done.memories, adaptations: 0 }, count - done.memories),
    format: arrival.format,
    conversations: report.conversations,
    left_out: report.leftOut(),
    warnings: [...arrival.warnings, ...(done.warnings ?? [])],
  }
}

async function target({ personas }: ArrivalImportParts, owner: string, { persona }: ImportRequest): Promise<Persona> {
  if (persona !== undefined) return personas.get(owner, persona)
  throw new AppError('invalid', 'Say which persona to merge into (--into, ?persona=)')
}

interface Done {
  readonly persona: Persona
  /** How many of them were new. */
  readonly memories: number
  readonly warnings?: readonly string[]
}

interface Creation {
  readonly arrival: Arrival
  readonly incoming: MergedMemories
  readonly pinned: number
  readonly request: ImportRequest
}

async function create(
  { archive }: ArrivalImportParts,
  described: Persona,
  { arrival, incoming, pinned, request }: Creation,
  signal: AbortSignal | undefined,
): Promise<Done> {
  const { memories, count, weight } = incoming
  const persona = withRoom(described, count, pinned)
  const write: PersonaWrite = {
    persona,
    how: 'create',
    memories,
    count,
    weight,
    log: { records: [], learned: nothingLearned() },
    passthrough: arrival.passthrough,
  }
  const outcome = await (request.dry_run ? archive.dryRun(write, signal) : writeWhole(archive, write, {}, signal))
  return { persona, memories: memoriesOf(persona, outcome), warnings: raisedLimitWarnings(described, persona) }
}

function newPersona(
  { now, newId, defaultModel }: ArrivalImportParts,
  owner: string,
  { persona: described, format }: Arrival,
  request: ImportRequest,
): Persona {
  const model = request.model ?? described.model ?? defaultModel()
  const { name = described.name } = request
  const valid = validate(personaInput, { ...described, name, ...(model !== undefined && { model }) })
  if (valid.problems === undefined)
    return { ...valid.data, id: newId(), user_id: owner, created_at: now(), updated_at: now() }
  const details = [
    ...(model === undefined ? ['The file names no chat model: name one (--model, ?model=)'] : []),
    ...valid.problems,
  ]
  const subject = format === 'card' ? 'The character card' : 'The file'
  throw new AppError('invalid', `${subject} gives an invalid persona`, { details })
}

function refuseLarge({ passthrough: { card, portrait } }: Arrival): void {
  const isLargeCard = card !== undefined && JSON.stringify(card).length > largestCard
  if (!isLargeCard && (portrait === undefined || isPortrait(portrait))) return
  throw new AppError('too_large', 'The character card or its picture is too large to be kept', {
    details: [`A card may have ${largestCard} characters beside its lorebook, and a picture 9 MiB`],
  })
}

/** Bytes that a memory takes on the disk beside its text: its row, its place in the indexes, and later its vector. */
const memoryBytes = 2_048

function countAll(arrival: Arrival, report: ArrivalReport, signal: AbortSignal | undefined) {
  let [count, pinned, weight] = [0, 0, 0]
  for (const { content, metadata } of arrival.memories(report)) {
    if (++count > packageLimits.memories)
      throw new AppError('too_large', `The file holds more than ${packageLimits.memories} memories`, {
        details: ['Leave out older ones (--after, ?after=)'],
      })
    pinned += Number(metadata['pinned'] === true)
    weight += memoryBytes + content.length * 3
    signal?.throwIfAborted()
  }
  return { count, pinned, weight }
}

/** Room for all memories that arrive. Pinned ones are never evicted: without room beside them nothing could be stored. */
function withRoom(persona: Persona, count: number, pinned: number): Persona {
  const { max_memories: usual } = memorySettingsOf(persona)
  return withMemoryLimit(persona, Math.max(count, pinned > usual / 2 ? pinned + usual : 0))
}

function* incomingOf(arrival: Arrival, newId: () => string): Generator<IncomingMemory> {
  for (const { extra = {}, ...memory } of arrival.memories(new ArrivalReport())) yield { id: newId(), ...memory, extra }
}
