import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Adaptation } from '../personas/adaptation/adaptations.ts'
import type { Backups } from '../personas/package/backup.ts'
import type { PersonaPackages } from '../personas/package/packages.ts'
import type { Scratch } from '../personas/package/scratch.ts'
import type { PackageWriterTask } from '../personas/package/write-package.ts'
import type { PersonaWriteTask, WriteInChild } from '../personas/package/write-task.ts'
import type { Personas } from '../personas/persona.ts'
import { createPerUserLimit, type PerUserLimit } from '../process/event-loop-turns.ts'
import { runInChild } from '../process/run-in-child.ts'
import type { Settings } from '../settings/settings.ts'
import type { Database } from '../storage/sqlite/connection.ts'
import { createQuota, type StoredLimits, storedLimits } from '../storage/sqlite/quota.ts'
import { version } from '../version.ts'

/** Whole personas: what they learn, and how they come and go. */
export interface PackageArea {
  readonly adaptation: Adaptation
  readonly packages: PersonaPackages
  readonly backups: Backups
  /** Where packages lie while they are received or sent. */
  readonly scratch: Scratch
  /** Packages that are received or taken in, by user. */
  readonly imports: PerUserLimit
}

export interface PackageAreaParts {
  readonly db: Database
  readonly settings: Pick<Settings, 'paths' | 'limits'>
  readonly personas: Pick<Personas, 'get'>
  /** The chat model for a persona that comes without one. */
  readonly defaultModel: () => string | undefined
  readonly clock: () => number
}

/** The part of the composition root that deals with whole personas. */
export async function openPackages(parts: PackageAreaParts): Promise<PackageArea> {
  const { db, settings, clock } = parts
  const { paths, limits } = settings
  const [{ createAdaptationStore }, { sweepStages }, { createAdaptation }] = await Promise.all([
    import('../storage/sqlite/adaptations.ts'),
    import('../storage/sqlite/persona-stage.ts'),
    import('../personas/adaptation/adaptations.ts'),
  ])
  const place: PackageLocations = { database: db.name, folders: foldersOf(paths), limits: storedLimits(limits) }
  const whole = await openPackageServices({ ...parts, ...place, now: clock, childTasks: childTasks(db, place) })
  // What a killed process left of an import is nobody's; that it cannot be removed now harms nobody.
  await sweepStages(db).catch(() => undefined)
  return {
    adaptation: createAdaptation({
      store: createAdaptationStore(db, createQuota(db, place.limits)),
      now: clock,
      newId: randomUUID,
    }),
    imports: createPerUserLimit(limits.importsPerUser),
    ...whole,
  }
}

function foldersOf(paths: Settings['paths']): PackageLocations['folders'] {
  return { scratch: join(paths.state, 'packages'), backups: join(paths.data, 'backups') }
}

/** A task, and where the personas are that it is about. */
export interface PackageTask {
  readonly place: PackageLocations
  readonly task: PackageWriterTask | PersonaWriteTask
}

/** Where whole personas lie, and how much of them there may be: what a process of its own has to be told. */
export interface PackageLocations {
  readonly database: string
  readonly folders: { readonly scratch: string; readonly backups: string }
  readonly limits: StoredLimits
}

interface PackageServicesParts extends PackageLocations {
  readonly db: Database
  readonly personas: Pick<Personas, 'get'>
  readonly defaultModel: () => string | undefined
  readonly now: () => number
  /** Does what takes long; without it everything is done in this process. */
  readonly childTasks?: ChildTasks
}

/** Runs in a child process: packages that are written or verified, and personas that are imported or restored. */
export interface ChildTasks {
  readonly package: (task: PackageWriterTask, signal?: AbortSignal) => Promise<unknown>
  readonly write: WriteInChild
}

/** How whole personas come and go, in the process that serves and in the one that does what takes long. */
export async function openPackageServices(
  parts: PackageServicesParts,
): Promise<Pick<PackageArea, 'packages' | 'backups' | 'scratch'>> {
  const { db, folders, limits, personas, defaultModel, now, childTasks } = parts
  const [
    { createBackupStore },
    { createPersonaArchive },
    { createBackups },
    { createPersonaPackages },
    { createPackageWriter, performTask },
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
    writer: createPackageWriter({
      archive,
      producer,
      runInChild: childTasks?.package ?? ((task) => performTask(archive, task)),
    }),
    now,
    newId: randomUUID,
    producer,
    ...(childTasks && { runInChild: childTasks.write }),
  }
  const backups = await createBackups({ ...common, store: createBackupStore(db, quota), folder: folders.backups })
  return { packages: createPersonaPackages({ ...common, backups, personas, scratch, defaultModel }), backups, scratch }
}

/** Does what takes long with this database in a process of its own, which reads and writes beside this one. */
export function childTasks(db: Database, place: PackageLocations): ChildTasks {
  const done = (task: PackageTask['task'], signal?: AbortSignal) =>
    runInChild({ beside: import.meta.url, name: './package-child' }, { place, task } satisfies PackageTask, signal)
  return {
    async package(task, signal) {
      try {
        return await done(task, signal)
      } catch (reason) {
        // A process that was ended could not clear away what it had begun.
        if (task.action === 'write')
          for (const ending of ['', '.memories', '.log']) rmSync(`${task.request.path}${ending}`, { force: true })
        if (task.action === 'card') rmSync(task.path, { force: true })
        throw reason
      }
    },
    async write(task, signal) {
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
