import type { BackupRow, BackupStore } from '../../personas/package/backup-store.ts'
import type { Context } from './context.ts'
import { checkQuota } from './quota.ts'
import type { Sql } from './sql.ts'

/** The list of backups in PostgreSQL. Statements about a persona's backups carry its owner. */
export function createBackupStore({ db, limits }: Context): BackupStore {
  const own = 'persona_id = (SELECT id FROM persona WHERE id = $1 AND user_id = $2)'
  return {
    add: ({ userId }, row) =>
      db.transaction(async (tx) => {
        await Promise.all([insertBackup(tx, row), checkQuota(tx, limits, userId)])
      }),
    list: ({ personaId, userId }) =>
      db.rows<BackupRow>(
        `SELECT id AS backup_id, persona_id, created_at, reason, checksum, content_hash, bytes, memories, adaptations
           FROM persona_backup WHERE ${own} ORDER BY number DESC`,
        [personaId, userId],
      ),
    remove: async ({ personaId, userId }, backupId) =>
      void (await db.run(`DELETE FROM persona_backup WHERE ${own} AND id = $3`, [personaId, userId, backupId])),
    isKnown: async (backupId) =>
      (await db.row(
        `SELECT 1 FROM persona_backup JOIN persona ON persona.id = persona_id
          WHERE persona_backup.id = $1 AND user_id NOT LIKE '~%'`,
        [backupId],
      )) !== undefined,
  }
}

/** Writes a backup's row. */
export async function insertBackup(sql: Sql, row: BackupRow): Promise<void> {
  await sql.run(
    `INSERT INTO persona_backup (id, persona_id, created_at, reason, checksum, content_hash, bytes, memories, adaptations)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      row.backup_id,
      row.persona_id,
      row.created_at,
      row.reason,
      row.checksum,
      row.content_hash,
      row.bytes,
      row.memories,
      row.adaptations,
    ],
  )
}
