import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { storageIn } from '../test-storage.ts'
import type { StorageUnderTest } from './rule.ts'

/** SQLite in an empty data folder. */
export const sqlite: StorageUnderTest = {
  name: 'SQLite',
  async create(limits) {
    const folder = mkdtempSync(join(tmpdir(), 'aichat-contract-'))
    return {
      settings: { ...storageIn(folder), limits },
      remove: async () => rmSync(folder, { recursive: true, force: true }),
    }
  },
}
