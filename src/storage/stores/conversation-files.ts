import type { SavedMessage } from '../../personas/personas.ts'
import { among, rows, run, sql, type Work, word } from '../port/port.ts'
import type { MessageRow } from './conversation-rows.ts'

/** The most bytes of files that a user's conversations keep; the longest kept make room for new ones. */
const mostBytes = 500_000_000

/** The files of an owner's conversation that have these hashes. */
export function* filesOf(owner: string, id: string, hashes: readonly string[]): Work<ReadonlyMap<string, Uint8Array>> {
  const found = yield* rows<{ hash: string; bytes: Buffer }>(
    sql`SELECT hash, bytes FROM conversation_file
        WHERE conversation_id = (SELECT id FROM conversation WHERE id = ${id} AND user_id = ${owner})
          AND hash ${among(hashes)}`,
  )
  return new Map(found.map(({ hash, bytes }) => [hash, bytes]))
}

/** Writes the files of messages that are added, and removes the longest kept ones of the owner beyond the bound. */
export function* writeFiles(owner: string, id: string, added: readonly SavedMessage[]): Work<void> {
  for (const { files = [], timestamp } of added)
    for (const { hash, bytes } of files)
      yield* run(
        sql`INSERT INTO conversation_file (conversation_id, hash, added_at, size, bytes)
            VALUES (${id}, ${hash}, ${timestamp}, ${bytes.length}, ${bytes})
            ON CONFLICT (conversation_id, hash) DO UPDATE SET added_at = excluded.added_at`,
      )
  yield* run(
    sql`DELETE FROM conversation_file WHERE (conversation_id, hash) IN (
          SELECT conversation_id, hash FROM (
            SELECT conversation_id, hash, sum(size) OVER (ORDER BY added_at DESC, conversation_id, hash) AS total
              FROM conversation_file JOIN conversation ON conversation.id = conversation_id WHERE user_id = ${owner})
            AS kept WHERE total > ${mostBytes})`,
  )
}

/** Gives a conversation those files of another one that its messages name. */
export function* copyFiles(source: string, id: string): Work<void> {
  yield* run(
    sql`INSERT INTO conversation_file (conversation_id, hash, added_at, size, bytes)
        SELECT ${id}, hash, added_at, size, bytes FROM conversation_file WHERE conversation_id = ${source}
          AND EXISTS (SELECT 1 FROM conversation_message AS other WHERE other.conversation_id = ${id}
            AND ${word('instr', 'strpos')}(other.message, hash) > 0)`,
  )
}

/** Removes the files of a conversation that only messages which were taken away named. */
export function* removeUnnamed(id: string, taken: readonly Pick<MessageRow, 'message'>[]): Work<void> {
  if (!taken.some(({ message }) => message.includes('kept:'))) return
  yield* run(
    sql`DELETE FROM conversation_file WHERE conversation_id = ${id} AND NOT EXISTS (
          SELECT 1 FROM conversation_message AS other WHERE other.conversation_id = ${id}
            AND ${word('instr', 'strpos')}(other.message, hash) > 0)`,
  )
}
