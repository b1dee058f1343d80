import type {
  IncomingMemory,
  Outcome,
  PersonaWrite,
  PublishConditions,
  StagedPersona,
} from '../../personas/package/archive.ts'
import { digestOf } from '../shared/memory-rows.ts'
import { batches } from '../shared/persona-slices.ts'
import { isLarge, outcomeOf, scopeOf, TakenBack } from '../shared/persona-write.ts'
import { extentOf, revisionOf } from '../stores/personas.ts'
import { checkQuota } from '../stores/quota.ts'
import type { Context } from './context.ts'
import { runOn } from './driver.ts'
import { translating } from './errors.ts'
import { findScope } from './memories-scope.ts'
import { hideMemories } from './memories-write.ts'
import { addToLog, bringMemories, putInPlace } from './persona-publish.ts'
import { stageInTransaction } from './persona-stage.ts'
import { removeHidden } from './removal.ts'
import { vectorColumn } from './vectors-column.ts'

/** Prepares a whole persona that is imported, see PersonaArchive. */
export async function stagePersona(
  context: Context,
  write: PersonaWrite,
  signal: AbortSignal | undefined,
): Promise<StagedPersona> {
  const { db, limits } = context
  const isMany = isLarge(write, await runOn(db, extentOf(scopeOf(write))))
  if (write.how === 'create') await runOn(db, checkQuota(limits, write.persona.user_id, { memories: write.count }))
  signal?.throwIfAborted()
  return isMany ? stageInTransaction(context, write, signal) : stageAtOnce(context, write)
}

/** Counts the new memories of a large write; publishes a small one, and takes it back. */
export async function dryRun(context: Context, write: PersonaWrite, signal: AbortSignal | undefined): Promise<Outcome> {
  const { db } = context
  if (isLarge(write, await runOn(db, extentOf(scopeOf(write))))) return countNew(context, write, signal)
  const expected = await runOn(db, revisionOf(scopeOf(write)))
  return publishAtOnce(context, write, [...write.memories()], { ...(expected && { expected }) }, true)
}

/** How many memories would be new: the same thing said twice is one. */
async function countNew({ db }: Context, write: PersonaWrite, signal: AbortSignal | undefined): Promise<Outcome> {
  const row = write.how === 'merge' ? await findScope(db, scopeOf(write)) : undefined
  const there = row
    ? await db.rows<{ digest: Buffer }>('SELECT digest FROM memory WHERE scope_id = $1', [row.scope_id])
    : []
  const known = new Set(there.map(({ digest }) => digest.toString('hex')))
  const before = known.size
  for (const batch of batches(write.memories())) {
    for (const memory of batch) known.add(digestOf(memory).toString('hex'))
    await new Promise((resolve) => setImmediate(resolve))
    signal?.throwIfAborted()
  }
  return outcomeOf(write, known.size, known.size - before)
}

/** Reads the memories before the transaction: behind the last one the package is looked through once more, which may take long. */
function stageAtOnce(context: Context, write: PersonaWrite): StagedPersona {
  const coming = [...write.memories()]
  let isReplaced = false
  return translating({
    async publish(conditions) {
      const outcome = await publishAtOnce(context, write, coming, conditions, false)
      isReplaced ||= write.how === 'replace' && outcome.kind === 'done'
      return outcome
    },
    async discard() {
      // The replaced rows leave the disk, or do so when rows are removed next.
      if (isReplaced) await removeHidden(context.db).catch(() => undefined)
    },
  } satisfies StagedPersona)
}

async function publishAtOnce(
  context: Context,
  write: PersonaWrite,
  coming: readonly IncomingMemory[],
  conditions: PublishConditions,
  isDryRun: boolean,
): Promise<Outcome> {
  const { db } = context
  const scope = scopeOf(write)
  const column = await vectorColumn(db)
  try {
    return await db.transaction(async (tx) => {
      const outcome = await putInPlace(tx, context, write, conditions, async () => {
        const before = write.how === 'merge' ? ((await findScope(tx, scope))?.memories ?? 0) : 0
        if (write.how === 'replace') await hideMemories(tx, scope)
        if (coming.length > 0) await bringMemories(tx, column, scope, coming)
        await addToLog(tx, write)
        return ((await findScope(tx, scope))?.memories ?? 0) - before
      })
      if (isDryRun || outcome.kind !== 'done') throw new TakenBack(outcome)
      return outcome
    })
  } catch (reason) {
    if (reason instanceof TakenBack) return reason.outcome
    throw reason
  }
}
