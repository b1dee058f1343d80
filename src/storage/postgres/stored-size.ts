import type { StoredSize } from '../shared/stored-size.ts'
import type { Sql } from './sql.ts'

/** Reads sums that are kept as rows are written: a row for each user, however much is stored. The log is the server's. */
export async function storedSize(sql: Sql): Promise<StoredSize> {
  const sums = await sql.row<Omit<StoredSize, 'logBytes'>>(
    `SELECT (SELECT count(*) FROM account) AS users, (SELECT count(*) FROM persona_usage) AS personas,
       coalesce(sum(memories), 0) AS memories, coalesce(sum(bytes), 0) AS "personaBytes",
       pg_database_size(current_database()) AS "databaseBytes" FROM user_usage`,
  )
  return { ...sums!, logBytes: 0 }
}
