import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Adaptation } from '../personas/adaptation/adaptations.ts'
import type { Backups } from '../personas/package/backup.ts'
import type { Dna } from '../personas/package/packages.ts'
import type { Scratch } from '../personas/package/scratch.ts'
import type { PackagerTask } from '../personas/package/write-package.ts'
import type { ArrivalTask, ArriveElsewhere } from '../personas/package/write-task.ts'
import type { Personas } from '../personas/persona.ts'
import { createTurns, type Turns } from '../process/event-loop-turns.ts'
import { inOwnProcess } from '../process/run-in-child.ts'
import type { Settings } from '../settings/settings.ts'
import type { Database } from '../storage/sqlite/connection.ts'
import { createQuota, type StoredLimits, storedLimits } from '../storage/sqlite/quota.ts'
import { version } from '../version.ts'

/** Whole personas: what they learn, and how they come and go. */
export interface DnaArea {
  readonly adaptation: Adaptation
  readonly dna: Dna
  readonly backups: Backups
  /** Where packages lie while they are received or sent. */
  readonly scratch: Scratch
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
    import('../storage/sqlite/adaptations.ts'),
    import('../storage/sqlite/persona-stage.ts'),
    import('../personas/adaptation/adaptations.ts'),
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

/** A task, and where the personas are that it is about. */
export interface DnaTask {
  readonly place: WholePlace
  readonly task: PackagerTask | ArrivalTask
}

/** Where whole personas lie, and how much of them there may be: what a process of its own has to be told. */
export interface WholePlace {
  readonly database: string
  readonly folders: { readonly scratch: string; readonly backups: string }
  readonly limits: StoredLimits
}

interface WholeParts extends WholePlace {
  readonly db: Database
  readonly personas: Pick<Personas, 'get'>
  readonly defaultModel: () => string | undefined
  readonly now: () => number
  /** Does what takes long; without it everything is done in this process. */
  readonly elsewhere?: Elsewhere
}

/** Packages and arrivals, done elsewhere. */
export interface Elsewhere {
  readonly package: (task: PackagerTask, signal?: AbortSignal) => Promise<unknown>
  readonly arrive: ArriveElsewhere
}

/** How whole personas come and go, in the process that serves and in the one that does what takes long. */
export async function openWhole(parts: WholeParts): Promise<Pick<DnaArea, 'dna' | 'backups' | 'scratch'>> {
  const { db, folders, limits, personas, defaultModel, now, elsewhere } = parts
  const [
    { createBackupStore },
    { createPersonaArchive },
    { createBackups },
    { createDna },
    { createPackager, performTask },
    { openScratch },
  ] = await Promise.all([
    import('../storage/sqlite/backups.ts'),
    import('../storage/sqlite/persona-archive.ts'),
    import('../personas/package/backup.ts'),
    import('../personas/package/packages.ts'),
    import('../personas/package/write-package.ts'),
    import('../personas/package/scratch.ts'),
  ])
  const scratch = openScratch(folders.scratch, randomUUID)
  const quota = createQuota(db, limits)
  const archive = createPersonaArchive(db, quota)
  const producer = `aichat ${version()}`
  const common = {
    archive,
    packager: createPackager({
      archive,
      producer,
      elsewhere: elsewhere?.package ?? ((task) => performTask(archive, task)),
    }),
    now,
    newId: randomUUID,
    producer,
    ...(elsewhere && { elsewhere: elsewhere.arrive }),
  }
  const backups = await createBackups({ ...common, store: createBackupStore(db, quota), folder: folders.backups })
  return { dna: createDna({ ...common, backups, personas, scratch, defaultModel }), backups, scratch }
}

/** Does what takes long with this database in a process of its own, which reads and writes beside this one. */
export function ownProcess(db: Database, place: WholePlace): Elsewhere {
  const done = (task: DnaTask['task'], signal?: AbortSignal) =>
    inOwnProcess({ beside: import.meta.url, name: './package-child' }, { place, task } satisfies DnaTask, signal)
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
        const { sweepStages } = await import('../storage/sqlite/persona-stage.ts')
        if (signal?.aborted && db.open) await sweepStages(db).catch(() => undefined)
        throw reason
      }
    },
  }
}
