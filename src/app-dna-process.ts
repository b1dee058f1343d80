import { serveTask } from './personas/dna/own-process.ts'
import { type PackagerTask, performTask } from './personas/dna/packager.ts'
import { openReader } from './storage/sqlite/database.ts'
import { createPersonaArchive } from './storage/sqlite/persona-archive.ts'

/** A task and where the database is that it is about. */
export interface DnaTask {
  readonly database: string
  readonly task: PackagerTask
}

// Runs in a process of its own: see personas/dna/own-process.ts.
serveTask(async ({ database, task }: DnaTask) => {
  const db = openReader(database)
  try {
    return await performTask(createPersonaArchive(db), task)
  } finally {
    db.close()
  }
})
