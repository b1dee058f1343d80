import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { openDatabase } from '../../../src/storage/sqlite/database.ts'
import { keepAll, makeScope, memory, revisionOf } from '../../helpers/storage/samples.ts'
import { openStorageIn } from '../../helpers/storage/test-storage.ts'
import { suite } from '../../helpers/suite.ts'

const revisions = suite('revisions')

const scope = { personaId: 'p', userId: 'ada' }

/** Runs with a data folder that holds a persona with one memory. */
async function withPersona(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'aichat-revisions-'))
  try {
    const storage = await openStorageIn(folder)
    await makeScope(storage, 'p')
    await storage.memories.add(scope, [memory('tea')], keepAll)
    await storage.close()
    await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

revisions('change with what another program writes to a memory', () =>
  withPersona(async (folder) => {
    const storage = await openStorageIn(folder)
    const db = await openDatabase(join(folder, 'aichat.db'))
    try {
      const before = await revisionOf(storage, scope)
      db.exec("UPDATE memory SET content = 'coffee'")
      assert.is.not(await revisionOf(storage, scope), before)
    } finally {
      db.close()
      await storage.close()
    }
  }),
)

revisions('of a persona that is made anew under its id are others than before', () =>
  withPersona(async (folder) => {
    const storage = await openStorageIn(folder)
    try {
      const before = await revisionOf(storage, scope)
      await storage.personas.remove('p', 'ada')
      await makeScope(storage, 'p')
      await storage.memories.add(scope, [memory('tea')], keepAll)
      assert.is.not(await revisionOf(storage, scope), before)
    } finally {
      await storage.close()
    }
  }),
)

revisions.run()
