import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { type DnaTask, type Elsewhere, openWhole, type WholeArea, type WholePlace } from './app-whole.ts'
import type { Adaptation } from './personas/adaptation/service.ts'
import { inOwnProcess } from './personas/dna/own-process.ts'
import { createTurns, type Turns } from './personas/dna/turns.ts'
import type { Personas } from './personas/persona.ts'
import type { Settings } from './settings.ts'
import type { Database } from './storage/sqlite/connection.ts'
import { createQuota, storedLimits } from './storage/sqlite/quota.ts'

/** Whole personas: what they learn, and how they come and go. */
export interface DnaArea extends WholeArea {
  readonly adaptation: Adaptation
  /** Packages that are received or taken in, by user. */
  readonly imports: Turns
}

export interface DnaAreaParts {
  readonly db: Database
  readonly settings: Pick<Settings, 'paths' | 'limits'>
  readonly personas: Pick<Personas, 'get'>
  /** The chat model for a persona that comes without one. */
  readonly defaultModel: () => string | undefined
  readonly clock: () => number
}

/** The part of the composition root that deals with whole personas. */
export async function openDna(parts: DnaAreaParts): Promise<DnaArea> {
  const { db, settings, clock } = parts
  const { paths, limits } = settings
  const [{ createAdaptationStore }, { sweepStages }, { createAdaptation }] = await Promise.all([
    import('./storage/sqlite/adaptations.ts'),
    import('./storage/sqlite/persona-stage.ts'),
    import('./personas/adaptation/service.ts'),
  ])
  const place: WholePlace = { database: db.name, folders: foldersOf(paths), limits: storedLimits(limits) }
  const whole = await openWhole({ ...parts, ...place, now: clock, elsewhere: ownProcess(db, place) })
  // What a killed process left of an import is nobody's; that it cannot be removed now harms nobody.
  await sweepStages(db).catch(() => undefined)
  return {
    adaptation: createAdaptation({
      store: createAdaptationStore(db, createQuota(db, place.limits)),
      now: clock,
      newId: randomUUID,
    }),
    imports: createTurns(limits.importsPerUser),
    ...whole,
  }
}

function foldersOf(paths: Settings['paths']): WholePlace['folders'] {
  return { scratch: join(paths.state, 'packages'), backups: join(paths.data, 'backups') }
}

/** Does what takes long with this database in a process of its own, which reads and writes beside this one. */
export function ownProcess(db: Database, place: WholePlace): Elsewhere {
  const done = (task: DnaTask['task'], signal?: AbortSignal) =>
    inOwnProcess({ beside: import.meta.url, name: './app-dna-process' }, { place, task } satisfies DnaTask, signal)
  return {
    async package(task, signal) {
      try {
        return await done(task, signal)
      } catch (reason) {
        // A process that was ended could not clear away what it had begun.
        if (task.deed === 'write')
          for (const ending of ['', '.memories', '.log']) rmSync(`${task.wish.path}${ending}`, { force: true })
        if (task.deed === 'card') rmSync(task.path, { force: true })
        throw reason
      }
    },
    async arrive(task, signal) {
      try {
        return await done(task, signal)
      } catch (reason) {
        const { sweepStages } = await import('./storage/sqlite/persona-stage.ts')
        if (signal?.aborted && db.open) await sweepStages(db).catch(() => undefined)
        throw reason
      }
    },
  }
}
