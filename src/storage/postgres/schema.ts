import { AppError } from '../../errors.ts'
import { refuseNewer } from '../schema/newer-schema.ts'
import { schemaName } from '../schema/version.ts'
import type { Database, Sql } from './sql.ts'

/** The number of the lock under which one process at a time changes the schema; any number that no other program uses. */
const lock = 4_706_883_219

/** Reads how a database's schema was made. Throws `configuration` for a server that is too old. */
export async function schemaOf(db: Sql) {
  const state = await db.row<{ version: number; there: boolean }>(
    `SELECT current_setting('server_version_num')::int AS version, to_regclass('migration') IS NOT NULL AS there`,
  )
  if (state!.version < oldest)
    throw new AppError('configuration', `PostgreSQL ${Math.floor(state!.version / 10_000)} is too old`, {
      details: ['Use PostgreSQL 15 or newer'],
    })
  const rows = state!.there
    ? await db.rows<{ name: string }>('SELECT name FROM migration ORDER BY applied_at, name')
    : []
  /** The names of its changes, the oldest first; none for a new database. */
  const applied = rows.map(({ name }) => name)
  return { applied, isPresent: applied.includes(schemaName) }
}

/** PostgreSQL 15: `bit_count` came with 14, and 15 is the oldest that the tests run. */
const oldest = 150_000

/**
 * Whether the schema is the present one. Throws `configuration` for a server that is too old, and for changes of the schema that
 * this version does not know, unless they are expected.
 */
export async function isNewest(db: Database, { expectsNewer = false } = {}): Promise<boolean> {
  const { isPresent, applied } = await schemaOf(db)
  if (!expectsNewer) refuseNewer(db.name, applied)
  return isPresent
}

/**
 * Brings the schema of any earlier build, or an empty database, to the present one, in one transaction: of processes that start
 * together, one does it and the others wait. Throws as `isNewest` does, and changes nothing then.
 */
export async function migrate(db: Database): Promise<void> {
  if (await isNewest(db)) return
  const { bringUp } = await import('./bring-up.ts')
  await db.transaction(
    async (tx) => {
      await tx.row('SELECT pg_advisory_xact_lock($1)', [lock])
      await tx.script(`CREATE TABLE IF NOT EXISTS migration (
        name text COLLATE "C" PRIMARY KEY,
        applied_at bigint NOT NULL DEFAULT (extract(epoch FROM clock_timestamp()) * 1000)::bigint
      )`)
      const { applied, isPresent } = await schemaOf(tx)
      // A newer program may have been faster.
      refuseNewer(db.name, applied)
      if (!isPresent) await bringUp(tx)
    },
    { statementTimeout: 0 },
  )
}
