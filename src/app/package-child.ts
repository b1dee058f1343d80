import { type PackagerTask, performTask } from '../personas/package/write-package.ts'
import type { ArrivalTask } from '../personas/package/write-task.ts'
import { requireOwn } from '../personas/persona.ts'
import { serveTask } from '../process/run-in-child.ts'
import { openDatabase, openReader } from '../storage/sqlite/database.ts'
import { createPersonaArchive } from '../storage/sqlite/persona-archive.ts'
import { createPersonaStore } from '../storage/sqlite/personas.ts'
import { type DnaTask, openWhole, type WholePlace } from './packages.ts'

// Runs in a process of its own: see personas/dna/own-process.ts.
serveTask(({ place, task }: DnaTask) =>
  task.deed === 'import' || task.deed === 'restore' ? arrive(place, task) : readWhole(place, task),
)

async function readWhole({ database }: WholePlace, task: PackagerTask): Promise<unknown> {
  const db = openReader(database)
  try {
    return await performTask(createPersonaArchive(db), task)
  } finally {
    db.close()
  }
}

async function arrive(place: WholePlace, task: ArrivalTask): Promise<unknown> {
  const db = await openDatabase(place.database)
  try {
    const store = createPersonaStore(db)
    const get = async (owner: string, id: string) => requireOwn(await store.find(id), owner, id)
    const whole = await openWhole({
      ...place,
      db,
      personas: { get },
      defaultModel: () => (task.deed === 'import' ? task.defaultModel : undefined),
      now: () => task.now,
    })
    if (task.deed === 'import') return await whole.dna.import(task.owner, task.path, task.request)
    const { personaId, userId } = task.scope
    return await whole.backups.restore(await get(userId, personaId), task.backupId)
  } finally {
    db.close()
  }
}
