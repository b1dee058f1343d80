import type { Database, Transaction } from './sql.ts'
import { forgetColumn, vectorColumn } from './vectors-column.ts'
import { takeExtension } from './vectors-table.ts'

/** The most vectors that a start changes over: some seconds' work, during which no other process can write vectors. */
export const fewVectors = 20_000

/** Vectors that are moved at a time: some megabytes. */
const movedAtOnce = 2000

/** The number of the lock under which one process at a time changes over; any number that no other program uses. */
const lock = 4_706_883_220

/**
 * Changes a database that keeps vectors as bytes over to pgvector, in one transaction, where the extension is there now or can
 * be made. Other processes go on with it. Resolves with how many vectors it moved; undefined where nothing is to be done, or
 * there are more than `most`.
 */
export async function changeOverToPgvector(db: Database, most = Number.MAX_SAFE_INTEGER): Promise<number | undefined> {
  if ((await vectorColumn(db)) === 'vector') return undefined
  const moved = await db.transaction(
    async (tx) => {
      await tx.row('SELECT pg_advisory_xact_lock($1)', [lock])
      forgetColumn(db)
      if ((await vectorColumn(tx)) === 'vector' || (await takeExtension(tx)) !== 'vector') return undefined
      const counted = await tx.row<{ count: number }>(
        'SELECT count(*) AS count FROM (SELECT 1 FROM memory_vector LIMIT $1) AS few',
        [Math.min(most, Number.MAX_SAFE_INTEGER - 1) + 1],
      )
      if (counted!.count > most) return undefined
      await moveVectors(tx)
      return counted!.count
    },
    { copies: true, statementTimeout: 0 },
  )
  forgetColumn(db)
  return moved
}

/** Both columns have one binary format: the bytes copied out of one go into the other unchanged. */
async function moveVectors(tx: Transaction): Promise<void> {
  await tx.script(`
    LOCK TABLE memory_vector IN ACCESS EXCLUSIVE MODE;
    CREATE TEMP TABLE moved_vector (memory_id bigint, vector vector) ON COMMIT DROP;
    ALTER TABLE moved_vector ALTER COLUMN vector SET STORAGE EXTERNAL;`)
  for (let last = 0; ; ) {
    const slice = `FROM memory_vector WHERE memory_id > ${last} ORDER BY memory_id LIMIT ${movedAtOnce}`
    const end = await tx.row<{ last: number | null }>(
      `SELECT max(memory_id) AS last FROM (SELECT memory_id ${slice}) s`,
    )
    if (end!.last === null) break
    const chunks: Uint8Array[] = []
    for await (const chunk of tx.copyOut(`COPY (SELECT memory_id, bytes ${slice}) TO STDOUT (FORMAT binary)`))
      chunks.push(chunk)
    await tx.copyIn('COPY moved_vector FROM STDIN (FORMAT binary)', chunks)
    last = end!.last
  }
  await tx.script(`
    CREATE INDEX ON moved_vector (memory_id);
    ANALYZE moved_vector;
    CREATE FUNCTION pg_temp.moved(bigint) RETURNS vector LANGUAGE plpgsql STABLE AS
      $$ BEGIN RETURN (SELECT vector FROM moved_vector WHERE memory_id = $1); END $$;
    ALTER TABLE memory_vector ALTER COLUMN bytes TYPE vector USING pg_temp.moved(memory_id);
    ALTER TABLE memory_vector ALTER COLUMN bytes SET STORAGE EXTERNAL;
    ALTER TABLE memory_vector RENAME COLUMN bytes TO vector;
    DROP FUNCTION pg_temp.moved(bigint);`)
}
