import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Adaptation } from './personas/adaptation-service.ts'
import type { Backups } from './personas/backup.ts'
import type { Dna } from './personas/dna.ts'
import type { Scratch } from './personas/package-intake.ts'
import type { Personas } from './personas/persona.ts'
import type { Settings } from './settings.ts'
import type { Database } from './storage/sqlite/database.ts'
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
    { createAdaptation },
    { createBackups },
    { createDna },
    { openScratch },
  ] = await Promise.all([
    import('./storage/sqlite/adaptations.ts'),
    import('./storage/sqlite/backups.ts'),
    import('./storage/sqlite/persona-archive.ts'),
    import('./personas/adaptation-service.ts'),
    import('./personas/backup.ts'),
    import('./personas/dna.ts'),
    import('./personas/package-intake.ts'),
  ])
  const scratch = openScratch(join(paths.state, 'packages'), randomUUID)
  const common = {
    archive: createPersonaArchive(db),
    now: clock,
    newId: randomUUID,
    producer: `aichat ${version()}`,
  }
  const folder = join(paths.data, 'backups')
  const backups = await createBackups({ ...common, store: createBackupStore(db), folder })
  return {
    adaptation: createAdaptation({ store: createAdaptationStore(db), now: clock, newId: randomUUID }),
    dna: createDna({ ...common, backups, personas, scratch, defaultModel }),
    backups,
    scratch,
  }
}
