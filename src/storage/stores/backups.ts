import type { BackupRow, BackupStore } from '../../personas/personas.ts'
import { row, rows, run, type StoreDatabase, sql, together, type Work } from '../port/port.ts'
import type { StoredLimits } from '../shared/limits.ts'
import { checkQuota } from './quota.ts'

/** The list of backups. Statements about a persona's backups carry its owner. */
export function createBackupStore(db: StoreDatabase, limits?: StoredLimits): BackupStore {
  return {
    async add({ userId }, backup) {
      await db.write(() => together(insertBackup(backup), checkQuota(limits, userId)))
    },
    list: async ({ personaId, userId }) =>
      db.read(
        rows<BackupRow>(
          sql`SELECT id AS backup_id, persona_id, created_at, reason, checksum, content_hash, bytes, memories, adaptations
              FROM persona_backup WHERE ${isOwn(personaId, userId)} ORDER BY number DESC`,
        ),
      ),
    async remove({ personaId, userId }, backupId) {
      await db.run(sql`DELETE FROM persona_backup WHERE ${isOwn(personaId, userId)} AND id = ${backupId}`)
    },
    async isKnown(backupId) {
      const found = await db.read(
        row(
          sql`SELECT 1 FROM persona_backup JOIN persona ON persona.id = persona_id
              WHERE persona_backup.id = ${backupId} AND user_id NOT LIKE '~%'`,
        ),
      )
      return found !== undefined
    },
  }
}

function isOwn(personaId: string, userId: string) {
  return sql`persona_id = (SELECT id FROM persona WHERE id = ${personaId} AND user_id = ${userId})`
}

/** Writes a backup's row. */
export function* insertBackup(backup: BackupRow): Work<void> {
  const { backup_id, persona_id, created_at, reason, checksum, content_hash, bytes, memories, adaptations } = backup
  yield* run(
    sql`INSERT INTO persona_backup (id, persona_id, created_at, reason, checksum, content_hash, bytes, memories, adaptations)
        VALUES (${backup_id}, ${persona_id}, ${created_at}, ${reason}, ${checksum}, ${content_hash}, ${bytes},
          ${memories}, ${adaptations})`,
  )
}

/** The rows of backups whose packages are files; a package is put in its place by `publish`, before its row is committed. */
export function backupRows(db: StoreDatabase) {
  return {
    isKnown: createBackupStore(db).isKnown,
    change: (backup: BackupRow, expected: string, publish: () => void) =>
      db.write(function* () {
        const isChanged = yield* changeBackup(backup, expected)
        if (isChanged) publish()
        return isChanged
      }),
  }
}

/** Changes the row of a backup whose package is rewritten; false where it has another checksum than `expected`. */
export function* changeBackup(backup: BackupRow, expected: string): Work<boolean> {
  const { backup_id, checksum, content_hash, bytes, memories } = backup
  const changed = yield* run(
    sql`UPDATE persona_backup SET checksum = ${checksum}, content_hash = ${content_hash}, bytes = ${bytes},
          memories = ${memories} WHERE id = ${backup_id} AND checksum = ${expected}`,
  )
  return changed > 0
}
