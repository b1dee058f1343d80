import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Adaptation } from './personas/adaptation/service.ts'
import type { Backups } from './personas/dna/backup.ts'
import type { Dna } from './personas/dna/dna.ts'
import { inOwnProcess } from './personas/dna/own-process.ts'
import type { Scratch } from './personas/dna/package-intake.ts'
import type { PackagerTask } from './personas/dna/packager.ts'
import type { Personas } from './personas/persona.ts'
import type { Settings } from './settings.ts'
import type { Database } from './storage/sqlite/connection.ts'
import { version } from './version.ts'

/** Whole personas: what they learn, and how they come and go. */
export interface DnaArea {
  readonly adaptation: Adaptation
  readonly dna: Dna
  readonly backups: Backups
  /** Where packages lie while they are received or sent. */
  readonly scratch: Scratch
}

export interface DnaAreaParts {
  readonly db: Database
  readonly paths: Settings['paths']
  readonly personas: Pick<Personas, 'get'>
  /** The chat model for a persona that comes without one. */
  readonly defaultModel: () => string | undefined
  readonly clock: () => number
}

/** The part of the composition root that deals with whole personas. */
export async function openDna({ db, paths, personas, defaultModel, clock }: DnaAreaParts): Promise<DnaArea> {
  const [
    { createAdaptationStore },
    { createBackupStore },
    { createPersonaArchive },
    { sweepStages },
    { createAdaptation },
    { createBackups },
    { createDna },
    { createPackager },
    { openScratch },
  ] = await Promise.all([
    import('./storage/sqlite/adaptations.ts'),
    import('./storage/sqlite/backups.ts'),
    import('./storage/sqlite/persona-archive.ts'),
    import('./storage/sqlite/persona-stage.ts'),
    import('./personas/adaptation/service.ts'),
    import('./personas/dna/backup.ts'),
    import('./personas/dna/dna.ts'),
    import('./personas/dna/packager.ts'),
    import('./personas/dna/package-intake.ts'),
  ])
  const scratch = openScratch(join(paths.state, 'packages'), randomUUID)
  const archive = createPersonaArchive(db)
  const producer = `aichat ${version()}`
  const common = {
    archive,
    packager: createPackager({ archive, producer, elsewhere: packagingProcess(db.name) }),
    now: clock,
    newId: randomUUID,
    producer,
  }
  const folder = join(paths.data, 'backups')
  const backups = await createBackups({ ...common, store: createBackupStore(db), folder })
  // What a killed process left of an import is nobody's; that it cannot be removed now harms nobody.
  await sweepStages(db).catch(() => undefined)
  return {
    adaptation: createAdaptation({ store: createAdaptationStore(db), now: clock, newId: randomUUID }),
    dna: createDna({ ...common, backups, personas, scratch, defaultModel }),
    backups,
    scratch,
  }
}

/** Packages large personas of this database in a process of its own, which reads beside this one. */
export function packagingProcess(database: string): (task: PackagerTask, signal?: AbortSignal) => Promise<unknown> {
  return async (task, signal) => {
    try {
      return await inOwnProcess({ beside: import.meta.url, name: './app-dna-process' }, { database, task }, signal)
    } catch (reason) {
      // A process that was ended could not clear away what it had begun.
      if (task.deed === 'write')
        for (const ending of ['', '.memories', '.log']) rmSync(`${task.wish.path}${ending}`, { force: true })
      throw reason
    }
  }
}
