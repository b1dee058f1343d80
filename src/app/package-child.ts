import { type PackageWriterTask, performTask } from '../personas/package/write-package.ts'
import type { PersonaWriteTask } from '../personas/package/write-task.ts'
import { requireOwn } from '../personas/persona.ts'
import { serveTask } from '../process/child-side.ts'
import { openDatabase, openReader } from '../storage/sqlite/database.ts'
import { createPersonaArchive } from '../storage/sqlite/persona-archive.ts'
import { createPersonaStore } from '../storage/sqlite/personas.ts'
import { openPackageServices, type PackageLocations, type PackageTask } from './packages.ts'

// Runs in a process of its own: see process/run-in-child.ts.
serveTask(({ place, task }: PackageTask) =>
  task.action === 'import' || task.action === 'restore' ? write(place, task) : read(place, task),
)

async function read({ database }: PackageLocations, task: PackageWriterTask): Promise<unknown> {
  const db = openReader(database)
  try {
    return await performTask(createPersonaArchive(db), task)
  } finally {
    db.close()
  }
}

async function write(place: PackageLocations, task: PersonaWriteTask): Promise<unknown> {
  const db = await openDatabase(place.database)
  try {
    const store = createPersonaStore(db)
    const get = async (owner: string, id: string) => requireOwn(await store.find(id), owner, id)
    const services = await openPackageServices({
      ...place,
      db,
      personas: { get },
      defaultModel: () => (task.action === 'import' ? task.defaultModel : undefined),
      now: () => task.now,
    })
    if (task.action === 'import') return await services.packages.import(task.owner, task.path, task.request)
    const { personaId, userId } = task.scope
    return await services.backups.restore(await get(userId, personaId), task.backupId)
  } finally {
    db.close()
  }
}
