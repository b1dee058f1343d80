import { AppError } from '../../errors.ts'
import { refuseNewer } from '../shared/newer-schema.ts'
import type { Migration } from './migration.ts'
import type { Database } from './sql.ts'

/** The number of the lock under which one process at a time changes the schema; any number that no other program uses. */
const lock = 4_706_883_219

/**
 * Whether the schema is at its newest version. Throws `configuration` for a server that is too old, and for changes of the
 * schema that this version does not know, unless they are expected.
 */
export async function isNewest(
  db: Database,
  migrations: readonly Migration[],
  { expectsNewer = false } = {},
): Promise<boolean> {
  const applied = await appliedTo(db)
  if (!expectsNewer) refuseNewer(db.name, applied, migrations)
  return migrations.every(({ name }) => applied.has(name))
}

/**
 * Brings the schema to its newest version, in one transaction: of processes that start together, one does it and the others
 * wait. Throws as `isNewest` does, and changes nothing then.
 */
export async function migrate(db: Database, migrations: readonly Migration[]): Promise<void> {
  if (await isNewest(db, migrations)) return
  await db.transaction(
    async (tx) => {
      await tx.row('SELECT pg_advisory_xact_lock($1)', [lock])
      await tx.script(`CREATE TABLE IF NOT EXISTS migration (
        name text COLLATE "C" PRIMARY KEY,
        applied_at bigint NOT NULL DEFAULT (extract(epoch FROM clock_timestamp()) * 1000)::bigint
      )`)
      const applied = new Set((await tx.rows<{ name: string }>('SELECT name FROM migration')).map(({ name }) => name))
      // A newer program may have been faster.
      refuseNewer(db.name, applied, migrations)
      for (const { name, up } of migrations) {
        if (applied.has(name)) continue
        await (typeof up === 'string' ? tx.script(up) : up(tx))
        await tx.run('INSERT INTO migration (name) VALUES ($1)', [name])
      }
    },
    { statementTimeout: 0 },
  )
}

/** The names of the applied migrations. Throws `configuration` for a server that is too old. */
async function appliedTo(db: Database): Promise<ReadonlySet<string>> {
  const state = await db.row<{ version: number; there: boolean }>(
    `SELECT current_setting('server_version_num')::int AS version, to_regclass('migration') IS NOT NULL AS there`,
  )
  if (state!.version < oldest)
    throw new AppError('configuration', `PostgreSQL ${Math.floor(state!.version / 10_000)} is too old`, {
      details: ['Use PostgreSQL 15 or newer'],
    })
  const rows = state!.there ? await db.rows<{ name: string }>('SELECT name FROM migration ORDER BY name') : []
  return new Set(rows.map(({ name }) => name))
}

/** PostgreSQL 15: `bit_count` came with 14, and 15 is the oldest that the tests run. */
const oldest = 150_000
