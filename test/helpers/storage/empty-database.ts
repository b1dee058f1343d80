/**
 * Puts an empty database of the newest schema into new data folders: making the schema would be most of the time that opening
 * an installation takes. It is made once for each test process; `storage/sqlite` and `acceptance` prove it on an absent database.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../../src/storage/sqlite/database.ts'

const content = await migrated()

/** Makes the database file of a data folder that never had one and keeps its data in SQLite. */
export function placeEmptyDatabase(folder: string, environment: Readonly<Record<string, string>> = {}): void {
  if (['DATABASE_URL', 'DATABASE_URL_FILE', 'AICHAT_HOME'].some((name) => name in environment)) return
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // A mark beside the database or a half-made restore tells that there was one.
  const isOld = readdirSync(folder).some((name) => name.startsWith('aichat.db') || name === 'replacement.json')
  if (!isOld) writeFileSync(join(folder, 'aichat.db'), content, { mode: 0o600 })
}

async function migrated(): Promise<Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), 'aichat-empty-'))
  try {
    const db = await openDatabase(join(folder, 'aichat.db'))
    db.close()
    return readFileSync(join(folder, 'aichat.db'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
