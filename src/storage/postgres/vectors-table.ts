import type { Transaction } from './sql.ts'

/**
 * How vectors are kept: as pgvector's own type in the column `vector`, or, on a server without the extension, as its binary
 * format in the column `bytes`. One of them is there, for as long as the database is.
 */
export type VectorColumn = 'vector' | 'bytes'

/**
 * Makes the extension usable where the server has it and the role may; resolves with the column for vectors. A database of
 * PGlite or of a provider may have it already.
 */
export async function takeExtension(tx: Transaction): Promise<VectorColumn> {
  const { there, offered } = (await tx.row<{ there: boolean; offered: boolean }>(
    `SELECT to_regtype('vector') IS NOT NULL AS there,
            EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'vector') AS offered`,
  ))!
  if (there) return 'vector'
  if (!offered) return 'bytes'
  await tx.script('SAVEPOINT extension')
  try {
    await tx.script('CREATE EXTENSION IF NOT EXISTS vector')
    const made = await tx.row<{ there: boolean }>(`SELECT to_regtype('vector') IS NOT NULL AS there`)
    await tx.script('RELEASE SAVEPOINT extension')
    return made!.there ? 'vector' : 'bytes'
  } catch {
    // The role may not create extensions: an operator can.
    await tx.script('ROLLBACK TO SAVEPOINT extension')
    return 'bytes'
  }
}

/**
 * The tables of vectors and of their sketches. Up to 2,032 dimensions a vector is in its
 * row, since reading it from next to the table doubles the cost of comparing it; a longer one is next to, never compressed.
 */
export async function makeVectorTable(tx: Transaction, column: VectorColumn): Promise<void> {
  await tx.script(`
    CREATE TABLE memory_vector (
      memory_id bigint PRIMARY KEY REFERENCES memory (memory_id) ON DELETE CASCADE,
      space_id int NOT NULL REFERENCES embedding_space (space_id),
      ${column} ${column === 'vector' ? 'vector' : 'bytea'} NOT NULL
    ) WITH (toast_tuple_target = 8160);
    ALTER TABLE memory_vector ALTER COLUMN ${column} SET STORAGE EXTERNAL;
    CREATE TABLE memory_sketch (
      memory_id bigint PRIMARY KEY REFERENCES memory_vector (memory_id) ON DELETE CASCADE,
      space_id int NOT NULL,
      bits varbit NOT NULL
    );
  `)
}
