import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type { BackupFiles } from '../../personas/personas.ts'
import { pendingBackup, sweepPending } from '../files/backup-files.ts'
import { changeBackup } from '../stores/backups.ts'
import type { Context } from './context.ts'
import { runOn } from './driver.ts'
import type { Sql, Transaction } from './sql.ts'

/** Bytes of a part, at most: the size of one statement's data. */
const partSize = 1024 * 1024

/** Milliseconds for which a package without a row is kept: another instance may be about to write the row. */
const orphanAge = 3_600_000

/**
 * Packages of backups in PostgreSQL, in parts, so that any instance restores them. On its way in or out a package is a file in
 * `folder`, which is no part of the installation's data.
 */
export function createBackupFiles({ db }: Pick<Context, 'db'>, folder: string): BackupFiles {
  const remove = async (backupId: string) =>
    void (await db.run('DELETE FROM persona_backup_file WHERE backup_id = $1', [backupId]))
  const removeLocal = (backupId: string) => rmSync(pendingBackup(folder, backupId), { force: true })
  return {
    pending: async (backupId) => pendingBackup(folder, backupId),
    keep: (backupId) => db.transaction((tx) => store(tx, backupId, pendingBackup(folder, backupId))),
    publish: async (backupId) => removeLocal(backupId),
    async discard(backupId) {
      removeLocal(backupId)
      await remove(backupId)
    },
    async exchange(pendingId, row, expected) {
      try {
        return await db.transaction(async (tx) => {
          if (!(await runOn(tx, changeBackup(row, expected)))) return false
          await tx.run('UPDATE persona_backup_file SET bytes = $2 WHERE backup_id = $1', [row.backup_id, row.bytes])
          await tx.run('DELETE FROM persona_backup_part WHERE backup_id = $1', [row.backup_id])
          await withFile(pendingBackup(folder, pendingId), (file) => storeParts(tx, row.backup_id, file))
          return true
        })
      } finally {
        removeLocal(pendingId)
      }
    },
    async open(backupId) {
      const path = pendingBackup(folder, randomUUID())
      const close = () => rmSync(path, { force: true })
      try {
        // One transaction with a lock: an exchange between two parts would give the beginning of one package and the end of another.
        if (await db.transaction((tx) => fetch(tx, backupId, path))) return { path, close }
      } catch (reason) {
        close()
        throw reason
      }
      close()
      return undefined
    },
    remove,
    async sweep() {
      sweepPending(folder)
      await db.run(
        `DELETE FROM persona_backup_file WHERE written_at < (extract(epoch FROM now()) * 1000)::bigint - $1::bigint
           AND NOT EXISTS (SELECT 1 FROM persona_backup WHERE persona_backup.id = backup_id)`,
        [orphanAge],
      )
    },
  }
}

/** Writes a file as parts; resolves with its size. */
async function store(tx: Transaction, backupId: string, path: string): Promise<number> {
  return withFile(path, async (file) => {
    const { size } = await file.stat()
    await tx.run('INSERT INTO persona_backup_file (backup_id, bytes) VALUES ($1, $2)', [backupId, size])
    await storeParts(tx, backupId, file)
    return size
  })
}

async function withFile<R>(path: string, use: (file: FileHandle) => Promise<R>): Promise<R> {
  const file = await open(path)
  try {
    return await use(file)
  } finally {
    await file.close()
  }
}

async function storeParts(tx: Transaction, backupId: string, file: FileHandle): Promise<void> {
  let number = 0
  for await (const bytes of file.createReadStream({ highWaterMark: partSize, autoClose: false }))
    await tx.run('INSERT INTO persona_backup_part (backup_id, number, bytes) VALUES ($1, $2, $3)', [
      backupId,
      number++,
      bytes,
    ])
}

/** Writes the parts to a new file; false where some are gone. */
async function fetch(sql: Sql, backupId: string, path: string): Promise<boolean> {
  const row = await sql.row<{ bytes: number }>('SELECT bytes FROM persona_backup_file WHERE backup_id = $1 FOR SHARE', [
    backupId,
  ])
  if (!row) return false
  // Empty again where the transaction is tried again.
  const file = await open(path, 'w', 0o600)
  try {
    let left = row.bytes
    for (let number = 0; left > 0; number++) {
      const part = await sql.row<{ bytes: Buffer }>(
        'SELECT bytes FROM persona_backup_part WHERE backup_id = $1 AND number = $2',
        [backupId, number],
      )
      if (!part) return false
      await file.appendFile(part.bytes)
      left -= part.bytes.length
    }
    return true
  } finally {
    await file.close()
  }
}
