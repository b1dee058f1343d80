/**
 * The full-text indexes. Both hold the terms that this program makes, so the tokenizer only has to part them again: for the
 * one named ascii every character beyond ASCII belongs to a term, in any version of Unicode. secure-delete takes removed terms
 * out of the index at once.
 */
export const textIndexes: Readonly<Record<string, string>> = {
  memory_text: `
    CREATE VIRTUAL TABLE memory_text USING fts5 (
      content, about, context,
      content = 'memory_indexed',
      content_rowid = 'memory_id',
      tokenize = 'ascii',
      detail = column
    )`,
  // It holds its own text, since a removed message must leave it at once.
  conversation_text: `
    CREATE VIRTUAL TABLE conversation_text USING fts5 (reader, terms, tokenize = 'ascii', prefix = '1 2 3')`,
}

/**
 * The index of memories reads their terms through a view that puts the scope's number before each: every scope has posting
 * lists of its own. A search then touches no others, whereas stepping over those of 2,000 other scopes took four milliseconds,
 * and no statement can match beyond its scope even by mistake. The dot in the middle ends the number, since no term holds one.
 */
export const indexedMemories = `
  CREATE VIEW memory_indexed AS
    SELECT memory_id, mark || replace(terms, ' ', ' ' || mark) AS content,
      mark || replace(about, ' ', ' ' || mark) AS about, replace(context, ' ', ' ' || mark) AS context
    FROM (SELECT *, (memory_id >> 24) || '·' AS mark FROM memory_terms)`

/** A removed message leaves the index with its row. */
export const textTriggers = `
  CREATE TRIGGER conversation_text_removed AFTER DELETE ON conversation_message WHEN old.text_id IS NOT NULL
    BEGIN DELETE FROM conversation_text WHERE rowid = old.text_id; END;`

/** The statement that has an index forget removed terms. */
export function securely(name: string): string {
  return `INSERT INTO ${name} (${name}, rank) VALUES ('secure-delete', 1)`
}
