import { AppError } from '../../errors.ts'
import { schemaOf } from './schema.ts'
import type { Database } from './sql.ts'
import { vectorColumn } from './vectors-column.ts'

interface Facts {
  readonly version: string
  readonly read_only: boolean
  readonly may_create: boolean
  /** Null where the extension is not in this database, and where the server has none of it. */
  readonly vector: string | null
  readonly vector_there: string | null
}

/**
 * Describes a database in one line: its server, the extension `vector`, and the schema. Throws `configuration` where
 * the role lacks rights or the server takes no writes, with every problem.
 */
export async function checkDatabase(db: Database): Promise<string> {
  const [facts, column, schema, refused] = await Promise.all([
    db.row<Facts>(`SELECT current_setting('server_version') AS version,
      current_setting('transaction_read_only') = 'on' AS read_only,
      coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS may_create,
      (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS vector,
      (SELECT default_version FROM pg_available_extensions WHERE name = 'vector') AS vector_there`),
    vectorColumn(db),
    schemaOf(db),
    db.rows<{ name: string }>(`SELECT relname AS name FROM pg_class
      WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
        AND NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
          AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))
      ORDER BY relname`),
  ])
  const { version, read_only, may_create, vector, vector_there } = facts!
  const problems = [
    ...(read_only ? ['The server takes no writes: it is a standby, or read-only'] : []),
    ...(may_create ? [] : ['The role may not create tables: GRANT CREATE ON SCHEMA public TO it']),
    ...(refused.length === 0 ? [] : [`The role may not read and write ${refused.map(({ name }) => name).join(', ')}`]),
  ]
  if (problems.length > 0)
    throw new AppError('configuration', `The database ${db.name} cannot be used`, { details: problems })
  const parts = [
    `PostgreSQL ${version.split(' ')[0]}`,
    column === 'vector' ? `pgvector ${vector ?? ''}`.trimEnd() : withoutPgvector(vector, vector_there),
    schema.isPresent ? 'its schema is the newest' : 'its schema is brought up at the next start',
  ]
  return `${db.name}: ${parts.join(', ')}`
}

function withoutPgvector(installed: string | null, offered: string | null): string {
  const isThere = installed !== null || offered !== null
  const remedy = isThere ? ' (a backup that is restored into an empty database with the extension vector uses it)' : ''
  return `without pgvector, so that searches compute more here${remedy}`
}
