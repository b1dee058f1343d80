import { type PackageWriterTask, type PersonaWriteTask, performTask, requireOwn } from '../personas/personas.ts'
import { serveTask } from '../process/process.ts'
import { openStorage } from '../storage/storage.ts'
import { openPackageServices, type PackagePlace, type PackageTask } from './packages.ts'

// Runs in a child process: see process/run-in-child.ts.
serveTask(({ place, task }: PackageTask) =>
  task.action === 'import' || task.action === 'restore' || task.action === 'forget'
    ? write(place, task)
    : read(place, task),
)

async function read(place: PackagePlace, task: PackageWriterTask): Promise<unknown> {
  const storage = await openStorage(place.storage, { readOnly: true })
  try {
    return await performTask(storage.packages, task)
  } finally {
    await storage.close()
  }
}

async function write({ storage: settings, scratch }: PackagePlace, task: PersonaWriteTask): Promise<unknown> {
  const storage = await openStorage(settings, { bulk: true })
  try {
    const get = async (owner: string, id: string) => requireOwn(await storage.personas.find(id), owner, id)
    const { packages, backups } = await openPackageServices({
      storage,
      scratch,
      personas: { get },
      defaultModel: () => (task.action === 'import' ? task.defaultModel : undefined),
      now: () => task.now,
    })
    if (task.action === 'import') return await packages.import(task.owner, task.path, task.request)
    const { personaId, userId } = task.scope
    if (task.action === 'forget') return await backups.rewrite(task.scope, task.what, task.backupIds)
    return await backups.restore(await get(userId, personaId), task.backupId)
  } finally {
    await storage.close()
  }
}
