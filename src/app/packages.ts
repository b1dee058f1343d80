import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import {
  type Adaptation,
  type Backups,
  createAdaptation,
  createBackups,
  createPackageWriter,
  createPersonaPackages,
  openScratch,
  type PackageWriterTask,
  type Personas,
  type PersonaWriteTask,
  performTask,
  type Scratch,
} from '../personas/personas.ts'
import { createPerUserLimit, type PerUserLimit, runInChild } from '../process/process.ts'
import type { Settings } from '../settings/settings.ts'
import type { Storage, StorageSettings } from '../storage/storage.ts'
import { version } from '../version.ts'
import { scratchFolder } from './package-folder.ts'

/** Whole personas: their adaptation, packages and backups. */
export interface PackageArea {
  readonly adaptation: Adaptation
  readonly packages: ReturnType<typeof createPersonaPackages>
  readonly backups: Backups
  /** Files of packages that are received or sent right now. */
  readonly scratch: Scratch
  /** Packages that are received or imported right now, by user. */
  readonly imports: PerUserLimit
}

export interface PackageAreaParts {
  readonly storage: Pick<Storage, 'packages' | 'backups' | 'backupFiles' | 'adaptations' | 'memories'>
  /** The same storage, for a child process to open. */
  readonly storageSettings: StorageSettings
  readonly settings: Pick<Settings, 'paths' | 'limits' | 'model'>
  readonly personas: Pick<Personas, 'get'>
}

/** The part of the composition root that deals with whole personas. */
export async function openPackages(parts: PackageAreaParts): Promise<PackageArea> {
  const { storage, storageSettings, settings, personas } = parts
  const clock = Date.now
  const scratch = scratchFolder(settings.paths)
  const whole = await openPackageServices({
    storage,
    scratch,
    personas,
    defaultModel: () => settings.model,
    now: clock,
    childTasks: childTasks(storage, { storage: storageSettings, scratch }),
  })
  // The unfinished imports of killed processes are invisible: that they cannot be removed now is no failure.
  await storage.packages.sweep().catch(() => undefined)
  return {
    adaptation: createAdaptation({ store: storage.adaptations, now: clock, newId: randomUUID }),
    imports: createPerUserLimit(() => settings.limits.importsPerUser),
    ...whole,
  }
}

/** A task for a child process, and the storage and the folder that it works on. */
export interface PackageTask {
  readonly place: PackagePlace
  readonly task: PackageWriterTask | PersonaWriteTask
}

export interface PackagePlace {
  readonly storage: StorageSettings
  /** The folder of packages that are received or sent right now. */
  readonly scratch: string
}

interface PackageServicesParts {
  readonly storage: Pick<Storage, 'packages' | 'backups' | 'backupFiles' | 'memories'>
  readonly scratch: string
  readonly personas: Pick<Personas, 'get'>
  /** The chat model for an imported persona that names none. */
  readonly defaultModel: () => string | undefined
  readonly now: () => number
  /** Runs long work; without it all work runs in this process. */
  readonly childTasks?: ChildTasks
}

/** Runs in a child process: packages that are written or verified, personas that are imported or restored, and backups that are rewritten. */
export type ChildTasks = ReturnType<typeof childTasks>

/** Packages and backups, in the process that serves and in its child. */
export async function openPackageServices(
  parts: PackageServicesParts,
): Promise<Pick<PackageArea, 'packages' | 'backups' | 'scratch'>> {
  const { storage, personas, defaultModel, now, childTasks } = parts
  const archive = storage.packages
  const scratch = openScratch(parts.scratch, randomUUID)
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
  const backups = await createBackups({
    ...common,
    store: storage.backups,
    files: storage.backupFiles,
    memories: storage.memories,
  })
  return { packages: createPersonaPackages({ ...common, backups, personas, scratch, defaultModel }), backups, scratch }
}

/** Runs long work on this storage in a child process, which reads and writes beside this one. */
export function childTasks(storage: Pick<Storage, 'packages'>, place: PackagePlace) {
  const done = (task: PackageTask['task'], signal?: AbortSignal) =>
    runInChild({ beside: import.meta.url, name: './package-child' }, { place, task } satisfies PackageTask, signal)
  return {
    async package(task: PackageWriterTask, signal?: AbortSignal): Promise<unknown> {
      try {
        return await done(task, signal)
      } catch (reason) {
        // A child that was ended could not remove its unfinished files.
        if (task.action === 'write')
          for (const ending of ['', '.memories', '.log']) rmSync(`${task.request.path}${ending}`, { force: true })
        if (task.action === 'card' || task.action === 'lines') rmSync(task.path, { force: true })
        throw reason
      }
    },
    async write(task: PersonaWriteTask, signal?: AbortSignal): Promise<unknown> {
      try {
        return await done(task, signal)
      } catch (reason) {
        if (signal?.aborted) await storage.packages.sweep().catch(() => undefined)
        throw reason
      }
    },
  }
}
