import type { BackupRow, BackupStore } from '../../personas/package/backup-store.ts'
import type { Database } from './connection.ts'
import type { Quota } from './quota.ts'

/** The list of backups in SQLite. Statements about a persona's backups carry its owner. */
export function createBackupStore(db: Database, quota?: Quota): BackupStore {
  const own = 'persona_id = (SELECT id FROM persona WHERE id = ? AND user_id = ?)'
  return {
    add: async ({ userId }, row) =>
      db
        .transaction(() => {
          insertBackup(db, row)
          quota?.check(userId)
        })
        .immediate(),
    list: async ({ personaId, userId }) =>
      db
        .prepare<[string, string], BackupRow>(
          `SELECT id AS backup_id, persona_id, created_at, reason, checksum, content_hash, bytes, memories, adaptations
             FROM persona_backup WHERE ${own} ORDER BY number DESC`,
        )
        .all(personaId, userId),
    remove: async ({ personaId, userId }, backupId) =>
      void db.prepare(`DELETE FROM persona_backup WHERE ${own} AND id = ?`).run(personaId, userId, backupId),
    isKnown: async (backupId) =>
      db
        .prepare(
          `SELECT 1 FROM persona_backup JOIN persona ON persona.id = persona_id
            WHERE persona_backup.id = ? AND user_id NOT LIKE '~%'`,
        )
        .get(backupId) !== undefined,
  }
}

/** Writes a backup's row; may run inside a transaction. */
export function insertBackup(db: Database, row: BackupRow): void {
  db.prepare(
    `INSERT INTO persona_backup (id, persona_id, created_at, reason, checksum, content_hash, bytes, memories, adaptations)
       VALUES (@backup_id, @persona_id, @created_at, @reason, @checksum, @content_hash, @bytes, @memories, @adaptations)`,
  ).run(row)
}

/**
 * Changes the row of a backup whose package is rewritten, and puts the package in its place by `publish` before the row is
 * committed; false where the stored row has another checksum than `expected`.
 */
export function changeBackup(db: Database, row: BackupRow, expected: string, publish: () => void): boolean {
  return db
    .transaction(() => {
      const { changes } = db
        .prepare(
          `UPDATE persona_backup SET checksum = ?, content_hash = ?, bytes = ?, memories = ? WHERE id = ? AND checksum = ?`,
        )
        .run(row.checksum, row.content_hash, row.bytes, row.memories, row.backup_id, expected)
      if (changes > 0) publish()
      return changes > 0
    })
    .immediate()
}
