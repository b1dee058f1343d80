import { ContentHash, type Fields, type PersonaSnapshot, packageContent, type Scope } from '../../personas/personas.ts'
import { yieldToEventLoop } from '../../process/process.ts'
import { snapshotIn as postgresSnapshot } from '../postgres/persona-snapshot.ts'
import { snapshotIn as sqliteSnapshot } from '../sqlite/persona-snapshot.ts'
import type { FolderSide } from './folder-rows.ts'
import type { PostgresSide } from './postgres-rows.ts'

/** Memories of one persona that were summed up. */
type OnMemories = (count: number) => void

/** The personas that stay, in the order of their ids. */
export function scopesIn({ db }: FolderSide): readonly Scope[] {
  return db
    .prepare<[], Scope>(
      `SELECT id AS personaId, user_id AS userId FROM persona WHERE substr(user_id, 1, 1) <> '~' ORDER BY id`,
    )
    .all()
}

/** The content hash of a persona in a data folder, as its package would have it. */
async function hashInFolder({ db }: FolderSide, scope: Scope, onMemories: OnMemories): Promise<string> {
  return hashOf(await sqliteSnapshot(db, scope, () => {}), scope, onMemories)
}

/** The same in PostgreSQL. */
async function hashInPostgres({ tx, vectors }: PostgresSide, scope: Scope, onMemories: OnMemories) {
  return hashOf(await postgresSnapshot(tx, vectors, scope), scope, onMemories)
}

/**
 * Makes the server look up the rows of a page by their keys, against its statistics: a transfer may just have filled
 * these tables.
 */
export async function readByKeys({ tx }: PostgresSide): Promise<void> {
  await tx.script('SET LOCAL enable_sort = on; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off')
}

/** Whether a persona is the same on both sides, by its content hash. */
export async function isSamePersona(
  folder: FolderSide,
  postgres: PostgresSide,
  scope: Scope,
  onMemories: OnMemories,
): Promise<boolean> {
  // One waits for the server while the other one computes.
  const [one, other] = await Promise.all([
    hashInFolder(folder, scope, onMemories),
    hashInPostgres(postgres, scope, onMemories),
  ])
  return one === other
}

async function hashOf(snapshot: PersonaSnapshot | undefined, { personaId }: Scope, onMemories: OnMemories) {
  if (!snapshot) throw new Error(`The persona ${personaId} is not there`)
  const content = packageContent(snapshot, { exportedAt: 0, producer: '', embeddings: true })
  const hash = new ContentHash()
  for await (const batch of content.log) for (const record of batch) hash.record({ ...record } as Fields)
  for await (const batch of content.memories) {
    for (const memory of batch) hash.memory(memory)
    onMemories(batch.length)
    await yieldToEventLoop()
  }
  return hash.digest(content)
}
