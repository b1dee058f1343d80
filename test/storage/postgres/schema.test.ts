// With --all only: PostgreSQL.
import * as assert from 'uvu/assert'
import { openDatabase } from '../../../src/storage/postgres/connection.ts'
import { migrate } from '../../../src/storage/postgres/schema.ts'
import { postgresSuite } from '../../helpers/postgres/suite.ts'

const { test, server, run } = postgresSuite('the schema of PostgreSQL')

const nameOf = (url: string) => new URL(url).pathname.slice(1)

/** Every column, constraint, index, function and trigger of a database. */
async function schemaOf(url: string): Promise<readonly string[]> {
  const rows = await server().query(
    `SELECT concat_ws(' ', table_name, column_name, data_type, is_nullable, column_default, is_identity) FROM information_schema.columns
        WHERE table_schema = 'public'
     UNION ALL SELECT conrelid::regclass || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
        WHERE connamespace = 'public'::regnamespace AND contype IN ('p', 'u', 'f', 'c')
     UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
     UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
     UNION ALL SELECT proname || prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prolang <> 13`,
    nameOf(url),
  )
  return rows.map((row) => String(Object.values(row)[0])).sort()
}

test('of an earlier build gets the tables, columns, indexes and triggers that it lacks, and keeps its rows', async () => {
  const [present, earlier] = [await server().newMigrated(), await server().newMigrated()]
  await server().query(
    `DROP TABLE embedding_lease;
     ALTER TABLE audit DROP COLUMN actor_name;
     DROP INDEX account_order;
     DROP TRIGGER persona_changed ON persona;
     INSERT INTO audit (at, action, outcome) VALUES (1, 'users.create', 'ok');
     DELETE FROM migration;
     INSERT INTO migration (name) VALUES ('accounts-1'), ('memories-1');`,
    nameOf(earlier),
  )
  const db = openDatabase(earlier)
  await migrate(db)
  assert.equal(await db.rows('SELECT at, action, actor_name FROM audit'), [
    { at: 1, action: 'users.create', actor_name: null },
  ])
  await db.close()
  assert.equal(await schemaOf(earlier), await schemaOf(present))
})

run()
