import { closeSync, existsSync, fsyncSync, openSync, readSync, statSync, writeSync } from 'node:fs'
import { findBackup } from '../files/backup-files.ts'
import { ofLivePersona } from '../schema/live-rows.ts'
import type { SqliteRow } from '../schema/table.ts'
import type { Database } from '../sqlite/connection.ts'
import { fileName } from './plugin-files.ts'

const partBytes = 1024 * 1024

/** The files of the personas' backups; without those that are gone. */
export function backupFileRows(db: Database, folder: string): readonly SqliteRow[] {
  return filesIn(db, folder).map(({ id, created_at, path }) => ({
    backup_id: id,
    bytes: statSync(path).size,
    written_at: created_at,
  }))
}

/** Their bytes in parts. */
export function* readBackupParts(db: Database, folder: string): Generator<SqliteRow> {
  for (const { id, path } of filesIn(db, folder)) yield* partsOf(id, path)
}

/** Writes a part behind those before it; its bytes are on the disk then. */
export function writeBackupPart(folder: string, { backup_id, number, bytes }: SqliteRow): void {
  const file = openSync(findBackup(folder, fileName(backup_id)), number === 0 ? 'wx' : 'a', 0o600)
  try {
    const whole = bytes as Uint8Array
    for (let at = 0; at < whole.length; ) at += writeSync(file, whole, at)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

function filesIn(db: Database, folder: string) {
  return db
    .prepare<[], { id: string; created_at: number }>(
      `SELECT id, created_at FROM persona_backup WHERE ${ofLivePersona} ORDER BY id`,
    )
    .all()
    .map((row) => ({ ...row, path: findBackup(folder, row.id) }))
    .filter(({ path }) => existsSync(path))
}

function* partsOf(id: string, path: string): Generator<SqliteRow> {
  const file = openSync(path, 'r')
  try {
    for (let number = 0; ; number++) {
      const bytes = Buffer.allocUnsafe(partBytes)
      let length = 0
      for (let read = -1; read !== 0 && length < partBytes; length += read)
        read = readSync(file, bytes, length, partBytes - length, null)
      if (length > 0) yield { backup_id: id, number, bytes: bytes.subarray(0, length) }
      if (length < partBytes) return
    }
  } finally {
    closeSync(file)
  }
}
