import * as assert from 'uvu/assert'
import { termsOf } from '../../../src/personas/memory/ranking-terms.ts'
import { sketchOf, valuesOf } from '../../../src/storage/shared/vector-bytes.ts'
import type { Database } from '../../../src/storage/sqlite/connection.ts'

/** Asserts that the table, the full-text index and the vectors say the same of every memory there is, and of no other. */
export function assertAgreeing(db: Database): void {
  assert.is(db.pragma('integrity_check', { simple: true }), 'ok')
  assert.equal(db.pragma('foreign_key_check'), [])
  // Compares every posting with the texts that it was made from.
  db.exec("INSERT INTO memory_text (memory_text, rank) VALUES ('integrity-check', 1)")
  const numbers = (table: string, column = 'memory_id') =>
    db.prepare<[], number>(`SELECT ${column} FROM ${table} ORDER BY 1`).pluck().all()
  const all = numbers('memory')
  assert.equal(numbers('memory_terms'), all)
  assert.equal(numbers('memory_text_docsize', 'id'), all)
  assert.equal(numbers('memory_sketch'), numbers('memory_vector'))
  const texts = db.prepare<[], { content: string; terms: string }>(
    'SELECT content, terms FROM memory JOIN memory_terms USING (memory_id)',
  )
  for (const { content, terms } of texts.all()) assert.is(terms, termsOf(content).join(' '))
  const vectors = db.prepare<[], { vector: Buffer; bits: Buffer }>(
    'SELECT vector, bits FROM memory_vector JOIN memory_sketch USING (memory_id, space_id)',
  )
  for (const { vector, bits } of vectors.all()) assert.equal(bits, sketchOf(valuesOf(vector)))
  const wrong = db.prepare(
    `SELECT scope_id FROM memory_scope AS scope WHERE memories <> (SELECT count(*) FROM memory WHERE scope_id = scope.scope_id)
       OR length <> (SELECT coalesce(sum(length(terms)), 0) FROM memory_terms WHERE memory_id >> 24 = scope.scope_id)`,
  )
  assert.equal(wrong.all(), [])
}
