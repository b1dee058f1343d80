import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStorageOn } from '../../../src/storage/postgres/storage.ts'
import type { InProcess } from '../../helpers/postgres/pglite.ts'
import { storageIn } from '../../helpers/storage/test-storage.ts'
import type { StorageUnderTest } from './rule.ts'

/** PostgreSQL in this process, reset after each rule. Another process cannot open it: it cannot be asked about crashes. */
export function inProcessStorage(inProcess: InProcess): StorageUnderTest {
  return {
    name: 'PGlite',
    async create(limits) {
      const folder = mkdtempSync(join(tmpdir(), 'aichat-contract-'))
      return {
        settings: { ...storageIn(folder), limits },
        open: (settings, use = {}) => openStorageOn(inProcess.database(), settings, use),
        // Its one session is asked only between transactions.
        isIdle: async () => true,
        async remove() {
          await inProcess.reset()
          rmSync(folder, { recursive: true, force: true })
        },
      }
    },
  }
}
