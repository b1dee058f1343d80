import { randomUUID } from 'node:crypto'
import type { ArrivalTask, ArriveElsewhere } from './personas/dna/arrival-task.ts'
import type { Backups } from './personas/dna/backup.ts'
import type { Dna } from './personas/dna/dna.ts'
import type { PackagerTask } from './personas/dna/packager.ts'
import type { Scratch } from './personas/dna/scratch.ts'
import type { Personas } from './personas/persona.ts'
import type { Database } from './storage/sqlite/connection.ts'
import { createQuota, type StoredLimits } from './storage/sqlite/quota.ts'
import { version } from './version.ts'

/** Whole personas that come and go. */
export interface WholeArea {
  readonly dna: Dna
  readonly backups: Backups
  /** Where packages lie while they are received or sent. */
  readonly scratch: Scratch
}

/** Where whole personas lie, and how much of them there may be: what a process of its own has to be told. */
export interface WholePlace {
  readonly database: string
  readonly folders: { readonly scratch: string; readonly backups: string }
  readonly limits: StoredLimits
}

/** A task for a process of its own, and where the personas are that it is about. */
export interface DnaTask {
  readonly place: WholePlace
  readonly task: PackagerTask | ArrivalTask
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
export async function openWhole(parts: WholeParts): Promise<WholeArea> {
  const { db, folders, limits, personas, defaultModel, now, elsewhere } = parts
  const [
    { createBackupStore },
    { createPersonaArchive },
    { createBackups },
    { createDna },
    { createPackager, performTask },
    { openScratch },
  ] = await Promise.all([
    import('./storage/sqlite/backups.ts'),
    import('./storage/sqlite/persona-archive.ts'),
    import('./personas/dna/backup.ts'),
    import('./personas/dna/dna.ts'),
    import('./personas/dna/packager.ts'),
    import('./personas/dna/scratch.ts'),
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
