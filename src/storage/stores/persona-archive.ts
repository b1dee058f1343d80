import type { MaybePromise } from '../../accounts/accounts.ts'
import type {
  IncomingMemory,
  Outcome,
  PersonaArchive,
  PersonaWrite,
  PublishConditions,
  Scope,
  StagedPersona,
} from '../../personas/personas.ts'
import { yieldToEventLoop } from '../../process/process.ts'
import { row, rows, type StoreDatabase, sql, type Work, word } from '../port/port.ts'
import type { StoredLimits } from '../shared/limits.ts'
import { digestOf } from '../shared/memory-rows.ts'
import { batches } from '../shared/persona-slices.ts'
import { isLarge, outcomeOf, scopeOf, TakenBack } from '../shared/persona-write.ts'
import { findScope } from './memory-scope.ts'
import { type PersonaWriteParts, putWhole } from './persona-write.ts'
import { extentOf, revisionOf } from './personas.ts'
import { checkQuota } from './quota.ts'

/** What the databases do in their own way with whole personas. */
export interface ArchiveParts extends Pick<PersonaArchive, 'snapshot' | 'sweep'> {
  readonly limits: StoredLimits | undefined
  /** Asked again for each write. */
  parts(): MaybePromise<PersonaWriteParts>
  /** Writes the memories of a large persona next to the others, and puts them in their place at its publication. */
  stage(write: PersonaWrite, signal: AbortSignal | undefined): Promise<StagedPersona>
  /** Removes the rows that a replacement hid. */
  removeHidden(): Promise<void>
  /** The store with methods that fail with AppErrors. */
  translating<S extends object>(store: S): S
}

/** Whole personas, across the stores that hold their parts. */
export function createPersonaArchive(db: StoreDatabase, parts: ArchiveParts): PersonaArchive {
  return {
    snapshot: parts.snapshot,
    extent: async (scope) => db.read(extentOf(scope)),
    greeting: async (scope) => db.read(greetingOf(scope)),
    async stage(write, signal) {
      const isMany = isLarge(write, await db.read(extentOf(scopeOf(write))))
      const { user_id: owner } = write.persona
      if (write.how === 'create') await db.read(checkQuota(parts.limits, owner, { memories: write.count }))
      signal?.throwIfAborted()
      return isMany ? parts.stage(write, signal) : stageAtOnce(db, parts, write)
    },
    async dryRun(write, signal) {
      if (isLarge(write, await db.read(extentOf(scopeOf(write))))) return countNew(db, write, signal)
      const expected = await db.read(revisionOf(scopeOf(write)))
      return publishAtOnce(db, parts, write, [...write.memories()], { ...(expected && { expected }) }, true)
    },
    sweep: parts.sweep,
  }
}

/** The greeting of a persona's character card as JSON; PostgreSQL cannot read every JSON that it stores, and keeps it apart. */
const greeting = word(`fields -> '$.card.data.first_mes'`, 'greeting')

function* greetingOf({ personaId, userId }: Scope): Work<unknown> {
  const found = yield* row<{ greeting: string | null }>(
    sql`SELECT ${greeting} AS greeting FROM persona_carried JOIN persona ON persona.id = persona_carried.persona_id
        WHERE persona.id = ${personaId} AND user_id = ${userId}`,
  )
  return found?.greeting == null ? undefined : JSON.parse(found.greeting)
}

/** How many memories would be new: the same thing said twice is one. */
async function countNew(db: StoreDatabase, write: PersonaWrite, signal: AbortSignal | undefined): Promise<Outcome> {
  const scope = write.how === 'merge' ? await db.read(findScope(scopeOf(write))) : undefined
  const there = scope
    ? await db.read(rows<{ digest: Buffer }>(sql`SELECT digest FROM memory WHERE scope_id = ${scope.scope_id}`))
    : []
  const known = new Set(there.map(({ digest }) => digest.toString('hex')))
  const before = known.size
  for (const batch of batches(write.memories())) {
    for (const memory of batch) known.add(digestOf(memory).toString('hex'))
    await yieldToEventLoop()
    signal?.throwIfAborted()
  }
  return outcomeOf(write, known.size, known.size - before)
}

/** Reads the memories before the transaction: behind the last one the package is looked through once more, which may take long. */
function stageAtOnce(db: StoreDatabase, parts: ArchiveParts, write: PersonaWrite): StagedPersona {
  const coming = [...write.memories()]
  let isReplaced = false
  return parts.translating({
    async publish(conditions) {
      const outcome = await publishAtOnce(db, parts, write, coming, conditions, false)
      isReplaced ||= write.how === 'replace' && outcome.kind === 'done'
      return outcome
    },
    async discard() {
      // The replaced rows leave the disk, or do so when rows are removed next.
      if (isReplaced) await parts.removeHidden().catch(() => undefined)
    },
  } satisfies StagedPersona)
}

async function publishAtOnce(
  db: StoreDatabase,
  parts: ArchiveParts,
  write: PersonaWrite,
  coming: readonly IncomingMemory[],
  conditions: PublishConditions,
  isDryRun: boolean,
): Promise<Outcome> {
  const native = await parts.parts()
  try {
    return await db.write(function* () {
      const outcome = yield* putWhole(native, write, conditions, coming)
      if (isDryRun || outcome.kind !== 'done') throw new TakenBack(outcome)
      return outcome
    })
  } catch (reason) {
    if (reason instanceof TakenBack) return reason.outcome
    throw reason
  }
}
